// Tests CIFAR: records of both kinds, files and folders, errors, damage, and CIFAR-10 itself.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "src/base/allocation_counter.h"
#include "src/data/dataset.h"
#include "tests/data/dataset_testing.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr size_t kPixels = 3072;

// A record with these label bytes; its first pixel is `first`, pixel j is (first + j) mod 256.
std::string Record(const std::string& labels, int first = 0) {
  std::string record = labels;
  for (size_t j = 0; j < kPixels; ++j) {
    record += static_cast<char>((static_cast<size_t>(first) + j) % 256);
  }
  return record;
}

struct Opened {
  std::unique_ptr<Dataset> dataset;
  std::string errors;
};

// Opens the options in `folder`; values of several lines are lists.
Opened Open(const TempFolder& folder, const std::map<std::string, std::string>& values,
            int64_t limit = kNoLimit) {
  DataOptions options;
  options.folder = folder.path();
  options.memory_limit = limit;
  for (const auto& [name, text] : values) {
    DataOption& option = options.values[name];
    option.value = text;
    for (size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
      option.items.push_back({text.substr(at, end - at), {}});
    }
  }
  Diagnostics diagnostics;
  Opened opened{OpenDataset({"cifar", {}}, options, diagnostics), ""};
  opened.errors = folder.Anonymous(diagnostics.ToString());
  EXPECT_EQ(opened.dataset == nullptr, diagnostics.has_errors());
  return opened;
}

struct Sample {
  std::string image = std::string(kPixels, '\xAA');
  int32_t label = -1;
};

Sample SampleOf(const Dataset& dataset, int64_t index) {
  Sample sample;
  const std::span<std::byte> out[] = {std::as_writable_bytes(std::span(sample.image)),
                                      std::as_writable_bytes(std::span(&sample.label, 1))};
  dataset.Read(index, out);
  return sample;
}

std::vector<int32_t> LabelsOf(const Dataset& dataset) {
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < dataset.size(); ++i) labels.push_back(SampleOf(dataset, i).label);
  return labels;
}

std::string ErrorsOfFile(const std::string& bytes, const std::string& classes = "10",
                         int64_t limit = kNoLimit) {
  const TempFolder folder;
  WriteBytes(folder / "x.bin", bytes);
  return Open(folder, {{"files", "x.bin"}, {"classes", classes}}, limit).errors;
}

TEST(CifarTest, ReadsImagesAndLabels) {
  const TempFolder folder;
  WriteBytes(folder / "x.bin", Record("\3", 1) + Record("\x09", 77));
  const Opened opened = Open(folder, {{"files", "x.bin"}});
  ASSERT_EQ(opened.errors, "");
  const Dataset& dataset = *opened.dataset;
  EXPECT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.fields(), (std::vector<DataField>{{"image", DType::kU8, Shape{3, 32, 32}},
                                                      {"label", DType::kI32, Shape()}}));
  EXPECT_EQ(dataset.decoded_bytes(), 2 * 3073);
  EXPECT_EQ(LabelsOf(dataset), (std::vector<int32_t>{3, 9}));
  EXPECT_EQ(SampleOf(dataset, 1).image, Record("", 77));
}

TEST(CifarTest, OfCifar100EitherLabelIsTaken) {
  const TempFolder folder;
  WriteBytes(folder / "x.bin", Record("\x13\x63", 5) + Record(std::string(1, '\0') + "\x07", 6));
  const Opened fine = Open(folder, {{"files", "x.bin"}, {"classes", "100"}});
  ASSERT_EQ(fine.errors, "");
  EXPECT_EQ(LabelsOf(*fine.dataset), (std::vector<int32_t>{99, 7}));
  EXPECT_EQ(SampleOf(*fine.dataset, 1).image, Record("", 6));
  const Opened coarse = Open(folder, {{"files", "x.bin"}, {"classes", "20"}});
  ASSERT_EQ(coarse.errors, "");
  EXPECT_EQ(LabelsOf(*coarse.dataset), (std::vector<int32_t>{19, 0}));
  EXPECT_EQ(SampleOf(*coarse.dataset, 0).image, Record("", 5));
}

