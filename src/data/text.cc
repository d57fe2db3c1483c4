// Text as sequences of bytes: each sample is `length` of them, and the ones that follow each. A
// file is read as it is, plain or compressed by gzip. To predict, the last sample is filled up with
// zeros, so that each byte has an answer.
#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/check.h"
#include "src/base/printable.h"
#include "src/data/dataset.h"
#include "src/data/options.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr DataOptionValues kLengths = {.integer = true, .least = 1, .most = int64_t{1} << 30};

bool IsWhole(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kI32 || dtype == DType::kI64;
}

class TextDataset : public Dataset {
 public:
  TextDataset(std::vector<std::byte> text, std::vector<DataField> fields, std::string file,
              const SourceMark& mark, bool fill_up)
      : text_(std::move(text)), fields_(std::move(fields)), file_(std::move(file)), mark_(mark) {
    length_ = fields_[0].shape.Elements();
    given_ = static_cast<int64_t>(text_.size());
    size_ = fill_up ? (given_ + length_ - 1) / length_ : (given_ - 1) / length_;
    if (fill_up) text_.resize(static_cast<size_t>(size_ * length_ + 1));
  }

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return static_cast<int64_t>(text_.size()); }

  std::optional<int64_t> Given(int64_t index) const override {
    return std::min(length_, given_ - index * length_);
  }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
    for (size_t field = 0; field < fields_.size(); ++field) {
      const std::byte* from = text_.data() + index * length_ + static_cast<int64_t>(field);
      if (fields_[field].dtype == DType::kI32) {
        Widen<int32_t>(from, out[field]);
      } else if (fields_[field].dtype == DType::kI64) {
        Widen<int64_t>(from, out[field]);
      } else {
        std::memcpy(out[field].data(), from, out[field].size());
      }
    }
  }

  void Visit(size_t index, IntegerVisitor& visitor) const override {
    const std::byte* from = text_.data() + index;
    for (int64_t i = 0; i < size_ * length_; ++i) {
      visitor.Visit(std::to_integer<int64_t>(from[i]), i / length_);
    }
  }

  SamplePlace PlaceOf(size_t /*index*/, int64_t sample) const override {
    return {sample, file_, mark_};
  }
  SamplePlace PlaceOfValue(size_t index, int64_t sample, int64_t value) const override;

 private:
  template <class T>
  void Widen(const std::byte* from, std::span<std::byte> to) const {
    for (int64_t i = 0; i < length_; ++i) {
      const T value = std::to_integer<T>(from[i]);
      std::memcpy(to.data() + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    }
  }

  std::vector<std::byte> text_;
  std::vector<DataField> fields_;
  std::string file_;
  SourceMark mark_;
  int64_t length_ = 1;
  int64_t given_ = 0;  // bytes of the file
  int64_t size_ = 0;
};

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The character in its line. Very long lines, and bytes that fill a sample up, have no such place.
SamplePlace TextDataset::PlaceOfValue(size_t index, int64_t sample, int64_t value) const {
  constexpr size_t kLongestLine = size_t{1} << 20;
  SamplePlace place = PlaceOf(index, sample);
  const std::string_view text(reinterpret_cast<const char*>(text_.data()),
                              static_cast<size_t>(given_));
  const size_t from = std::min(static_cast<size_t>(sample * length_) + index, text.size());
  const std::string_view of_sample = text.substr(from, static_cast<size_t>(length_));
  const size_t found = of_sample.find(static_cast<char>(value));
  if (found == of_sample.npos) return place;
  size_t at = from + found;
  const std::string_view before = text.substr(0, at);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = std::ranges::count(before, '\n') + 1;
  if (at - line_begin > kLongestLine || line > INT_MAX) return place;
  while (at > line_begin && IsContinuation(text[at])) --at;
  size_t end = at + 1;
  while (end < text.size() && IsContinuation(text[end])) ++end;
  const std::string_view character = text.substr(at, end - at);
  const auto column = at - line_begin -
                      static_cast<size_t>(std::ranges::count_if(
                          text.substr(line_begin, at - line_begin), IsContinuation));
  const size_t line_end = std::min({text.find('\n', at), text.size(), at + kLongestLine});
  const std::string_view shown = text.substr(line_begin, std::max(line_end, end) - line_begin);
  place.mark = {std::make_shared<const SourceFile>(
                    SourceFile{file_, std::string(shown), static_cast<int>(line)}),
                static_cast<int>(line), static_cast<int>(column) + 1};
  if (character != "\t" && PrintableText(character) == character) {
    place.text = QuotedText(character);
  }
  return place;
}

// "text" and "next", in the number types of their inputs where these are whole numbers, else uint8.
// A model with one input takes the text alone.
std::vector<DataField> FieldsFor(const DataOptions& options, int64_t length) {
  std::vector<std::string> names = {"text", "next"};
  if (options.fields.size() == 1) names.pop_back();
  std::vector<DataField> fields;
  for (size_t i = 0; i < names.size(); ++i) {
    const DataField* wanted = WantedField(options, names, i);
    const bool whole = wanted != nullptr && IsWhole(wanted->dtype);
    fields.push_back({names[i], whole ? wanted->dtype : DType::kU8, Shape{length}});
  }
  return fields;
}

std::unique_ptr<Dataset> OpenText(const DataOptions& options, Diagnostics& diagnostics) {
  const DataOption& file = *FindOption(options, "file");
  const auto length = IntegerOption(options, "length", kLengths, 1, diagnostics);
  if (!length) return nullptr;
  const std::string path = ResolvePath(options, file);
  try {
    std::vector<std::byte> text = ReadFile(path, options.memory_limit);
    text.shrink_to_fit();
    if (options.to_predict && text.empty()) ThrowFileError(path, "is empty");
    if (!options.to_predict && static_cast<int64_t>(text.size()) <= *length) {
      ThrowFileError(path,
                     "has " + CountText(static_cast<int64_t>(text.size()), "byte") +
                         ", but one sample takes " + std::to_string(*length + 1) +
                         ": `length` and the one that follows",
                     "a smaller `length`, or a longer text");
    }
    return std::make_unique<TextDataset>(std::move(text), FieldsFor(options, *length), path,
                                         file.mark, options.to_predict);
  } catch (const UserError& error) {
    diagnostics.Error(file.mark, error.what(), error.help());
    return nullptr;
  }
}

constexpr DataOptionSpec kOptions[] = {{"file", true, "the text, plain or compressed by gzip"},
                                       {"length", true, "bytes of a sample", kLengths}};

}  // namespace

extern const DataFormat kTextFormat;
constinit const DataFormat kTextFormat = {
    "text",
    "text as sequences of bytes, whatever its encoding: the fields are 'text', [length], and "
    "'next', the byte behind each",
    kOptions, OpenText};

}  // namespace cgrun
