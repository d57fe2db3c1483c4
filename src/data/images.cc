// Reads folders of photographs. JPEG and PNG files of any size become samples of one size, each
// with a label, or with a mask that has a label for each of its pixels. They are decoded once, or
// whenever they are read. In the second case they are decoded in arenas that were taken when the
// data set was opened, each large enough for the largest image.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "src/data/dataset.h"
#include "src/data/image_file.h"
#include "src/data/image_folder.h"
#include "src/data/image_sets.h"
#include "src/data/mask_folder.h"
#include "src/data/options.h"
#include "src/data/sample_store.h"
#include "src/data/tensor_dataset.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr size_t kMostFileErrors = 20;
constexpr std::string_view kFits[] = {"cover", "contain", "stretch"};
constexpr std::string_view kDecodes[] = {"ahead", "stream"};

// Collects, from several threads, what is wrong with files.
class FileErrors {
 public:
  // `index` is the place of the file's sample.
  void Add(size_t index, const std::string& path, const std::string& what,
           const std::string& help) {
    const std::scoped_lock lock(mutex_);
    errors_.push_back({index, path, what, help});
  }

  // Returns whether there are more than are shown.
  bool overflows() const { return errors_.size() > kMostFileErrors; }

  // Reports the first ones; false where there are none.
  bool Report(const std::string& of_files, const SourceMark& mark, Diagnostics& diagnostics) {
    std::ranges::stable_sort(errors_, {}, &Entry::index);
    for (size_t i = 0; i < std::min(errors_.size(), kMostFileErrors); ++i) {
      const Entry& entry = errors_[i];
      const auto file = std::make_shared<const SourceFile>(SourceFile{entry.path, ""});
      diagnostics.Error({file, 0, 0}, entry.what, entry.help);
    }
    if (errors_.size() > kMostFileErrors) {
      diagnostics.Error(mark, std::to_string(errors_.size()) + " of " + of_files +
                                  " cannot be used; the first " + std::to_string(kMostFileErrors) +
                                  " are listed");
    }
    return !errors_.empty();
  }

 private:
  struct Entry {
    size_t index;
    std::string path, what, help;
  };
  std::mutex mutex_;
  std::vector<Entry> errors_;
};

// Runs `act` for one file of sample `index`, an "image" or a "mask", and notes its error: false.
template <class Act>
bool Guard(size_t index, const std::string& path, const std::string& kind, FileErrors& errors,
           Act act) {
  try {
    act();
    return true;
  } catch (const ImageError& error) {
    errors.Add(index, path, "this " + kind + " " + error.what(), error.help());
  } catch (const UserError& error) {
    errors.Add(index, path, error.what(), error.help());
  } catch (const std::bad_alloc&) {
    errors.Add(index, path, "there is not enough memory to read it", "");
  }
  return false;
}

// An arena that is made anew for a file that needs a larger one.
class GrowingArena {
 public:
  // Throws std::bad_alloc.
  ScratchArena& For(int64_t bytes) {
    const auto size = static_cast<size_t>(bytes);
    if (arena_ && arena_->bytes() >= size) return *arena_;
    arena_.reset();  // the two are not to be there together
    return arena_.emplace(size + ScratchArena::kAlignment);
  }

 private:
  std::optional<ScratchArena> arena_;
};

class ImagesOpener {
 public:
  ImagesOpener(const DataOptions& options, bool train_failed, Diagnostics& diagnostics)
      : options_(options),
        train_failed_(train_failed),
        diagnostics_(diagnostics),
        folder_(*FindOption(options, "folder")) {}

  // Returns null after an error, and where the training data, of which its labels are, have failed.
  std::unique_ptr<Dataset> Open() {
    const auto fit = ChoiceOption(options_, "resize", kFits, 0, diagnostics_);
    const auto decode = ChoiceOption(options_, "decode", kDecodes, 0, diagnostics_);
    const bool described = DescribeSample();
    if (!fit || !decode || !described) return nullptr;
    set_.target.fit = static_cast<ImageFit>(*fit);
    const int errors = diagnostics_.error_count();
    if (set_.masked) {
      ListWithMasks();
    } else {
      ListWithLabels();
    }
    if (set_.samples.empty()) return nullptr;
    is_right_ = diagnostics_.error_count() == errors && !train_failed_;
    ReadHeaders();
    return *decode == 0 ? DecodeAhead() : Stream();
  }

