// The padding of a line is written when its sample is read.
#include "src/data/lines_dataset.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "src/base/check.h"
#include "src/base/printable.h"
#include "src/data/line_parts.h"
#include "src/data/options.h"
#include "src/data/text_number.h"
#include "src/data/token_text.h"

namespace cgrun {
namespace {

constexpr int32_t kNoNext = -1;  // stands in 'next' where no token follows

// Returns whether a token is of letters that a message can show.
bool IsShown(std::string_view token) { return token != "\t" && PrintableText(token) == token; }

}  // namespace

LinesDataset::LinesDataset(const LinesOptions& lines, std::vector<LinesField> fields,
                           LineSamples samples, std::vector<std::string> classes,
                           std::shared_ptr<const Vocabulary> vocabulary, bool owns_vocabulary,
                           std::string file, const SourceMark& mark, int64_t opening_bytes)
    : lines_(lines),
      samples_(std::move(samples)),
      classes_(std::move(classes)),
      vocabulary_(std::move(vocabulary)),
      owns_vocabulary_(owns_vocabulary),
      file_(std::move(file)),
      mark_(mark),
      opening_bytes_(opening_bytes) {
  for (LinesField& field : fields) {
    parts_.push_back(field.part);
    fields_.push_back(std::move(field.field));
  }
}

void LinesDataset::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
  for (size_t i = 0; i < fields_.size(); ++i) ReadField(i, index, out[i]);
}

void LinesDataset::ReadField(size_t index, int64_t first, std::span<std::byte> out) const {
  const DType dtype = fields_[index].dtype;
  const auto bytes = static_cast<size_t>(fields_[index].bytes());
  for (; !out.empty(); out = out.subspan(bytes)) {
    const Values values = ValuesOf(parts_[index], first++);
    if (dtype == DType::kI64) Write<int64_t>(values, out.first(bytes));
    if (dtype == DType::kI32) Write<int32_t>(values, out.first(bytes));
    if (dtype == DType::kU8) Write<uint8_t>(values, out.first(bytes));
  }
}

LinesDataset::Values LinesDataset::ValuesOf(LinesPart part, int64_t sample) const {
  const auto at = static_cast<size_t>(sample);
  const auto begin = static_cast<size_t>(at == 0 ? 0 : samples_.ends[at - 1]);
  const auto count = static_cast<size_t>(samples_.ends[at]) - begin;
  const auto tokens = std::span(samples_.tokens).subspan(begin, count);
  switch (part) {
    case LinesPart::kText:
      return {{}, tokens, lines_.pad};
    case LinesPart::kLabel:
      return {samples_.labels[at], {}};
    case LinesPart::kNext:
      return {{}, tokens.subspan(std::min<size_t>(1, count)), kNoNext};
    case LinesPart::kLength:
      return {static_cast<int32_t>(count), {}};
  }
  return {};
}

template <class T>
void LinesDataset::Write(const Values& values, std::span<std::byte> out) {
  const auto put = [&](size_t i, int32_t value) {
    const T element = static_cast<T>(value);
    std::memcpy(out.data() + i * sizeof(T), &element, sizeof(T));
  };
  if (values.first) return put(0, *values.first);
  size_t i = 0;
  for (const int32_t token : values.rest) put(i++, token);
  for (; i < out.size() / sizeof(T); ++i) put(i, values.filler);
}

// In the file as it is now, which is read again; where the user names the file, where that cannot
// be, and of what fills a line up.
SamplePlace LinesDataset::PlaceOf(size_t index, int64_t sample,
                                  std::optional<int64_t> value) const {
  SamplePlace place = {sample, file_, mark_};
  const bool is_label = parts_[index] == LinesPart::kLabel;
  try {
    const TokenText text(file_, MemoryLeft{});
    ForEachLine(text.text(), [&, left = sample + lines_.header](const TextLine& line) mutable {
      if (!IsSampleLine(line.text, lines_) || left-- > 0) return true;
      const std::optional<LineParts> parts = CutLine(line.text, lines_);
      if (!parts) return false;
      if (!is_label && (!value || parts_[index] == LinesPart::kLength)) {
        place.mark = text.MarkOf(line, line.text);
        return false;
      }
      const std::string_view found =
          is_label ? parts->label : FindToken(parts_[index], parts->text, *value);
      if (found.empty()) return false;
      place.mark = text.MarkOf(line, found);
      if (value && IsShown(found) && found != std::to_string(*value)) {
        place.text = QuotedText(found);
      }
      return false;
    });
  } catch (const UserError&) {  // it is gone
  }
  return place;
}

// The first of a line's tokens with that id; "" where none has it.
std::string_view LinesDataset::FindToken(LinesPart part, std::string_view text,
                                         int64_t value) const {
  std::string_view found;
  int64_t place = 0;
  ForEachToken(text, lines_.kind, [&](std::string_view token) {
    const bool counts = part != LinesPart::kNext || place > 0;  // nothing comes before the first
    if (counts && IdOf(token) == value) found = token;
    return found.empty() && ++place < lines_.length;
  });
  return found;
}

int32_t LinesDataset::IdOf(std::string_view token) const {
  if (lines_.kind == TokenKind::kBytes) return static_cast<unsigned char>(token[0]);
  if (lines_.kind == TokenKind::kIds) return ParseInt32(token).value_or(0);
  const int32_t id = vocabulary_->Find(token);
  return id < lines_.entries ? id : Vocabulary::kUnknown;
}

}  // namespace cgrun
