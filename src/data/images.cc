// Folders of photographs: JPEG and PNG files of any size, as samples of one size. They are decoded
// once, or whenever they are read; then in arenas that were taken when the data set was opened,
// each large enough for the largest image.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "src/base/check.h"
#include "src/data/dataset.h"
#include "src/data/image_file.h"
#include "src/data/image_folder.h"
#include "src/data/options.h"
#include "src/data/tensor_dataset.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr size_t kMostErrors = 20;
constexpr std::string_view kFits[] = {"cover", "contain", "stretch"};
constexpr std::string_view kDecodes[] = {"ahead", "stream"};

// One file, and what is known of it.
struct ImageFile {
  std::string path;
  int32_t label = 0;
  ImageInfo info;
};

struct ImageSet {
  std::vector<ImageFile> files;
  std::vector<std::string> classes;
  std::vector<DataField> fields;  // image, and label where one is wanted
  ImageTarget target;
  int64_t scratch_bytes = 0;  // of an arena

  bool labelled() const { return fields.size() > 1; }
};

// What is wrong with files, collected by several threads.
class FileErrors {
 public:
  void Add(size_t index, const std::string& what, const std::string& help) {
    const std::scoped_lock lock(mutex_);
    errors_.push_back({index, what, help});
  }

  // Reports the first ones; false where there are none.
  bool Report(const std::vector<ImageFile>& files, const SourceMark& mark,
              Diagnostics& diagnostics) {
    std::ranges::sort(errors_, {}, &Entry::index);
    for (size_t i = 0; i < std::min(errors_.size(), kMostErrors); ++i) {
      const Entry& entry = errors_[i];
      const auto file = std::make_shared<const SourceFile>(SourceFile{files[entry.index].path, ""});
      diagnostics.Error({file, 0, 0}, entry.what, entry.help);
    }
    if (errors_.size() > kMostErrors) {
      diagnostics.Error(mark, std::to_string(errors_.size()) + " of " +
                                  std::to_string(files.size()) + " images cannot be used; the " +
                                  "first " + std::to_string(kMostErrors) + " are listed");
    }
    return !errors_.empty();
  }

 private:
  struct Entry {
    size_t index;
    std::string what, help;
  };
  std::mutex mutex_;
  std::vector<Entry> errors_;
};

// Runs `act` for one image, and notes its error.
template <class Act>
void Guard(size_t index, FileErrors& errors, Act act) {
  try {
    act();
  } catch (const ImageError& error) {
    errors.Add(index, std::string("this image ") + error.what(), error.help());
  } catch (const UserError& error) {
    errors.Add(index, error.what(), error.help());
  } catch (const std::bad_alloc&) {
    errors.Add(index, "there is not enough memory to read it", "");
  }
}

// Decodes at every Read(), in one of a few arenas; who finds none waits for it.
class ImageStream : public Dataset {
 public:
  ImageStream(ImageSet set, int arenas) : set_(std::move(set)) {
    for (int i = 0; i < arenas; ++i) {
      arenas_.push_back(std::make_unique<ScratchArena>(static_cast<size_t>(set_.scratch_bytes)));
      free_.push_back(arenas_.back().get());
    }
  }

  // Bytes of such a data set.
  static int64_t Bytes(const ImageSet& set, int arenas) {
    int64_t bytes = static_cast<int64_t>(set.files.capacity() * sizeof(ImageFile));
    for (const ImageFile& file : set.files) bytes += static_cast<int64_t>(file.path.capacity());
    return bytes + arenas * set.scratch_bytes;
  }

  int64_t size() const override { return static_cast<int64_t>(set_.files.size()); }
  const std::vector<DataField>& fields() const override { return set_.fields; }
  int64_t decoded_bytes() const override { return Bytes(set_, static_cast<int>(arenas_.size())); }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
    const ImageFile& file = set_.files[static_cast<size_t>(index)];
    const Lease lease(*this);
    try {
      LoadImage(file.path, file.info, set_.target, *lease.arena,
                {reinterpret_cast<uint8_t*>(out[0].data()), out[0].size()});
    } catch (const ImageError& error) {
      ThrowFileError(file.path, error.what(), error.help());
    }
    if (set_.labelled()) std::memcpy(out[1].data(), &file.label, sizeof(file.label));
  }

  std::span<const std::string> ClassNames(size_t index) const override {
    return index == 1 ? std::span<const std::string>(set_.classes) : std::span<const std::string>();
  }

 private:
  std::optional<FieldRange> FindRange(size_t index,
                                      std::span<const int64_t> ignored) const override {
    if (index != 1) return std::nullopt;
    RangeFinder finder(ignored);
    for (size_t i = 0; i < set_.files.size(); ++i) {
      const ImageFile& file = set_.files[i];
      if (finder.Wants(file.label)) {
        finder.Take({file.label, static_cast<int64_t>(i), file.path, {}});
      }
    }
    return finder.range();
  }

  // An arena, for as long as one image is read.
  struct Lease {
    explicit Lease(const ImageStream& stream) : owner(stream) {
      std::unique_lock lock(owner.mutex_);
      owner.returned_.wait(lock, [this] { return !owner.free_.empty(); });
      arena = owner.free_.back();
      owner.free_.pop_back();
    }
    ~Lease() {
      {
        const std::scoped_lock lock(owner.mutex_);
        owner.free_.push_back(arena);  // within its capacity
      }
      owner.returned_.notify_one();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    const ImageStream& owner;
    ScratchArena* arena = nullptr;
  };

  ImageSet set_;
  std::vector<std::unique_ptr<ScratchArena>> arenas_;
  mutable std::mutex mutex_;
  mutable std::condition_variable returned_;
  mutable std::vector<ScratchArena*> free_;
};