 private:
  bool DescribeSample();
  bool SampleFits(const DataField& wanted);
  void ListWithLabels();
  void ListWithMasks();
  void ReadHeaders();
  bool ReportFiles() {
    const size_t images = set_.samples.size();
    return errors_.Report(set_.masked ? std::to_string(2 * images) + " images and masks"
                                      : std::to_string(images) + " images",
                          folder_.mark, diagnostics_);
  }
  void NoteScratch(const ImageHeader& header, int64_t bytes);
  bool Fits(int64_t bytes, const std::string& what, const std::string& help);
  std::unique_ptr<Dataset> DecodeAhead();
  std::unique_ptr<Dataset> Stream();
  void DecodeAll(int threads, std::vector<FieldSamples>& parts);
  std::optional<int64_t> DecodedBytes(const DataField& field) const;
  std::vector<FieldSamples> TakeStores(SampleRoom& room);
  int ThreadsBeside(int64_t decoded) const;
  // Returns the most bytes that so many arenas take: each keeps what its largest file has touched.
  int64_t ArenaBytes(int arenas) const {
    const auto count = std::min<std::ptrdiff_t>(arenas, std::ssize(largest_));
    return std::accumulate(largest_.begin(), largest_.begin() + count, int64_t{0});
  }

  const DataOptions& options_;
  const bool train_failed_;
  Diagnostics& diagnostics_;
  const DataOption& folder_;
  ImageSet set_;
  std::vector<int64_t> largest_;  // bytes to decode a file, of as many files as there are readers
  bool is_right_ = false;         // whether nothing is wrong with it but for its files
  FileErrors errors_;
  std::vector<bool> broken_images_, broken_masks_;  // by sample: errors_ has an error already
};

bool IsChannels(int64_t size) { return size == 1 || size == 3; }

// Suggests a shape instead of one that no image has: one with the batch, with channels last, or
// without an axis.
std::string HelpWithShape(std::span<const int64_t> sizes) {
  std::string reason;
  if (sizes.size() == 2 && IsChannels(sizes[0])) {
    const std::string size = std::to_string(sizes[1]);
    return "for example `shape: [" + std::to_string(sizes[0]) + ", " + size + ", " + size + "]`";
  }
  if (sizes.size() == 4 && (IsChannels(sizes[1]) || IsChannels(sizes[3]))) {
    reason = "the batch is no part of a shape";
    sizes = sizes.subspan(1);
  }
  if (sizes.size() != 3) return "for example `image: {type: uint8, shape: [3, 64, 64]}`";
  std::vector<int64_t> mended(sizes.begin(), sizes.end());
  if (!IsChannels(mended[0]) && IsChannels(mended[2])) {
    reason += std::string(reason.empty() ? "" : ", and ") + "channels come first";
    std::rotate(mended.begin(), mended.end() - 1, mended.end());
  }
  if (reason.empty()) return "for example `image: {type: uint8, shape: [3, 64, 64]}`";
  return reason + ": write `shape: " + Shape::Of(mended).ToString() + "`";
}

// Returns whether a sample of this input, and what even the smallest image takes to become one, fit
// into memory: where they do not, no image is to blame.
bool ImagesOpener::SampleFits(const DataField& wanted) {
  int64_t bytes = set_.target.bytes();
  if (bytes <= options_.memory_limit) bytes += ResampleBytes(1, 1, set_.target);
  if (bytes <= options_.memory_limit) return true;
  diagnostics_.Error(MarkOfField(options_, wanted.name, folder_.mark),
                     "input '" + wanted.name + "' is " + wanted.shape.ToString() +
                         ": to make one such sample takes " + MemoryText(bytes) + ", more than " +
                         MemoryLeft::Of(options_).Text(),
                     "images of any size are scaled to the input's: give it the size that the "
                     "model is to see, as `shape: [3, 224, 224]`");
  return false;
}