TEST(CifarTest, AListOfFilesIsReadInItsOrder) {
  const TempFolder folder;
  WriteBytes(folder / "a.bin", Record("\1") + Record("\2"));
  WriteBytes(folder / "b.bin", Record("\5", 9));
  WriteBytes(folder / "c.bin", Record("\7") + Record("\6") + Record("\x08"));
  const Opened opened = Open(folder, {{"files", "c.bin\nb.bin\na.bin\n"}});
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(LabelsOf(*opened.dataset), (std::vector<int32_t>{7, 6, 8, 5, 1, 2}));
  EXPECT_EQ(SampleOf(*opened.dataset, 3).image, Record("", 9));
  EXPECT_EQ(opened.dataset->decoded_bytes(), 6 * 3073);
}

TEST(CifarTest, TheRangeOfLabelsNamesTheirFiles) {
  const TempFolder folder;
  WriteBytes(folder / "a.bin", Record("\4") + Record("\2"));
  WriteBytes(folder / "b.bin", Record("\5") + Record("\7") + Record("\7"));
  const Opened opened = Open(folder, {{"files", "a.bin\nb.bin\n"}});
  ASSERT_EQ(opened.errors, "");
  const std::optional<FieldRange> range = RangeOf(*opened.dataset, 1);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->smallest.value, 2);
  EXPECT_EQ(range->smallest.sample, 1);
  EXPECT_EQ(range->smallest.file, folder / "a.bin");
  EXPECT_EQ(range->largest.value, 7);
  EXPECT_EQ(range->largest.sample, 1);
  EXPECT_EQ(range->largest.file, folder / "b.bin");
}

