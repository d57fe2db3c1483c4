// Files are named in errors, and labels where the user says them.
#include "src/data/image_sets.h"

#include <cstring>
#include <utility>

#include "src/base/check.h"
#include "src/data/csv_reader.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

// Runs `act` for one file, and names it in its error.
template <class Act>
void NameFile(const std::string& path, Act act) {
  try {
    act();
  } catch (const ImageError& error) {
    ThrowFileError(path, error.what(), error.help());
  }
}

// Returns the place of a label in a list of names and labels.
SamplePlace PlaceInList(const std::string& list, char delimiter, int line, int64_t sample) {
  return {sample, list, FindField(list, delimiter, line, 1)};
}

}  // namespace

// An arena, for as long as one image is read.
class ImageStream::Lease {
 public:
  explicit Lease(const ImageStream& stream) : owner_(stream) {
    std::unique_lock lock(owner_.mutex_);
    owner_.returned_.wait(lock, [this] { return !owner_.free_.empty(); });
    arena_ = owner_.free_.back();
    owner_.free_.pop_back();
  }
  ~Lease() {
    {
      const std::scoped_lock lock(owner_.mutex_);
      owner_.free_.push_back(arena_);  // within its capacity
    }
    owner_.returned_.notify_one();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  ScratchArena& arena() const { return *arena_; }

 private:
  const ImageStream& owner_;
  ScratchArena* arena_ = nullptr;
};

ImageStream::ImageStream(ImageSet set, int arenas) : set_(std::move(set)) {
  for (int i = 0; i < arenas; ++i) {
    arenas_.push_back(std::make_unique<ScratchArena>(static_cast<size_t>(set_.scratch_bytes)));
    arenas_.back()->Touch();
    free_.push_back(arenas_.back().get());
  }
}

int64_t ImageStream::Bytes(const ImageSet& set, int arenas) {
  int64_t bytes = static_cast<int64_t>(set.samples.capacity() * sizeof(ImageSample));
  for (const ImageSample& sample : set.samples) {
    bytes += static_cast<int64_t>(sample.image.path.capacity());
    if (set.masked) bytes += static_cast<int64_t>(sample.mask.path.capacity());
  }
  return bytes + arenas * set.scratch_bytes;
}

void ImageStream::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
  const ImageSample& sample = set_.samples[static_cast<size_t>(index)];
  const ImageFile &image = sample.image, &mask = sample.mask;
  const Lease lease(*this);
  NameFile(image.path, [&] {
    LoadImage(image.path, image.info, set_.target, lease.arena(),
              {reinterpret_cast<uint8_t*>(out[0].data()), out[0].size()});
  });
  if (set_.labelled()) std::memcpy(out[1].data(), &sample.label, sizeof(sample.label));
  if (!set_.masked) return;
  NameFile(mask.path, [&] {
    LoadMask(mask.path, mask.info, set_.target, set_.fields[1].dtype, lease.arena(), out[1]);
  });
}

std::span<const std::string> ImageStream::ClassNames(size_t index) const {
  return index == 1 ? std::span<const std::string>(set_.classes) : std::span<const std::string>();
}

void ImageStream::ReadField(size_t index, int64_t first, std::span<std::byte> out) const {
  if (!AtHand(index)) return Dataset::ReadField(index, first, out);
  for (; !out.empty(); out = out.subspan(sizeof(int32_t))) {
    const int32_t label = set_.samples[static_cast<size_t>(first++)].label;
    std::memcpy(out.data(), &label, sizeof(label));
  }
}

SamplePlace ImageStream::PlaceOf(size_t index, int64_t sample,
                                 std::optional<int64_t> /*value*/) const {
  const ImageSample& of = set_.samples[static_cast<size_t>(sample)];
  if (index == 1 && of.label_line > 0) {
    return PlaceInList(set_.label_file, set_.label_delimiter, of.label_line, sample);
  }
  const ImageFile& file = index == 1 && set_.masked ? of.mask : of.image;
  return {sample, file.path, set_.label_option.mark, /*own=*/true};
}

DecodedImages::DecodedImages(std::vector<FieldSamples> parts, const ImageSet& set,
                             std::vector<std::string> notes, int64_t scratch_bytes)
    : TensorDataset(std::move(parts), std::move(notes)), label_delimiter_(set.label_delimiter) {
  const bool listed = set.labelled() && set.samples[0].label_line > 0;
  if (set.masked) masks_.reserve(set.samples.size());
  if (listed) label_lines_.reserve(set.samples.size());
  for (const ImageSample& sample : set.samples) {
    if (set.masked) masks_.push_back(sample.mask.path);
    if (listed) label_lines_.push_back(sample.label_line);
  }
  opening_bytes_ = decoded_bytes() + scratch_bytes;
}

int64_t DecodedImages::decoded_bytes() const {
  int64_t bytes =
      TensorDataset::decoded_bytes() + static_cast<int64_t>(label_lines_.size() * sizeof(int));
  for (const std::string& path : masks_) {
    bytes += static_cast<int64_t>(sizeof(std::string) + path.capacity());
  }
  return bytes;
}

SamplePlace DecodedImages::PlaceOf(size_t index, int64_t sample,
                                   std::optional<int64_t> value) const {
  SamplePlace place = TensorDataset::PlaceOf(index, sample, value);
  const auto at = static_cast<size_t>(sample);
  if (index != 1) return place;
  if (!label_lines_.empty()) {
    return PlaceInList(place.file, label_delimiter_, label_lines_[at], sample);
  }
  place.own = true;
  if (!masks_.empty()) {
    place.file = masks_[at];
  } else {
    int32_t label = 0;
    part(1).store.Read(sample * std::ssize(std::as_bytes(std::span(&label, 1))),
                       std::as_writable_bytes(std::span(&label, 1)));
    place.file +=
        (place.file.ends_with('/') ? "" : "/") + part(1).classes[static_cast<size_t>(label)];
  }
  return place;
}

}  // namespace cgrun