// Describes a sample by the model's inputs.
bool ImagesOpener::DescribeSample() {
  set_.masked = FindOption(options_, "masks") != nullptr;
  const bool labelled = options_.fields.size() > 1 && !set_.masked;
  std::vector<std::string> names = {"image"};
  if (labelled) names.emplace_back("label");
  if (set_.masked) names.emplace_back("mask");
  const DataField* wanted = WantedField(options_, names, 0);
  const std::vector<int64_t> sizes = wanted ? wanted->shape.Sizes() : std::vector<int64_t>();
  const bool lacks_axis = sizes.size() == 2 && IsChannels(sizes[0]) && !IsChannels(sizes[1]);
  const auto target = wanted == nullptr || lacks_axis ? std::nullopt : ImageTargetOf(wanted->shape);
  if (!target) {
    diagnostics_.Error(
        wanted == nullptr ? folder_.mark : MarkOfField(options_, wanted->name, folder_.mark),
        wanted == nullptr ? "images need an input to feed"
                          : "input '" + wanted->name + "' is " + wanted->shape.ToString() +
                                ", but an image is [channels, height, width], of 1 or 3 channels",
        HelpWithShape(sizes));
    return false;
  }
  set_.target = *target;
  if (!SampleFits(*wanted)) return false;
  set_.fields.push_back({"image", DType::kU8, wanted->shape});
  if (labelled) set_.fields.push_back({"label", DType::kI32, Shape()});
  if (set_.masked) {
    const DataField* mask = WantedField(options_, names, 1);
    const bool bytes = mask != nullptr && mask->dtype == DType::kU8;
    set_.fields.push_back(
        {"mask", bytes ? DType::kU8 : DType::kI32, Shape{set_.target.height, set_.target.width}});
  }
  return true;
}

void ImagesOpener::ListWithLabels() {
  ImageList list = ListImages(options_, set_.labelled(), train_failed_, diagnostics_);
  set_.classes = std::move(list.classes);
  const DataOption* labels = FindOption(options_, "labels");
  set_.label_option = labels == nullptr ? folder_ : *labels;
  set_.label_file = ResolvePath(options_, set_.label_option);
  set_.label_delimiter = list.delimiter;
  set_.notes = std::move(list.notes);
  for (LabelledImage& image : list.images) {
    set_.samples.push_back({{std::move(image.path), {}}, image.label, image.line, {}});
  }
}

void ImagesOpener::ListWithMasks() {
  for (MaskedImage& pair : ListMaskedImages(options_, diagnostics_)) {
    set_.samples.push_back({{std::move(pair.image), {}}, 0, 0, {std::move(pair.mask), {}}});
  }
}

// Broken files are found now, not after an hour. They are reported with those that decoding finds.
void ImagesOpener::ReadHeaders() {
  broken_images_.resize(set_.samples.size(), false);
  broken_masks_.resize(set_.samples.size(), false);
  for (size_t i = 0; i < set_.samples.size(); ++i) {
    ImageFile &image = set_.samples[i].image, &mask = set_.samples[i].mask;
    broken_images_[i] = !Guard(i, image.path, "image", errors_, [&] {
      image.info = ReadImageInfo(image.path);
      NoteScratch(image.info.header, ImageScratchBytes(image.info, set_.target));
    });
    if (mask.path.empty()) continue;
    broken_masks_[i] = !Guard(i, mask.path, "mask", errors_, [&] {
      mask.info = ReadImageInfo(mask.path);
      CheckMask(mask.info, broken_images_[i] ? nullptr : &image.info);
      NoteScratch(mask.info.header, MaskScratchBytes(mask.info));
    });
  }
}

