// Lines of text as a data set. Tokens are kept one after the other, without what fills them up.
#ifndef CGRUN_DATA_LINES_DATASET_H_
#define CGRUN_DATA_LINES_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/lines_options.h"
#include "src/data/vocabulary.h"

namespace cgrun {

// Findings hold the words under this key.
inline constexpr char kVocabularyKey[] = "vocabulary";

// These are the samples of the lines.
struct LineSamples {
  std::vector<int32_t> tokens;  // of all samples
  std::vector<int64_t> ends;    // a sample: the tokens up to its end
  std::vector<int32_t> labels;  // none without `label`

  static int64_t Bytes(int64_t samples, int64_t tokens, bool labelled) {
    const int64_t each = labelled ? sizeof(int64_t) + sizeof(int32_t) : sizeof(int64_t);
    return samples * each + tokens * static_cast<int64_t>(sizeof(int32_t));
  }
};

class LinesDataset : public Dataset {
 public:
  LinesDataset(const LinesOptions& lines, std::vector<LinesField> fields, LineSamples samples,
               std::vector<std::string> classes, std::shared_ptr<const Vocabulary> vocabulary,
               bool owns_vocabulary, std::string file, const SourceMark& mark,
               int64_t opening_bytes);

  int64_t size() const override { return static_cast<int64_t>(samples_.ends.size()); }
  const std::vector<DataField>& fields() const override { return fields_; }
  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }

  DataFindings Findings() const override {
    if (vocabulary_ == nullptr) return {};
    return {{{kVocabularyKey, vocabulary_->words()}}, {}};
  }

  int64_t decoded_bytes() const override {
    const int64_t tokens = static_cast<int64_t>(samples_.tokens.size());
    return LineSamples::Bytes(size(), tokens, !samples_.labels.empty()) +
           (owns_vocabulary_ ? vocabulary_->bytes() : 0);
  }

  int64_t opening_bytes() const override { return opening_bytes_; }

  std::span<const std::string> ClassNames(size_t index) const override {
    if (parts_[index] != LinesPart::kLabel) return {};
    return classes_;
  }

  std::optional<int64_t> Given(int64_t index) const override {
    const auto at = static_cast<size_t>(index);
    return samples_.ends[at] - (at == 0 ? 0 : samples_.ends[at - 1]);
  }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  bool AtHand(size_t /*index*/) const override { return true; }
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override;
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override;

 private:
  // The elements of one field of a sample: `first`, or, where there is none, `rest` and what fills
  // them up.
  struct Values {
    std::optional<int32_t> first;
    std::span<const int32_t> rest;
    int32_t filler = 0;
  };

  Values ValuesOf(LinesPart part, int64_t sample) const;
  std::string_view FindToken(LinesPart part, std::string_view text, int64_t value) const;
  int32_t IdOf(std::string_view token) const;
  template <class T>
  static void Write(const Values& values, std::span<std::byte> out);

  LinesOptions lines_;
  std::vector<LinesPart> parts_;  // of the fields
  std::vector<DataField> fields_;
  LineSamples samples_;
  std::vector<std::string> classes_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // of words; may be the training set's
  bool owns_vocabulary_;
  std::string file_;
  SourceMark mark_;
  int64_t opening_bytes_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_LINES_DATASET_H_