class ImagesOpener {
 public:
  ImagesOpener(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options), diagnostics_(diagnostics), folder_(*FindOption(options, "folder")) {}

  // Null after an error.
  std::unique_ptr<Dataset> Open() {
    const auto fit = ChoiceOption(options_, "resize", kFits, 0, diagnostics_);
    const auto decode = ChoiceOption(options_, "decode", kDecodes, 0, diagnostics_);
    const bool described = DescribeSample();
    if (!fit || !decode || !described) return nullptr;
    set_.target.fit = static_cast<ImageFit>(*fit);
    std::optional<ImageList> list = ListImages(options_, set_.labelled(), diagnostics_);
    if (!list) return nullptr;
    set_.classes = std::move(list->classes);
    for (LabelledImage& image : list->images) {
      set_.files.push_back({std::move(image.path), image.label, {}});
    }
    if (!ReadHeaders()) return nullptr;
    return *decode == 0 ? DecodeAhead() : Stream();
  }

 private:
  bool DescribeSample();
  bool ReadHeaders();
  bool Fits(int64_t bytes, const std::string& what, const std::string& help);
  std::unique_ptr<Dataset> DecodeAhead();
  std::unique_ptr<Dataset> Stream();
  void DecodeAll(int threads, HostTensor& images, FileErrors& errors) const;

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const DataOption& folder_;
  ImageSet set_;
};

// What a sample is, from the model's inputs.
bool ImagesOpener::DescribeSample() {
  const std::vector<std::string> both = {"image", "label"}, image = {"image"};
  const bool labelled = options_.fields.size() > 1;
  const DataField* wanted = WantedField(options_, labelled ? both : image, 0);
  const std::vector<int64_t> sizes = wanted ? wanted->shape.Sizes() : std::vector<int64_t>();
  const bool grey = sizes.size() == 2;
  if ((sizes.size() != 3 && !grey) || (!grey && sizes[0] != 1 && sizes[0] != 3)) {
    diagnostics_.Error(folder_.mark,
                       wanted == nullptr
                           ? "images need an input to feed"
                           : "input '" + wanted->name + "' is " + wanted->shape.ToString() +
                                 ", but an image is [channels, height, width], of 1 or 3 channels",
                       "for example `image: {type: uint8, shape: [3, 64, 64]}`");
    return false;
  }
  set_.target = {grey ? 1 : sizes[0], sizes[sizes.size() - 2], sizes.back(), ImageFit::kCover};
  set_.fields.push_back({"image", DType::kU8, wanted->shape});
  if (labelled) set_.fields.push_back({"label", DType::kI32, Shape()});
  return true;
}

// Broken files are found now, not after an hour.
bool ImagesOpener::ReadHeaders() {
  FileErrors errors;
  const int64_t limit = options_.memory_limit;
  for (size_t i = 0; i < set_.files.size(); ++i) {
    ImageFile& file = set_.files[i];
    Guard(i, errors, [&] {
      file.info = ReadImageInfo(file.path);
      const int64_t scratch = ImageScratchBytes(file.info, set_.target);
      set_.scratch_bytes = std::max(set_.scratch_bytes, scratch);
      if (scratch <= limit) return;
      throw ImageError("of " + std::to_string(file.info.header.width) + " x " +
                           std::to_string(file.info.header.height) + " pixels takes " +
                           MemoryText(scratch) + " while it is decoded, more than the " +
                           MemoryText(limit) + " that are left",
                       "raise the memory limit, or make the image smaller");
    });
  }
  return !errors.Report(set_.files, folder_.mark, diagnostics_);
}

bool ImagesOpener::Fits(int64_t bytes, const std::string& what, const std::string& help) {
  if (bytes <= options_.memory_limit) return true;
  diagnostics_.Error(folder_.mark,
                     what + " take " + MemoryText(bytes) + ", more than the " +
                         MemoryText(options_.memory_limit) + " that are left",
                     help);
  return false;
}