// Notes what a file takes while it is decoded. ImageError where that is too much.
void ImagesOpener::NoteScratch(const ImageHeader& header, int64_t bytes) {
  CheckScratch(header, bytes, MemoryLeft::Of(options_));
  largest_.insert(std::ranges::upper_bound(largest_, bytes, std::greater()), bytes);
  if (std::ssize(largest_) > std::max(1, options_.readers)) largest_.pop_back();
  set_.scratch_bytes = largest_[0];
}

bool ImagesOpener::Fits(int64_t bytes, const std::string& what, const std::string& help) {
  if (bytes <= options_.memory_limit) return true;
  if (train_failed_) return false;  // they are not to be kept
  diagnostics_.Error(
      folder_.mark,
      what + " take " + MemoryText(bytes) + ", more than " + MemoryLeft::Of(options_).Text(), help);
  return false;
}

std::unique_ptr<Dataset> ImagesOpener::Stream() {
  if (ReportFiles() || !is_right_) return nullptr;
  const std::string what = "the buffers of " + std::to_string(set_.samples.size()) + " images";
  const int64_t bytes = ImageStream::Bytes(set_, options_.readers);
  if (!Fits(bytes, what, MemoryLeft::Of(options_).Help("make the largest image smaller"))) {
    return nullptr;
  }
  try {
    return std::make_unique<ImageStream>(std::move(set_), options_.readers);
  } catch (const std::bad_alloc&) {
    diagnostics_.Error(folder_.mark, "there is not enough memory for " + what);
    return nullptr;
  }
}

// A few threads take the next sample each, so that the result does not depend on them.
void ImagesOpener::DecodeAll(int threads, std::vector<FieldSamples>& parts) {
  std::atomic<size_t> next = 0;
  const auto of_sample = [&](size_t field, size_t i) {
    const auto bytes = static_cast<size_t>(set_.fields[field].bytes());
    return parts[field].store.Writable().subspan(i * bytes, bytes);
  };
  const auto work = [&] {
    GrowingArena arena;
    for (size_t i = next++; i < set_.samples.size(); i = next++) {
      const ImageFile &image = set_.samples[i].image, &mask = set_.samples[i].mask;
      if (!broken_images_[i]) {
        Guard(i, image.path, "image", errors_, [&] {
          const std::span<std::byte> out = of_sample(0, i);
          LoadImage(image.path, image.info, set_.target,
                    arena.For(ImageScratchBytes(image.info, set_.target)),
                    {reinterpret_cast<uint8_t*>(out.data()), out.size()});
        });
      }
      if (set_.labelled()) {
        const int32_t label = set_.samples[i].label;
        std::memcpy(of_sample(1, i).data(), &label, sizeof(label));
      }
      if (mask.path.empty() || broken_masks_[i]) continue;
      Guard(i, mask.path, "mask", errors_, [&] {
        LoadMask(mask.path, mask.info, set_.target, set_.fields[1].dtype,
                 arena.For(MaskScratchBytes(mask.info)), of_sample(1, i));
      });
    }
  };
  std::vector<std::jthread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
}

// Bytes of a field over all samples; nothing on overflow.
std::optional<int64_t> ImagesOpener::DecodedBytes(const DataField& field) const {
  std::vector<int64_t> sizes = field.shape.Sizes();
  sizes.insert(sizes.begin(), static_cast<int64_t>(set_.samples.size()));
  return CheckedByteSize(field.dtype, sizes);
}

// Takes a store for all samples of each field, in the order of the fields.
std::vector<FieldSamples> ImagesOpener::TakeStores(SampleRoom& room) {
  std::vector<FieldSamples> parts;
  const std::string count = std::to_string(set_.samples.size());
  for (const DataField& field : set_.fields) {
    const DataOption& option = field.name == "mask"    ? *FindOption(options_, "masks")
                               : field.name == "label" ? set_.label_option
                                                       : folder_;
    const std::string folder = ResolvePath(options_, option);
    const std::string what = ": the decoded samples of " + count + " images take";
    parts.push_back({field, room.Take(folder, what, DecodedBytes(field)), folder, option.mark});
  }
  return parts;
}

