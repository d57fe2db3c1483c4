// IDX: every element type, plain and compressed, errors, bombs, damage, and MNIST itself.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "src/base/allocation_counter.h"
#include "src/base/random.h"
#include "src/data/dataset.h"
#include "src/data/field_values.h"
#include "src/io/checksum.h"
#include "tests/data/dataset_testing.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::string BigEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string Idx(int type, const std::vector<uint32_t>& sizes, std::string_view elements) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (uint32_t size : sizes) bytes += BigEndian(size, 4);
  return bytes + std::string(elements);
}

// Opens a pair of files; `labels` empty: none.
Opened Open(std::string_view images, std::string_view labels, int64_t limit = kNoLimit) {
  DatasetBuilder data("idx");
  data.File("images", images).Set("images", "images").Limit(limit);
  if (!labels.empty()) data.File("labels", labels).Set("labels", "labels");
  return data.Open();
}

template <class T>
std::string Native(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

const std::string kImages = Idx(8, {3, 2, 2}, "abcdefghijkl");
const std::string kLabels = Idx(8, {3}, "\1\2\377");

TEST(IdxTest, ReadsImagesAndLabels) {
  for (bool compressed : {false, true}) {
    const Opened opened = compressed ? Open(Gzip(kImages), Gzip(kLabels)) : Open(kImages, kLabels);
    ASSERT_EQ(opened.errors, "");
    const Dataset& dataset = *opened.dataset;
    EXPECT_EQ(dataset.size(), 3);
    EXPECT_EQ(dataset.fields(),
              (std::vector<DataField>{{"image", DType::kU8, {2, 2}}, {"label", DType::kI32, {}}}));
    EXPECT_EQ(dataset.decoded_bytes(), 12 + 12);
    EXPECT_EQ(ReadSample(dataset, 0), (std::vector<std::string>{"abcd", Native<int32_t>({1})}));
    EXPECT_EQ(ReadSample(dataset, 2), (std::vector<std::string>{"ijkl", Native<int32_t>({255})}));
  }
}

TEST(IdxTest, LabelsMayBeMissing) {
  const Opened opened = Open(kImages, "");
  ASSERT_EQ(opened.errors, "");
  ASSERT_EQ(opened.dataset->fields().size(), 1u);
  EXPECT_EQ(ReadSample(*opened.dataset, 1)[0], "efgh");
}

TEST(IdxTest, TellsTheRangeOfItsLabels) {
  const Opened opened = Open(kImages, Idx(9, {3}, "\x05\xFD\x05"));
  ASSERT_EQ(opened.errors, "");
  const std::optional<FieldRange> pixels = RangeOf(*opened.dataset, 0);  // uint8
  ASSERT_TRUE(pixels.has_value());
  EXPECT_EQ(pixels->smallest.value, 'a');
  EXPECT_EQ(pixels->largest.value, 'l');
  EXPECT_EQ(pixels->largest.sample, 2);
  const std::optional<FieldRange> range = RangeOf(*opened.dataset, 1);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->smallest.value, -3);
  EXPECT_EQ(range->smallest.sample, 1);
  EXPECT_EQ(range->largest.value, 5);
  EXPECT_EQ(range->largest.sample, 0);
  for (const FieldRange::Extreme& extreme : {range->smallest, range->largest}) {
    EXPECT_EQ(std::filesystem::path(extreme.file).filename(), "labels");
  }
}

TEST(IdxTest, ConvertsEveryElementType) {
  const auto read = [](int type, const std::string& elements, DType dtype, bool labels) {
    const std::string file = Idx(type, {2, 1}, elements);
    const Opened opened = labels ? Open(Idx(8, {2}, "12"), file) : Open(file, "");
    EXPECT_EQ(opened.errors, "");
    if (!opened.dataset) return std::string();
    const size_t field = labels ? 1 : 0;
    EXPECT_EQ(opened.dataset->fields()[field].dtype, dtype);
    return ReadSample(*opened.dataset, 0)[field] + ReadSample(*opened.dataset, 1)[field];
  };
  const auto word = [](auto value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return BigEndian(bits, sizeof(value));
  };
  for (bool labels : {false, true}) {
    EXPECT_EQ(read(0x09, "\xFF\x7F", DType::kI32, labels), Native<int32_t>({-1, 127}));
    EXPECT_EQ(read(0x0B, "\xFF\xFE\x7F\xFF", DType::kI32, labels), Native<int32_t>({-2, 32767}));
    EXPECT_EQ(read(0x0C, word(int32_t{-3}) + word(int32_t{1 << 30}), DType::kI32, labels),
              Native<int32_t>({-3, 1 << 30}));
  }
  EXPECT_EQ(read(0x08, "\x01\xFF", DType::kI32, true), Native<int32_t>({1, 255}));
  EXPECT_EQ(read(0x0D, word(-0.5f) + word(3e38f), DType::kF32, false),
            Native<float>({-0.5f, 3e38f}));
  EXPECT_EQ(read(0x0E, word(-0.5) + word(1e300), DType::kF64, false),
            Native<double>({-0.5, 1e300}));
}

