// Ids are found by hashing.
#include "src/data/vocabulary.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/data/encoding.h"
#include "src/data/options.h"
#include "src/data/token_text.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

// An entry of a hash table takes so many bytes, its share of the buckets included.
constexpr int64_t kEntryBytes = 64;
constexpr int64_t kWordBytes = kEntryBytes + static_cast<int64_t>(sizeof(std::string));

// Says what is wrong with a line of a vocabulary, or returns "".
std::string FaultOf(std::string_view line) {
  if (line.find_first_not_of(kBlanks) == line.npos) return "this line holds no word";
  if (line.find('\0') != line.npos) return "a NUL byte";
  const bool one = line.find_first_of(kBlanks) == line.npos;
  return one ? "" : "a blank in a line: each line is one word";
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  ids_.reserve(words_.size());
  for (const std::string& word : words_) {
    ids_.emplace(word, kFirstWord + static_cast<int32_t>(ids_.size()));
  }
}

int32_t Vocabulary::Find(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kUnknown : found->second;
}

int64_t Vocabulary::bytes() const {
  int64_t bytes = static_cast<int64_t>(words_.size()) * kWordBytes;
  for (const std::string& word : words_) bytes += static_cast<int64_t>(word.size());
  return bytes;
}

std::shared_ptr<const Vocabulary> ReadVocabulary(const std::string& path, const MemoryLeft& left,
                                                 const SourceMark& mark, Diagnostics& diagnostics) {
  constexpr int kMostErrors = 20;
  const int errors = diagnostics.error_count();
  std::vector<std::string> words;
  try {
    const TokenText text(path, left);
    int64_t bytes = text.bytes();
    std::unordered_map<std::string_view, int> lines;
    const int64_t ends = std::ranges::count(text.text(), '\n');
    lines.reserve(static_cast<size_t>(std::min(ends, left.bytes / (2 * kWordBytes))));
    ForEachLine(text.text(), [&](const TextLine& line) {
      bytes += 2 * kWordBytes + static_cast<int64_t>(line.text.size());
      if (bytes > left.bytes) {
        ThrowFileError(path, ": its words take more than " + left.Text(),
                       left.Help("use a vocabulary of fewer words"));
      }
      // Ids are counted by lines.
      const bool skipped = line.number != static_cast<int>(words.size()) + 1;
      std::string fault = skipped ? "the line before this one is empty" : FaultOf(line.text);
      std::optional<EncodingFault> encoding;
      if (fault.empty()) encoding = FindEncodingFault(line.text);
      if (encoding) fault = "this word " + encoding->what;
      const auto [first, is_new] = lines.emplace(line.text, line.number);
      if (fault.empty() && !is_new) {
        fault = "this word stands in line " + std::to_string(first->second) + " too";
      }
      if (!fault.empty()) {
        diagnostics.Error(
            text.MarkOf(line, line.text), fault,
            encoding ? encoding->help
                     : "the word of line n has the id n + 1: id 0 is padding, 1 an unknown word");
      }
      if (skipped) return false;
      words.emplace_back(line.text);
      return diagnostics.error_count() - errors < kMostErrors;
    });
    if (words.empty()) ThrowFileError(path, "holds no words");
  } catch (const UserError& error) {
    diagnostics.Error(mark, error.what(), error.help());
  }
  if (diagnostics.error_count() > errors) return nullptr;
  return std::make_shared<const Vocabulary>(std::move(words));
}

bool WordCounter::Add(std::string_view word, int64_t limit) {
  const bool is_new = ++counts_[word] == 1;
  if (is_new) bytes_ += kEntryBytes + kWordBytes + static_cast<int64_t>(word.size());
  return bytes_ <= limit;
}

std::shared_ptr<const Vocabulary> WordCounter::Make(int64_t most) const {
  std::vector<std::pair<std::string_view, int64_t>> sorted(counts_.begin(), counts_.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  sorted.resize(static_cast<size_t>(std::min(most, words())));
  std::vector<std::string> words;
  words.reserve(sorted.size());
  for (const auto& [word, count] : sorted) words.emplace_back(word);
  return std::make_shared<const Vocabulary>(std::move(words));
}

}  // namespace cgrun