// The number of decoder threads: one an image at most, each with an arena that fits beside the
// samples.
int ImagesOpener::ThreadsBeside(int64_t decoded) const {
  const int64_t most = std::min<int64_t>(options_.readers, std::ssize(set_.samples));
  const int64_t left = options_.memory_limit - std::min(decoded, options_.memory_limit);
  int threads = 1;
  while (threads < most && ArenaBytes(threads + 1) <= left) ++threads;
  return threads;
}

std::unique_ptr<Dataset> ImagesOpener::DecodeAhead() {
  SampleRoom room(options_);
  int64_t decoded = 0;
  for (const DataField& field : set_.fields) {
    const auto bytes = DecodedBytes(field);
    if (!bytes || __builtin_add_overflow(decoded, *bytes, &decoded)) decoded = kNoLimit;
  }
  int64_t in_memory = set_.scratch_bytes;
  if (!room.streams() && __builtin_add_overflow(in_memory, decoded, &in_memory)) {
    in_memory = kNoLimit;
  }
  const std::string what =
      "the decoded samples of " + std::to_string(set_.samples.size()) + " images";
  const bool fits = Fits(in_memory, what, "`decode: stream` decodes them when they are read");
  if (!fits || errors_.overflows()) {
    ReportFiles();
    return nullptr;
  }
  try {
    std::vector<FieldSamples> parts = TakeStores(room);
    int64_t held = 0;
    for (const FieldSamples& part : parts) held += part.store.memory_bytes();
    const int threads = ThreadsBeside(held);
    DecodeAll(threads, parts);
    if (ReportFiles() || !is_right_) return nullptr;
    if (set_.labelled()) parts[1].classes = std::move(set_.classes);
    std::vector<std::string> notes = set_.notes;
    std::ranges::move(room.notes(), std::back_inserter(notes));
    return std::make_unique<DecodedImages>(std::move(parts), set_, std::move(notes),
                                           ImageStream::Bytes(set_, 0) + ArenaBytes(threads));
  } catch (const UserError& error) {
    diagnostics_.Error(folder_.mark, error.what(), error.help());
  } catch (const std::exception&) {  // no memory, or no thread
    diagnostics_.Error(folder_.mark, "there is not enough memory for " + what);
  }
  return nullptr;
}

std::unique_ptr<Dataset> OpenImages(const DataOptions& options, Diagnostics& diagnostics) {
  return ImagesOpener(options, /*train_failed=*/false, diagnostics).Open();
}

void CheckImages(const DataOptions& options, Diagnostics& diagnostics) {
  ImagesOpener(options, /*train_failed=*/true, diagnostics).Open();
}

constexpr DataOptionSpec kImagesOptions[] = {
    {"folder", true,
     "a folder with a folder of images for each class; or of images, with `labels` or `masks`"},
    {"labels", false,
     "a CSV file whose lines are the name of an image and its label, an integer or a name; images "
     "that it does not name are left out"},
    {"masks", false,
     "a folder with a mask for each image, of the same name, endings apart: a PNG file of one "
     "channel, grey or a palette, whose numbers are the labels of the image's pixels"},
    {"classes",
     false,
     "the names of the classes: the first is label 0. Default: those of the training data, sorted",
     {.list = true}},
    {"resize",
     false,
     "how an image fits the input's [channels, height, width]: `cover` (scaled, then the centre is "
     "cut out), `contain` (scaled, with black bars) or `stretch`; default cover",
     {.choices = kFits}},
    {"decode",
     false,
     "`ahead`: once, into memory; `stream`: again whenever a sample is read; default ahead",
     {.choices = kDecodes}}};

}  // namespace

extern const DataFormat kImagesFormat;
constinit const DataFormat kImagesFormat = {
    .name = "images",
    .doc =
        "folders of JPEG and PNG files of any size; the fields are 'image', uint8 in the shape of "
        "its input, and 'label', int32; with `masks` 'image' and 'mask', [height, width], int32, "
        "or uint8 where its input is",
    .options = kImagesOptions,
    .open = OpenImages,
    .check_files = CheckImages,
};

}  // namespace cgrun
