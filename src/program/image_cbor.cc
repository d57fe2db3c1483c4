// Reads and writes images as CBOR. Items of long lists are read one by one.
#include "src/program/image_cbor.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/io/memory_room.h"
#include "src/program/image_json.h"

namespace cgrun {
namespace {

using Json = nlohmann::json;

// Reads a document but for the items of the lists above, which it leaves out.
class ImageParser final : public Json::json_sax_t {
 public:
  Json TakeDocument() { return std::move(document_); }
  ImageItems TakeItems() { return std::move(items_); }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t& value) override { return Add(Json::binary(std::move(value))); }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    Damaged(std::string("the program is damaged: ") + error.what());
  }

 private:
  struct Container {
    Json value;
    std::string key;  // of the next value of an object
  };

  // "instructions" of a list that is the value of this key; "" of others.
  std::string_view ListName() const {
    const size_t depth = open_.size();
    if (depth < 2 || !open_.back().value.is_array()) return "";
    return open_[depth - 2].key;
  }

  bool Open(Json value) {
    open_.push_back({std::move(value), ""});
    if (ListName() == "instructions") items_.instructions.emplace_back();
    return true;
  }

  bool Close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return Add(std::move(value));
  }

  bool Add(Json value) {
    const std::string_view list = open_.empty() ? "" : ListName();
    if (list == "instructions") {
      items_.instructions.back().push_back(InstructionFrom(value));
    } else if (list == "states") {
      items_.states.push_back(StateFrom(value));
    } else if (list == "constants") {
      items_.constants.push_back(ConstantFrom(value));
    } else if (open_.empty()) {
      document_ = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      open_.back().value[open_.back().key] = std::move(value);
    }
    return true;
  }

  std::vector<Container> open_;
  Json document_;
  ImageItems items_;
};

// CBOR parsers recurse: walks the items first, without recursion, and refuses what nests deeper
// than an image does. Our files have neither tags nor items of indefinite length. Returns how many
// bytes the image takes, or a document of anything else, about and at most.
int64_t CheckItems(const std::string& cbor) {
  constexpr size_t kDeepest = 32;
  // Bytes of the heap: an item of a list, which grows; a list or an object; a text.
  constexpr uint64_t kItem = 72, kNested = 96, kText = 72;
  std::vector<uint64_t> left = {1};  // items still to come, on each level
  uint64_t bytes = 0;
  size_t at = 0;
  while (!left.empty()) {
    if (left.back() == 0) {
      left.pop_back();
      continue;
    }
    --left.back();
    bytes += kItem;
    if (at >= cbor.size()) Damaged("the program ends too early");
    const unsigned head = static_cast<unsigned char>(cbor[at++]);
    const unsigned major = head >> 5, info = head & 31;
    if (info > 27 || major == 6) Damaged("the program has items of an unknown kind");
    uint64_t argument = info;
    if (info >= 24) {
      const size_t size = size_t{1} << (info - 24);
      if (cbor.size() - at < size) Damaged("the program ends too early");
      argument = 0;
      for (size_t i = 0; i < size; ++i) {
        argument = argument << 8 | static_cast<unsigned char>(cbor[at++]);
      }
    }
    const bool text = major == 2 || major == 3, nested = major == 4 || major == 5;
    if ((text || nested) && argument > cbor.size() - at) Damaged("the program ends too early");
    if (text) {
      bytes += kText + 2 * argument;
      at += argument;
    }
    if (!nested) continue;
    bytes += kNested;
    if (left.size() >= kDeepest) Damaged("the program nests too deeply");
    left.push_back(major == 5 ? 2 * argument : argument);
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace

std::vector<uint8_t> ImageToCbor(const ProgramImage& image) { return Json::to_cbor(ToJson(image)); }

ProgramImage ImageFromCbor(const std::string& cbor) {
  const std::string fault = RoomFault(CheckItems(cbor), "what the program holds");
  if (!fault.empty()) throw UserError(fault, kRoomHelp);
  try {
    ImageParser parser;
    Json::sax_parse(cbor, &parser, Json::input_format_t::cbor);
    const Json document = parser.TakeDocument();
    return ImageFrom(document, parser.TakeItems());
  } catch (const Json::exception& error) {
    Damaged(std::string("the program is damaged: ") + error.what());
  }
}

}  // namespace cgrun
