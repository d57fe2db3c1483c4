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
#include "src/data/declared_length.h"
#include "src/data/options.h"
#include "src/data/sample_store.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr DataOptionValues kLengths = {.integer = true, .least = 1, .most = int64_t{1} << 30};

bool IsWhole(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kI32 || dtype == DType::kI64;
}

class TextDataset : public Dataset {
 public:
  TextDataset(SampleStore text, std::vector<DataField> fields, std::string file,
              const SourceMark& mark, bool fill_up, std::vector<std::string> notes)
      : text_(std::move(text)),
        fields_(std::move(fields)),
        file_(std::move(file)),
        mark_(mark),
        notes_(std::move(notes)) {
    length_ = fields_[0].shape.Elements();
    given_ = text_.bytes();
    size_ = fill_up ? (given_ + length_ - 1) / length_ : (given_ - 1) / length_;
  }

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return text_.memory_bytes(); }
  int64_t streamable_bytes() const override { return decoded_bytes(); }
  bool AtHand(size_t /*index*/) const override { return true; }
  std::vector<std::string> Notes() const override { return notes_; }

  std::optional<int64_t> Given(int64_t index) const override {
    return std::min(length_, given_ - index * length_);
  }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
    for (size_t field = 0; field < fields_.size(); ++field) ReadField(field, index, out[field]);
  }

  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override {
    // Bytes are read at the end of `out`: Widen() then never overwrites one that it still needs.
    const int64_t width = SizeOf(fields_[index].dtype);
    const int64_t wanted = std::ssize(out) / width;
    const std::span<std::byte> bytes = out.last(static_cast<size_t>(wanted));
    const int64_t at = first * length_ + static_cast<int64_t>(index);
    const auto count = static_cast<size_t>(std::clamp<int64_t>(given_ - at, 0, wanted));
    text_.Read(std::min(at, given_), bytes.first(count));
    std::ranges::fill(bytes.subspan(count), std::byte{0});
    if (fields_[index].dtype == DType::kI32) Widen<int32_t>(bytes, out);
    if (fields_[index].dtype == DType::kI64) Widen<int64_t>(bytes, out);
  }

  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override;

 private:
  // The bytes at the end of `to`, one after another: none is written over before it is read.
  template <class T>
  static void Widen(std::span<const std::byte> from, std::span<std::byte> to) {
    for (size_t i = 0; i < from.size(); ++i) {
      const T value = std::to_integer<T>(from[i]);
      std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
    }
  }
  std::string TextOf(int64_t begin, int64_t bytes) const;

  SampleStore text_;
  std::vector<DataField> fields_;
  std::string file_;
  SourceMark mark_;
  std::vector<std::string> notes_;
  int64_t length_ = 1;
  int64_t given_ = 0;  // bytes of the file
  int64_t size_ = 0;
};

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the text of these bytes, cut at the ends of the file.
std::string TextDataset::TextOf(int64_t begin, int64_t bytes) const {
  const int64_t from = std::clamp<int64_t>(begin, 0, given_);
  std::string text(static_cast<size_t>(std::clamp<int64_t>(bytes, 0, given_ - from)), '\0');
  text_.Read(from, std::as_writable_bytes(std::span(text)));
  return text;
}

// The lines before a byte of a text, and where its own begins.
struct LinePlace {
  int64_t lines = 0, begin = 0;
};

LinePlace FindLine(const SampleStore& text, int64_t before) {
  LinePlace place;
  ForEachPiece(text, 1, [&](int64_t at, std::span<const std::byte> piece) {
    for (const std::byte byte : piece) {
      if (at >= before) return;
      ++at;
      if (byte != std::byte{'\n'}) continue;
      ++place.lines;
      place.begin = at;
    }
  });
  return place;
}

// The character in its line. Very long lines, and bytes that fill a sample up, have no such place.
SamplePlace TextDataset::PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const {
  constexpr int64_t kLongestLine = int64_t{1} << 20;
  constexpr int64_t kLongestCharacter = 8;
  SamplePlace place = {sample, file_, mark_};
  if (!value) return place;
  const int64_t from = sample * length_ + static_cast<int64_t>(index);
  const size_t found = TextOf(from, length_).find(static_cast<char>(*value));
  if (found == std::string::npos) return place;
  const LinePlace line = FindLine(text_, from + static_cast<int64_t>(found));
  const int64_t in_line = from + static_cast<int64_t>(found) - line.begin;
  if (in_line > kLongestLine || line.lines >= INT_MAX) return place;
  const std::string text = TextOf(line.begin, in_line + kLongestLine + kLongestCharacter);
  auto at = static_cast<size_t>(in_line);
  while (at > 0 && IsContinuation(text[at])) --at;
  size_t end = at + 1;
  while (end < text.size() && IsContinuation(text[end])) ++end;
  const std::string character = text.substr(at, end - at);
  const size_t column =
      at - static_cast<size_t>(std::count_if(text.begin(), text.begin() + static_cast<int64_t>(at),
                                             IsContinuation));
  const size_t line_end =
      std::min({text.find('\n', at), text.size(), at + static_cast<size_t>(kLongestLine)});
  const auto number = static_cast<int>(line.lines + 1);
  place.mark = {std::make_shared<const SourceFile>(
                    SourceFile{file_, text.substr(0, std::max(line_end, end)), number}),
                number, static_cast<int>(column) + 1};
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

// A compressed text is read twice, the first time for its size.
SampleStore ReadText(const std::string& path, SampleRoom& room) {
  const int64_t most = room.most(), bytes = CountBytes(path, most);
  FileReader reader(path);
  const bool is_cut = reader.compressed() && bytes > most;  // it was not read to its end
  const std::string what = is_cut ? ": it inflates to at least" : ": its text takes";
  SampleStore text =
      reader.compressed() ? room.Take(path, what, bytes) : room.TakeAsTheyAre(path, what, 0, bytes);
  if (!text.needs_writing()) return text;
  reader.Read(text.Writable(), "its text");
  reader.ExpectEnd();
  text.Seal();
  return text;
}

std::unique_ptr<Dataset> OpenText(const DataOptions& options, Diagnostics& diagnostics) {
  const DataOption& file = *FindOption(options, "file");
  const auto length = IntegerOption(options, "length", kLengths, 1, diagnostics);
  if (!length) return nullptr;
  const std::string path = ResolvePath(options, file);
  try {
    SampleRoom room(options);
    SampleStore text = ReadText(path, room);
    if (options.to_predict && text.bytes() == 0) ThrowFileError(path, "is empty");
    if (!options.to_predict && text.bytes() <= *length) {
      ThrowFileError(path,
                     "has " + CountText(text.bytes(), "byte") + ", but one sample takes " +
                         std::to_string(*length + 1) + ": `length` and the one that follows",
                     "a smaller `length`, or a longer text");
    }
    return std::make_unique<TextDataset>(std::move(text), FieldsFor(options, *length), path,
                                         file.mark, options.to_predict, room.notes());
  } catch (const UserError& error) {
    diagnostics.Error(file.mark, error.what(), error.help());
    return nullptr;
  }
}

constexpr DataOptionSpec kTextOptions[] = {{"file", true, "the text, plain or compressed by gzip"},
                                           {"length", true, "bytes of a sample", kLengths}};

}  // namespace

extern const DataFormat kTextFormat;
constinit const DataFormat kTextFormat = {
    "text",
    "text as sequences of bytes, whatever its encoding: the fields are 'text', [length], and "
    "'next', the byte behind each",
    kTextOptions, OpenText};

}  // namespace cgrun