TEST(CifarTest, AFolderHasTrainingAndTestFiles) {
  const TempFolder folder;
  WriteBytes(folder / "data_batch_2.bin", Record("\2"));
  WriteBytes(folder / "data_batch_1.bin", Record("\1"));
  WriteBytes(folder / "test_batch.bin", Record("\3"));
  WriteBytes(folder / "batches.meta.txt", "airplane\n");
  const Opened train = Open(folder, {{"folder", "."}});
  ASSERT_EQ(train.errors, "");
  EXPECT_EQ(LabelsOf(*train.dataset), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(Open(folder, {{"folder", "."}, {"part", "train"}}).dataset->size(), 2);
  const Opened test = Open(folder, {{"folder", "."}, {"part", "test"}});
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(LabelsOf(*test.dataset), (std::vector<int32_t>{3}));
}

TEST(CifarTest, AFolderOfCifar100) {
  const TempFolder folder;
  WriteBytes(folder / "train.bin", Record("\1\x0B") + Record("\2\x0C"));
  WriteBytes(folder / "test.bin", Record("\3\x0D"));
  const Opened train = Open(folder, {{"folder", "."}, {"classes", "100"}});
  ASSERT_EQ(train.errors, "");
  EXPECT_EQ(LabelsOf(*train.dataset), (std::vector<int32_t>{11, 12}));
  const Opened test = Open(folder, {{"folder", "."}, {"part", "test"}, {"classes", "20"}});
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(LabelsOf(*test.dataset), (std::vector<int32_t>{3}));
}

TEST(CifarTest, OptionsThatDoNotFit) {
  const TempFolder folder;
  EXPECT_EQ(Open(folder, {}).errors,
            "error: data of format 'cifar' need the option 'folder' or 'files'\n"
            "help: for example `folder: ../datasets/cifar10`\n");
  EXPECT_EQ(Open(folder, {{"folder", "."}, {"files", "a"}}).errors,
            "error: data of format 'cifar' have either 'folder' or 'files'\n"
            "help: for example `folder: ../datasets/cifar10`\n");
  EXPECT_EQ(Open(folder, {{"folder", "."}, {"part", "valid"}}).errors,
            "error: option 'part' is 'valid', but must be 'train' or 'test'\n");
  EXPECT_EQ(Open(folder, {{"files", "a"}, {"part", "test"}}).errors,
            "error: option 'part' chooses files of a folder, and there is none\n");
  EXPECT_EQ(Open(folder, {{"folder", "a\nb\n"}}).errors,
            "error: 'folder' must be one value, not a list\n");
  for (const char* classes : {"0", "11", "010", "", "ten"}) {
    EXPECT_NE(
        Open(folder, {{"folder", "."}, {"classes", classes}}).errors.find("must be 10, 20 or 100"),
        std::string::npos)
        << classes;
  }
}

TEST(CifarTest, FoldersThatHoldNothing) {
  const TempFolder folder;
  EXPECT_EQ(Open(folder, {{"folder", "."}, {"part", "test"}}).errors,
            "error: 'DIR' holds no test_batch.bin or test.bin\n"
            "help: these are the names in the archives of the binary version; `files` takes other "
            "ones\n");
  EXPECT_EQ(Open(folder, {{"folder", "no"}}).errors,
            "error: cannot read the folder 'DIR/no': No such file or directory\n");
  WriteBytes(folder / "x.bin", Record("\1"));
  EXPECT_EQ(Open(folder, {{"folder", "x.bin"}}).errors,
            "error: cannot read the folder 'DIR/x.bin': Not a directory\n");
  EXPECT_EQ(Open(folder, {{"files", "x.bin\nno.bin\n."}}).errors,
            "error: cannot open 'DIR/no.bin': No such file or directory\n"
            "help: did you mean 'DIR/x.bin'?\n");
}

TEST(CifarTest, FilesOfAWrongSize) {
  const std::string two = Record("\1") + Record("\2");
  EXPECT_EQ(ErrorsOfFile(two.substr(0, two.size() - 1)),
            "error: 'DIR/x.bin' has 6145 bytes, but CIFAR-10's records are of 3073: 3072 are left "
            "over\nhelp: it is cut off, or not the unpacked file of this format\n");
  EXPECT_EQ(ErrorsOfFile(two + "1"),
            "error: 'DIR/x.bin' has 6147 bytes, but CIFAR-10's records are of 3073: 1 are left "
            "over\nhelp: it is cut off, or not the unpacked file of this format\n");
  EXPECT_EQ(ErrorsOfFile(""), "error: 'DIR/x.bin' is empty\n");
  EXPECT_EQ(ErrorsOfFile(Record("\1\2")),
            "error: 'DIR/x.bin' has 3074 bytes, but CIFAR-10's records are of 3073: 1 are left "
            "over\nhelp: its size is that of CIFAR-100's records: `classes: 100` or 20\n");
  EXPECT_EQ(ErrorsOfFile(two, "20"),
            "error: 'DIR/x.bin' has 6146 bytes, but CIFAR-100's records are of 3074: 3072 are "
            "left over\nhelp: its size is that of CIFAR-10's records: `classes: 10`\n");
}

TEST(CifarTest, EveryErrorOfAListIsReported) {
  const TempFolder folder;
  WriteBytes(folder / "good.bin", Record("\1"));
  WriteBytes(folder / "short.bin", "abc");
  WriteBytes(folder / "label.bin", Record("\x0A"));
  const std::string errors = Open(folder, {{"files", "short.bin\ngood.bin\nlabel.bin\n"}}).errors;
  EXPECT_NE(errors.find("'DIR/short.bin' has 3 bytes"), std::string::npos) << errors;
  EXPECT_NE(errors.find("'DIR/label.bin': sample 0 has the label 10"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("good.bin"), std::string::npos) << errors;
}

TEST(CifarTest, LabelsOutOfRange) {
  EXPECT_EQ(ErrorsOfFile(Record("\x09") + Record("\x0A")),
            "error: 'DIR/x.bin': sample 1 has the label 10, but CIFAR-10's are 0 to 9\n"
            "help: this is no file of CIFAR-10, or it is damaged\n");
  EXPECT_EQ(ErrorsOfFile(Record("\xFF")),
            "error: 'DIR/x.bin': sample 0 has the label 255, but CIFAR-10's are 0 to 9\n"
            "help: this is no file of CIFAR-10, or it is damaged\n");
  for (const char* classes : {"20", "100"}) {  // both labels, whichever is used
    EXPECT_NE(ErrorsOfFile(Record("\x14\x01"), classes)
                  .find("sample 0 has the coarse label 20, but CIFAR-100's are 0 to 19"),
              std::string::npos);
    EXPECT_NE(ErrorsOfFile(Record("\x01\x64"), classes)
                  .find("sample 0 has the fine label 100, but CIFAR-100's are 0 to 99"),
              std::string::npos);
  }
}

TEST(CifarTest, TheMemoryLimitHoldsOverAllFiles) {
  const std::string three = Record("\1") + Record("\2") + Record("\3");
  EXPECT_EQ(ErrorsOfFile(three, "10", 3 * 3073), "");
  EXPECT_EQ(
      ErrorsOfFile(three, "10", 3 * 3073 - 1),
      "error: 'DIR/x.bin': its 3 samples take 9219 bytes, more than the 9218 bytes that are left\n"
      "help: raise the memory limit, or use fewer samples\n");
  const TempFolder folder;
  WriteBytes(folder / "a.bin", three);
  WriteBytes(folder / "b.bin", three);
  EXPECT_EQ(Open(folder, {{"files", "a.bin\nb.bin\n"}}, 6 * 3073).errors, "");
  EXPECT_EQ(
      Open(folder, {{"files", "a.bin\nb.bin\n"}}, 5 * 3073).errors,
      "error: 'DIR/b.bin': its 3 samples take 9219 bytes, more than the 6146 bytes that are left\n"
      "help: raise the memory limit, or use fewer samples\n");
}

// A sparse file of 4 TiB: refused by its size, before memory is taken.
TEST(CifarTest, AHugeFileTakesNoMemory) {
  const TempFolder folder;
  WriteBytes(folder / "x.bin", "");
  std::error_code error;
  std::filesystem::resize_file(folder / "x.bin", uintmax_t{3073} << 30, error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  const std::string errors = Open(folder, {{"files", "x.bin"}}, int64_t{1} << 30).errors;
  EXPECT_NE(errors.find("its 1073741824 samples take 3.0 TiB, more than the"), std::string::npos)
      << errors;
}

TEST(CifarTest, DamagedFilesAreReadOrRefused) {
  const TempFolder folder;
  const std::string good = Record("\1\2") + Record("\x13\x63", 3);
  int refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    WriteBytes(folder / "x.bin", Damage(good, seed));
    const Opened opened = Open(folder, {{"files", "x.bin"}, {"classes", "100"}});
    if (opened.dataset == nullptr) {
      ++refused;
      continue;
    }
    for (int32_t label : LabelsOf(*opened.dataset)) {
      EXPECT_GE(label, 0);
      EXPECT_LT(label, 100);
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 300);  // pixels may be anything
}

TEST(CifarTest, ReadingASampleDoesNotAllocate) {
  const TempFolder folder;
  WriteBytes(folder / "a.bin", Record("\1"));
  WriteBytes(folder / "b.bin", Record("\2"));
  const Opened opened = Open(folder, {{"files", "a.bin\nb.bin\n"}});
  Sample sample;
  const std::span<std::byte> out[] = {std::as_writable_bytes(std::span(sample.image)),
                                      std::as_writable_bytes(std::span(&sample.label, 1))};
  const int64_t before = CurrentHeapUse().allocations;
  for (int64_t i = 0; i < 2; ++i) opened.dataset->Read(i, out);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(sample.label, 2);
}

TEST(CifarSampleTest, IsReadAsItIs) {
  const char* shared = std::getenv("CGRUN_SHARED_DATA");
  const std::string folder = std::string(shared != nullptr ? shared : "") + "/cifar10-sample";
  if (shared == nullptr || !std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no CIFAR: CGRUN_SHARED_DATA names no folder with a folder cifar10-sample";
  }
  DataOptions options;
  options.folder = folder;
  options.values["folder"] = {".", {}};
  Diagnostics diagnostics;
  const auto train = OpenDataset({"cifar", {}}, options, diagnostics);
  options.values["part"] = {"test", {}};
  const auto test = OpenDataset({"cifar", {}}, options, diagnostics);
  ASSERT_EQ(diagnostics.ToString(), "");
  EXPECT_EQ(train->size(), 2000);
  EXPECT_EQ(test->size(), 500);
  // The mean that everyone normalises CIFAR-10's red channel by, near enough for a sample.
  double sum = 0;
  std::set<int32_t> classes;
  for (int64_t i = 0; i < train->size(); ++i) {
    const Sample sample = SampleOf(*train, i);
    for (size_t j = 0; j < 1024; ++j) sum += static_cast<unsigned char>(sample.image[j]) / 255.0;
    classes.insert(sample.label);
  }
  EXPECT_NEAR(sum / (2000.0 * 1024.0), 0.4914, 0.01);
  EXPECT_EQ(classes.size(), 10u);
}

}  // namespace
}  // namespace cgrun
