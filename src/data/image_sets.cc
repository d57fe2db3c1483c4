// Files are named in errors, and labels where the user says them.
#include "src/data/image_sets.h"

#include <cstring>
#include <utility>

#include "src/base/check.h"
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

std::optional<FieldRange> ImageStream::FindRange(size_t index,
                                                 std::span<const int64_t> ignored) const {
  if (index != 1 || !set_.labelled()) return std::nullopt;  // masks are not read twice
  RangeFinder finder(ignored);
  for (size_t i = 0; i < set_.samples.size(); ++i) {
    const ImageSample& sample = set_.samples[i];
    if (finder.Wants(sample.label)) {
      finder.Take(
          {sample.label, static_cast<int64_t>(i), sample.image.path, set_.label_option.mark});
    }
  }
  return finder.range();
}

DecodedImages::DecodedImages(std::vector<FieldTensor> parts, const ImageSet& set)
    : TensorDataset(std::move(parts)) {
  if (!set.masked) return;
  masks_.reserve(set.samples.size());
  for (const ImageSample& sample : set.samples) masks_.push_back(sample.mask.path);
}

int64_t DecodedImages::decoded_bytes() const {
  int64_t bytes = TensorDataset::decoded_bytes();
  for (const std::string& path : masks_) {
    bytes += static_cast<int64_t>(sizeof(std::string) + path.capacity());
  }
  return bytes;
}

std::optional<FieldRange> DecodedImages::FindRange(size_t index,
                                                   std::span<const int64_t> ignored) const {
  std::optional<FieldRange> range = TensorDataset::FindRange(index, ignored);
  if (index != 1 || masks_.empty() || !range) return range;
  for (FieldRange::Extreme* extreme : {&range->smallest, &range->largest}) {
    extreme->file = masks_[static_cast<size_t>(extreme->sample)];
  }
  return range;
}

}  // namespace cgrun
