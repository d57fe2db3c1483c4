// The samples of a folder of photographs as data sets: decoded whenever they are read, or once.
#ifndef CGRUN_DATA_IMAGE_SETS_H_
#define CGRUN_DATA_IMAGE_SETS_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/image_file.h"
#include "src/data/options.h"
#include "src/data/scratch_arena.h"
#include "src/data/tensor_dataset.h"

namespace cgrun {

// One file, and what is known of it.
struct ImageFile {
  std::string path;
  ImageInfo info;
};

struct ImageSample {
  ImageFile image;
  int32_t label = 0;
  int label_line = 0;  // of the list of labels; 0 without one
  ImageFile mask;      // of a set with masks
};

struct ImageSet {
  std::vector<ImageSample> samples;
  std::vector<std::string> classes;
  std::vector<DataField> fields;  // image, and mask, or label where one is wanted
  ImageTarget target;
  bool masked = false;
  DataOption label_option;  // that says where labels come from
  std::string label_file;   // that it names
  char label_delimiter = ',';
  std::vector<std::string> notes;  // Dataset::Notes()
  int64_t scratch_bytes = 0;       // of an arena

  bool labelled() const { return fields.size() > 1 && !masked; }
};

// Decodes at every Read(), in one of a few arenas; who finds none waits for it.
class ImageStream : public Dataset {
 public:
  ImageStream(ImageSet set, int arenas);

  // Bytes of such a data set.
  static int64_t Bytes(const ImageSet& set, int arenas);

  int64_t size() const override { return static_cast<int64_t>(set_.samples.size()); }
  const std::vector<DataField>& fields() const override { return set_.fields; }
  int64_t decoded_bytes() const override { return Bytes(set_, static_cast<int>(arenas_.size())); }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  std::span<const std::string> ClassNames(size_t index) const override;
  std::vector<std::string> Notes() const override { return set_.notes; }
  // Only labels are at hand.
  bool AtHand(size_t index) const override { return index == 1 && set_.labelled(); }
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override;
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override;

 private:
  class Lease;

  ImageSet set_;
  std::vector<std::unique_ptr<ScratchArena>> arenas_;
  mutable std::mutex mutex_;
  mutable std::condition_variable returned_;
  mutable std::vector<ScratchArena*> free_;
};

// Decoded once. It knows which file each mask was, the line of each label in a list, and the folder
// of the class for other labels.
class DecodedImages : public TensorDataset {
 public:
  // `scratch_bytes`: what decoding took beside the samples.
  DecodedImages(std::vector<FieldSamples> parts, const ImageSet& set,
                std::vector<std::string> notes, int64_t scratch_bytes);

  int64_t decoded_bytes() const override;
  int64_t opening_bytes() const override { return opening_bytes_; }
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override;

 private:
  std::vector<std::string> masks_;  // paths, by sample
  std::vector<int> label_lines_;    // by sample
  const char label_delimiter_;
  int64_t opening_bytes_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_SETS_H_
