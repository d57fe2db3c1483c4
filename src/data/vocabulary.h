// A vocabulary maps words to ids. It is read from a file or made from texts.
#ifndef CGRUN_DATA_VOCABULARY_H_
#define CGRUN_DATA_VOCABULARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/options.h"

namespace cgrun {

class Vocabulary {
 public:
  // Ids below kFirstWord are no words.
  static constexpr int32_t kPadding = 0, kUnknown = 1, kFirstWord = 2;

  // Different words, in the order of their ids.
  explicit Vocabulary(std::vector<std::string> words);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  // kUnknown for what is none of the words.
  int32_t Find(std::string_view word) const;
  // The word of id kFirstWord comes first.
  const std::vector<std::string>& words() const { return words_; }
  int64_t ids() const { return kFirstWord + static_cast<int64_t>(words_.size()); }
  // Returns the bytes of host memory.
  int64_t bytes() const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string_view, int32_t> ids_;
};

// The words of a file, one a line. Returns null after an error: a file that is empty or takes more
// than is left, a line that is empty or holds several words, a word that is there twice. `mark` is
// where the user names the file.
std::shared_ptr<const Vocabulary> ReadVocabulary(const std::string& path, const MemoryLeft& left,
                                                 const SourceMark& mark, Diagnostics& diagnostics);

// Counts words, and makes a vocabulary of the most frequent ones.
class WordCounter {
 public:
  // `word` lives as long as this. False once the counts and the vocabulary of all words would take
  // more than `limit` bytes.
  bool Add(std::string_view word, int64_t limit);
  int64_t words() const { return static_cast<int64_t>(counts_.size()); }
  // Returns the bytes of the counts, and of a vocabulary of all words while it is made.
  int64_t bytes() const {
    return bytes_ + words() * static_cast<int64_t>(sizeof(*counts_.begin()));
  }

  // Makes a vocabulary of at most `most` words, ordered by frequency. Words of the same frequency
  // are in the order of their bytes.
  std::shared_ptr<const Vocabulary> Make(int64_t most) const;

 private:
  std::unordered_map<std::string_view, int64_t> counts_;
  int64_t bytes_ = 0;  // of the words
};

}  // namespace cgrun

#endif  // CGRUN_DATA_VOCABULARY_H_