// As NPY does.
TEST(IdxTest, FloatsBecomeThoseOfTheInput) {
  const auto word = [](auto value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return BigEndian(bits, sizeof(value));
  };
  const auto open = [&](int type, const std::string& elements, DType dtype) {
    return DatasetBuilder("idx")
        .File("images", Idx(type, {2, 1}, elements))
        .Set("images", "images")
        .Input("x", dtype, {1})
        .Open();
  };
  const Opened narrow = open(0x0E, word(0.1) + word(-1e300 / 1e270), DType::kF32);
  ASSERT_EQ(narrow.errors, "");
  EXPECT_EQ(narrow.dataset->fields()[0].dtype, DType::kF32);
  EXPECT_EQ(ReadSample(*narrow.dataset, 0)[0] + ReadSample(*narrow.dataset, 1)[0],
            Native<float>({0.1f, -1e30f}));
  EXPECT_EQ(narrow.dataset->decoded_bytes(), 8);
  const Opened wide = open(0x0D, word(0.1f) + word(2.0f), DType::kF64);
  ASSERT_EQ(wide.errors, "");
  EXPECT_EQ(ReadSample(*wide.dataset, 0)[0] + ReadSample(*wide.dataset, 1)[0],
            Native<double>({0.1f, 2}));
  EXPECT_EQ(open(0x0E, word(0.1) + word(1e39), DType::kF32).errors,
            "error: 'DIR/images': element 1 is 1e+39, which no f32 can hold\n"
            "help: the input's number type is f32, the file's float64\n");
  const Opened infinite = open(0x0E, word(0.1) + word(HUGE_VAL), DType::kF32);
  ASSERT_EQ(infinite.errors, "");
  EXPECT_TRUE(FindNotFinite(*infinite.dataset, 0).has_value());
  // Integers are not asked to become floats, nor floats integers.
  EXPECT_EQ(open(8, "ab", DType::kF32).dataset->fields()[0].dtype, DType::kU8);
  EXPECT_EQ(open(0x0D, word(1.0f) + word(2.0f), DType::kI32).dataset->fields()[0].dtype,
            DType::kF32);
}

TEST(IdxTest, ImagesAreNoLabels) {
  const auto open = [](Shape label) {
    return DatasetBuilder("idx")
        .File("images", kImages)
        .Set("images", "images")
        .Set("labels", "images")
        .Input("image", DType::kU8, {1, 2, 2})
        .Input("label", DType::kI32, std::move(label))
        .Open()
        .errors;
  };
  EXPECT_EQ(open({}),
            "error: 'DIR/images' holds 2 x 2 numbers a sample, and input 'label' takes one\n"
            "help: is this the file of the images? `labels` names that of the labels\n");
  EXPECT_EQ(open({2, 2}), "");  // a label a pixel
}

TEST(IdxTest, WideningInPlaceLosesNothing) {
  std::string narrow;
  for (int i = 0; i < 1000; ++i) narrow += static_cast<char>(RandomBits(1, 0, i));
  const Opened wide = Open(Idx(9, {1000}, narrow), Idx(8, {1000}, narrow));
  ASSERT_EQ(wide.errors, "");
  for (int64_t i = 0; i < 1000; ++i) {
    const char c = narrow[static_cast<size_t>(i)];
    EXPECT_EQ(ReadSample(*wide.dataset, i),
              (std::vector<std::string>{Native<int32_t>({static_cast<signed char>(c)}),
                                        Native<int32_t>({static_cast<unsigned char>(c)})}));
  }
}

TEST(IdxTest, CountsMustAgree) {
  EXPECT_EQ(Open(kImages, Idx(8, {2}, "12")).errors,
            "error: 'DIR/labels' holds 2 labels, but 'DIR/images' holds 3 images\n");
}