std::unique_ptr<Dataset> ImagesOpener::Stream() {
  const std::string what = "the buffers of " + std::to_string(set_.files.size()) + " images";
  const int64_t bytes = ImageStream::Bytes(set_, options_.readers);
  if (!Fits(bytes, what, "raise the memory limit, or make the largest image smaller")) {
    return nullptr;
  }
  try {
    return std::make_unique<ImageStream>(std::move(set_), options_.readers);
  } catch (const std::bad_alloc&) {
    diagnostics_.Error(folder_.mark, "there is not enough memory for " + what);
    return nullptr;
  }
}

// A few threads take the next image each, so that the result does not depend on them.
void ImagesOpener::DecodeAll(int threads, HostTensor& images, FileErrors& errors) const {
  std::atomic<size_t> next = 0;
  const auto bytes = static_cast<size_t>(set_.target.bytes());
  const auto work = [&](ScratchArena& arena) {
    for (size_t i = next++; i < set_.files.size(); i = next++) {
      Guard(i, errors, [&] {
        LoadImage(set_.files[i].path, set_.files[i].info, set_.target, arena,
                  images.data<uint8_t>().subspan(i * bytes, bytes));
      });
    }
  };
  std::vector<std::unique_ptr<ScratchArena>> arenas;
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) {
    arenas.push_back(std::make_unique<ScratchArena>(static_cast<size_t>(set_.scratch_bytes)));
  }
  for (int i = 1; i < threads; ++i) {
    workers.emplace_back([&work, &arena = *arenas[static_cast<size_t>(i)]] { work(arena); });
  }
  work(*arenas[0]);
}

std::unique_ptr<Dataset> ImagesOpener::DecodeAhead() {
  const auto count = static_cast<int64_t>(set_.files.size());
  std::vector<int64_t> sizes = set_.fields[0].shape.Sizes();
  sizes.insert(sizes.begin(), count);
  const std::optional<int64_t> pixels = CheckedByteSize(DType::kU8, sizes);
  const int threads = static_cast<int>(std::min<int64_t>(options_.readers, count));
  const int64_t labels = set_.labelled() ? count * 4 : 0;
  int64_t bytes = kNoLimit;
  if (pixels) bytes = *pixels + labels + threads * set_.scratch_bytes;
  const std::string what = "the decoded samples of " + std::to_string(count) + " images";
  if (!Fits(bytes, what, "`decode: stream` decodes them when they are read")) return nullptr;
  FileErrors errors;
  const std::string folder = ResolvePath(options_, folder_);
  try {
    std::vector<FieldTensor> parts;
    parts.push_back({"image", AllocateTensor(folder, DType::kU8, sizes), folder, folder_.mark});
    DecodeAll(threads, parts[0].tensor, errors);
    if (errors.Report(set_.files, folder_.mark, diagnostics_)) return nullptr;
    if (set_.labelled()) {
      HostTensor tensor = AllocateTensor(folder, DType::kI32, {count});
      for (size_t i = 0; i < set_.files.size(); ++i) {
        tensor.data<int32_t>()[i] = set_.files[i].label;
      }
      parts.push_back({"label", std::move(tensor), folder, folder_.mark, std::move(set_.classes)});
    }
    return std::make_unique<TensorDataset>(std::move(parts));
  } catch (const UserError& error) {
    diagnostics_.Error(folder_.mark, error.what(), error.help());
  } catch (const std::exception&) {  // no memory, or no thread
    diagnostics_.Error(folder_.mark, "there is not enough memory for " + what);
  }
  return nullptr;
}

std::unique_ptr<Dataset> OpenImages(const DataOptions& options, Diagnostics& diagnostics) {
  return ImagesOpener(options, diagnostics).Open();
}

constexpr DataOptionSpec kOptions[] = {
    {"folder", true,
     "a folder with a folder of images for each class; or of images, with `labels`"},
    {"labels", false,
     "a CSV file whose lines are the name of an image and its label, an integer or a name; images "
     "that it does not name are left out"},
    {"classes", false,
     "the names of the classes: the first is label 0. Default: those of the training data, sorted",
     true},
    {"resize", false,
     "how an image fits the input's [channels, height, width]: `cover` (scaled, then the centre is "
     "cut out), `contain` (scaled, with black bars) or `stretch`; default cover"},
    {"decode", false,
     "`ahead`: once, into memory; `stream`: again whenever a sample is read; default ahead"}};

}  // namespace

extern const DataFormat kImagesFormat;
constinit const DataFormat kImagesFormat = {
    "images",
    "folders of JPEG and PNG files of any size; the fields are 'image', uint8 in the shape of its "
    "input, and 'label', int32",
    kOptions, OpenImages};

}  // namespace cgrun
