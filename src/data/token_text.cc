// The text is read as a whole: its lines are walked through several times.
#include "src/data/token_text.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <utility>

#include "src/data/declared_length.h"
#include "src/data/encoding.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

int Characters(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return static_cast<int>(text.size()) - static_cast<int>(std::ranges::count_if(text, continues));
}

}  // namespace

// A compressed file is read twice, the first time for its size: so memory is taken once.
TokenText::TokenText(std::string path, const MemoryLeft& left) : path_(std::move(path)) {
  const int64_t size = CountBytes(path_, left.bytes);
  FileReader reader(path_);
  if (size > left.bytes) {
    ThrowFileError(path_,
                   (reader.compressed() ? "inflates to more than "
                                        : "has " + MemoryText(size) + ", more than ") +
                       left.Text(),
                   left.Help("use a file of fewer lines: all of it is read into memory"));
  }
  try {
    bytes_ = SampleStore::InMemory(size);
  } catch (const std::bad_alloc&) {
    ThrowFileError(path_, ": there is not enough memory to read it");
  }
  reader.Read(bytes_.Writable(), "its text");
  reader.ExpectEnd();
  const std::span<std::byte> bytes = bytes_.Writable();
  const auto is_there = [&](char c) { return std::ranges::count(bytes, std::byte(c)) > 0; };
  if (!is_there('\n') && is_there('\r')) {  // only this ends lines
    std::ranges::replace(bytes, std::byte('\r'), std::byte('\n'));
  }
  text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  RefuseUtf16(path_, text_);
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  if (std::ranges::count(text_, '\n') >= INT_MAX) {
    ThrowFileError(path_, "has more than 2147483647 lines");
  }
}

SourceMark TokenText::MarkOf(const TextLine& line, std::string_view part) const {
  constexpr size_t kMost = size_t{1} << 20;  // of a line that a message keeps
  const auto begin = static_cast<size_t>(part.data() - line.text.data());
  // The rest of the line is not kept.
  const std::string_view kept = line.text.substr(0, std::max(kMost, begin + part.size()));
  return {std::make_shared<const SourceFile>(SourceFile{path_, std::string(kept), line.number}),
          line.number, Characters(line.text.substr(0, begin)) + 1, std::max(1, Characters(part))};
}

}  // namespace cgrun