TEST(IdxTest, ErrorsSayWhatWasFoundAndWhatWasExpected) {
  const auto error = [](const std::string& images) { return Open(images, "").errors; };
  EXPECT_EQ(error("\x89PNG\r\n"),
            "error: 'DIR/images' is not an IDX file: it begins with '89 50 4e 47', expected 00 "
            "00, the element type and the number of dimensions\n");
  EXPECT_EQ(error(""),
            "error: 'DIR/images' is not an IDX file: it begins with '', expected 00 00, the "
            "element type and the number of dimensions\n");
  EXPECT_EQ(error(Idx(7, {3}, "abc")),
            "error: 'DIR/images' has elements of the unknown IDX type 07\n"
            "help: known: 08 uint8, 09 int8, 0b int16, 0c int32, 0d float32, 0e float64\n");
  EXPECT_EQ(error(Idx(8, {}, "")), "error: 'DIR/images' has 0 dimensions, expected 1 to 8\n");
  EXPECT_EQ(error(Idx(8, std::vector<uint32_t>(9, 1), "a")),
            "error: 'DIR/images' has 9 dimensions, expected 1 to 8\n");
  EXPECT_EQ(error(kImages.substr(0, 10)),
            "error: 'DIR/images' ends after 10 bytes, inside its header\n");
  EXPECT_EQ(error(kImages.substr(0, 20)),
            "error: 'DIR/images' declares 3 x 2 x 2 elements of uint8, 12 bytes, but has 4 after "
            "its header\n");
  EXPECT_EQ(error(kImages + "m"),
            "error: 'DIR/images' declares 3 x 2 x 2 elements of uint8, 12 bytes, but has 13 after "
            "its header\n");
  EXPECT_EQ(error(Gzip(kImages.substr(0, 20))),
            "error: 'DIR/images' declares 3 x 2 x 2 elements of uint8, 12 bytes, but has 4 after "
            "its header\n");
  EXPECT_EQ(error(Gzip(kImages + "m")),
            "error: 'DIR/images' goes on after 28 bytes, where it should end\n");
  EXPECT_EQ(error(Idx(8, {0, 28, 28}, "")),
            "error: 'DIR/images' holds no samples (0 x 28 x 28 elements of uint8)\n"
            "help: there must be one at least: look at what was saved to this file\n");
  EXPECT_EQ(Open(kImages, Idx(0x0D, {1}, "abcd")).errors,
            "error: 'DIR/labels' holds float32, but labels are integers\n");
}

TEST(IdxTest, BombsAreRefusedBeforeMemoryIsTaken) {
  const uint32_t most = 0xFFFFFFFF;
  EXPECT_EQ(Open(Idx(14, {most, most, most}, "abc"), "").errors,
            "error: 'DIR/images' declares 4294967295 x 4294967295 x 4294967295 elements of "
            "float64, more than a file can hold\n");
  EXPECT_EQ(Open(Idx(8, {60000, 28, 28}, "abc"), "").errors,
            "error: 'DIR/images' declares 60000 x 28 x 28 elements of uint8, 47040000 bytes, but "
            "has 3 after its header\n");
  const std::string packed = Gzip(Idx(8, {1000000, 28, 28}, "abc"));
  EXPECT_EQ(Open(packed, "").errors,
            "error: 'DIR/images' declares 1000000 x 28 x 28 elements of uint8, 784000000 bytes, "
            "but has at most " +
                std::to_string(packed.size() * 1032 - 16) + " after its header\n");
}

TEST(IdxTest, TheMemoryLimitHolds) {
  EXPECT_EQ(Open(kImages, kLabels, 24).errors, "");
  EXPECT_EQ(Open(kImages, kLabels, 23).errors,
            "error: 'DIR/labels': 3 elements of int32 take 12 bytes, more than the 11 bytes that "
            "are left\n"
            "help: raise the memory limit, or use fewer samples\n");
  const std::string bomb = Gzip(Idx(8, {1000, 100, 100}, std::string(10000000, '\0')));
  EXPECT_LT(bomb.size(), 20000u);
  EXPECT_EQ(Open(bomb, "", 1000000).errors,
            "error: 'DIR/images': 1000 x 100 x 100 elements of uint8 take 9.5 MiB, more than the "
            "1000000 bytes that are left\n"
            "help: raise the memory limit, or use fewer samples\n");
}

// Before the elements are read, which are none here.
TEST(IdxTest, TheCapIsNamed) {
  DatasetBuilder data("idx");
  const std::string header = Gzip(Idx(8, {1000000, 28, 28}, ""));
  data.File("images", header + std::string(800000, 'x')).Set("images", "images");
  data.Limit(64 << 20, 64 << 20);
  EXPECT_EQ(
      data.Open().errors,
      "error: 'DIR/images': 1000000 x 28 x 28 elements of uint8 take 747.7 MiB, more than the "
      "cap of 64 MiB\n"
      "help: a larger `--memory` (`memory` of `train`), or use fewer samples\n");
  data.Limit(60 << 20, 64 << 20);
  EXPECT_NE(data.Open().errors.find("more than the 60.0 MiB that are left of the cap of 64 MiB"),
            std::string::npos);
}

TEST(IdxTest, DamagedGzipIsFound) {
  const std::string packed = Gzip(kImages);
  EXPECT_EQ(Open(packed.substr(0, packed.size() - 3), "").errors,
            "error: 'DIR/images': the gzip data is cut off after " +
                std::to_string(packed.size() - 3) +
                " bytes\nhelp: the file is not whole: fetch or copy it again\n");
  std::string flipped = packed;
  flipped[flipped.size() - 7] = static_cast<char>(flipped[flipped.size() - 7] ^ 1);
  EXPECT_EQ(Open(flipped, "").errors,
            "error: 'DIR/images': the gzip data is corrupt (incorrect data check)\n"
            "help: fetch or copy the file again: `gzip -t` says of it whether it is whole\n");
}

TEST(IdxTest, OfGzipThatIsSomethingElseTheHelpSaysSo) {
  EXPECT_NE(Open(Gzip("<html>"), "").errors.find("help: its gzip data is whole so far, and of"),
            std::string::npos);
}

TEST(IdxTest, DamageNeverCrashes) {
  const std::string images = Idx(0x0B, {3, 2, 2}, std::string(24, 'x'));
  const std::string packed = Gzip(images);
  int refused = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const std::string damaged = Damage(seed % 2 ? packed : images, seed);
    refused += Open(damaged, seed % 4 < 2 ? kLabels : "", 1 << 20).dataset == nullptr;
  }
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 4000);  // elements may be anything
}

TEST(IdxTest, ReadingASampleDoesNotAllocate) {
  const Opened opened = Open(kImages, kLabels);
  std::byte image[4], label[4];
  const std::span<std::byte> out[] = {image, label};
  const int64_t before = CurrentHeapUse().allocations;
  for (int64_t i = 0; i < 3; ++i) opened.dataset->Read(i, out);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
}

TEST(MnistTest, IsReadAsItIs) {
  const char* shared = std::getenv("CGRUN_SHARED_DATA");
  const std::string folder = std::string(shared != nullptr ? shared : "") + "/mnist";
  if (shared == nullptr || !std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no MNIST: CGRUN_SHARED_DATA names no folder with a folder mnist";
  }
  DataOptions options;
  options.folder = folder;
  options.values["images"] = {"train-images-idx3-ubyte.gz", {}};
  options.values["labels"] = {"train-labels-idx1-ubyte.gz", {}};
  Diagnostics diagnostics;
  const auto dataset = OpenDataset({"idx", {}}, options, diagnostics);
  ASSERT_EQ(diagnostics.ToString(), "");
  EXPECT_EQ(dataset->size(), 60000);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{28, 28}));
  EXPECT_EQ(dataset->decoded_bytes(), 60000 * (784 + 4));
  // The mean and deviation that everyone normalises MNIST by, and the count of each digit.
  double sum = 0.0, squares = 0.0;
  std::vector<int> counts(10, 0);
  for (int64_t i = 0; i < dataset->size(); ++i) {
    const std::vector<std::string> sample = ReadSample(*dataset, i);
    for (char c : sample[0]) {
      const double pixel = static_cast<unsigned char>(c) / 255.0;
      sum += pixel;
      squares += pixel * pixel;
    }
    int32_t label;
    std::memcpy(&label, sample[1].data(), 4);
    ++counts.at(static_cast<size_t>(label));
  }
  const double pixels = 60000.0 * 784.0, mean = sum / pixels;
  EXPECT_NEAR(mean, 0.1307, 0.0001);
  EXPECT_NEAR(std::sqrt(squares / pixels - mean * mean), 0.3081, 0.0001);
  EXPECT_EQ(counts, (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
}

}  // namespace
}  // namespace cgrun
