// Samples that do not fit in memory lie in files: the same bits as from memory, without a copy of
// what lies in its own file as it is wanted, and without an allocation when they are read.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "src/base/allocation_counter.h"
#include "src/data/dataset.h"
#include "src/data/field_values.h"
#include "src/data/sample_store.h"
#include "src/data/sampler.h"
#include "tests/data/dataset_testing.h"
#include "tests/data/memory_testing.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

// A scan takes more than one piece for this many samples.
constexpr int64_t kSamples = 3000;

std::string Bytes(int64_t count) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 31 + i / 251);
  return bytes;
}

std::string Idx(int type, const std::vector<uint32_t>& sizes, const std::string& elements) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (uint32_t size : sizes) {
    for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(size >> shift);
  }
  return bytes + elements;
}

std::string Npy(const std::string& descriptor, bool fortran, const std::string& shape,
                const std::string& elements) {
  std::string header = "{'descr': '" + descriptor +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
         elements;
}

std::string Table() {
  std::string text = "a,b,kind\n";
  for (int64_t i = 0; i < kSamples; ++i) {
    const std::string gap = i % 97 == 3 ? "" : std::to_string(static_cast<double>(i) / 8);
    text += std::to_string(i % 11) + "," + gap + "," + (i % 3 == 0 ? "yes" : "no") + "\n";
  }
  return text;
}

struct Case {
  const char* name;
  std::function<void(DatasetBuilder&)> describe;
  const char* format;
  int64_t least_in_memory = 0;  // these stay in memory though the samples do not
};

std::vector<Case> Cases() {
  const std::string pixels = Bytes(kSamples * 100), labels = Bytes(kSamples);
  const auto idx = [=](DatasetBuilder& data, bool compressed) {
    const std::string images = Idx(8, {kSamples, 10, 10}, pixels);
    const std::string of_labels = Idx(9, {kSamples}, labels);
    data.File("images", compressed ? Gzip(images) : images).Set("images", "images");
    data.File("labels", compressed ? Gzip(of_labels) : of_labels).Set("labels", "labels");
  };
  const auto npy = [=](DatasetBuilder& data, const std::string& descriptor, bool fortran) {
    const int64_t width = descriptor.back() - '0';
    const std::string shape = "(" + std::to_string(kSamples) + ", 25)";
    data.File("x.npy", Npy(descriptor, fortran, shape, Bytes(kSamples * 25 * width)));
    data.Set("x", "x.npy").Input("x", DType::kI32, {25});
  };
  const auto cifar = [=](DatasetBuilder& data) {
    for (const char* name : {"data_batch_1.bin", "data_batch_2.bin"}) {
      std::string records;
      for (int64_t i = 0; i < 150; ++i) {
        records += static_cast<char>((i + name[11]) % 10);
        records += Bytes(3072 + i).substr(static_cast<size_t>(i));
      }
      data.File(name, records);
    }
    data.Set("folder", ".");
  };
  const auto csv = [=](DatasetBuilder& data) {
    data.File("t.csv", Table()).Set("file", "t.csv").Set("missing", "mean");
    data.Set("standardize", "true").Split(0.2, 1).Input("features", DType::kF32, {2});
    data.Label("kind", DType::kI32);
  };
  const auto text = [=](DatasetBuilder& data, bool compressed) {
    const std::string bytes = Bytes(700'000);
    data.File("text", compressed ? Gzip(bytes) : bytes).Set("file", "text").Set("length", "97");
    data.Input("text", DType::kI32, {97}).Input("next", DType::kU8, {97});
  };
  return {{"idx", [=](DatasetBuilder& data) { idx(data, false); }, "idx"},
          {"idx, compressed", [=](DatasetBuilder& data) { idx(data, true); }, "idx"},
          {"npy, as it is", [=](DatasetBuilder& data) { npy(data, "<i4", false); }, "npy"},
          {"npy, big-endian", [=](DatasetBuilder& data) { npy(data, ">i4", false); }, "npy"},
          {"npy, narrow", [=](DatasetBuilder& data) { npy(data, "|i1", false); }, "npy"},
          {"npy, columns first", [=](DatasetBuilder& data) { npy(data, "<i4", true); }, "npy"},
          {"cifar", cifar, "cifar"},
          {"csv", csv, "csv"},
          {"text", [=](DatasetBuilder& data) { text(data, false); }, "text"},
          {"text, compressed", [=](DatasetBuilder& data) { text(data, true); }, "text"}};
}

// Sees all integers of a field.
struct AllIntegers {
  void Visit(int64_t value, int64_t sample) {
    values.push_back(value);
    values.push_back(sample);
  }
  std::vector<int64_t> values;
};

std::vector<int64_t> IntegersOf(const Dataset& dataset, size_t field) {
  AllIntegers all;
  VisitIntegers(dataset, field, all);
  return all.values;
}

TEST(StreamingTest, GivesTheBitsOfMemory) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    DatasetBuilder in_memory(each.format), in_files(each.format);
    each.describe(in_memory);
    each.describe(in_files);
    const Opened expected = in_memory.Open(), opened = in_files.Stream().Open();
    ASSERT_EQ(expected.errors + opened.errors, "");
    const Dataset &memory = *expected.dataset, &files = *opened.dataset;
    EXPECT_GT(memory.decoded_bytes(), 40'000);
    EXPECT_EQ(memory.streamable_bytes(), memory.decoded_bytes());
    EXPECT_EQ(files.decoded_bytes(), 0);
    EXPECT_EQ(files.streamable_bytes(), 0);
    ASSERT_EQ(files.size(), memory.size());
    EXPECT_EQ(files.fields(), memory.fields());
    EXPECT_EQ(files.AtHand(0), memory.AtHand(0));
    EXPECT_EQ(files.Findings(), memory.Findings());
    for (int64_t i = 0; i < memory.size(); ++i) {
      ASSERT_EQ(ReadSample(files, i), ReadSample(memory, i)) << i;
    }
    for (size_t field = 0; field < memory.fields().size(); ++field) {
      EXPECT_EQ(IntegersOf(files, field), IntegersOf(memory, field));
      const SamplePlace place = files.PlaceOf(field, 7, 1);
      EXPECT_EQ(place.mark.line, memory.PlaceOf(field, 7, 1).mark.line);
    }
  }
}

TEST(StreamingTest, SaysWhereSamplesLie) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    DatasetBuilder data(each.format);
    each.describe(data);
    const bool as_it_is = std::string(each.name) == "npy, as it is" ||
                          std::string(each.name) == "text" || std::string(each.name) == "cifar";
    const Opened opened = data.Stream().Open();
    const std::vector<std::string> notes = opened.dataset->Notes();
    ASSERT_FALSE(notes.empty());
    EXPECT_NE(notes.back().find("' does not fit in memory ("), std::string::npos) << notes.back();
    EXPECT_EQ(notes.back().ends_with("from the file itself"), as_it_is) << notes.back();
    const std::string in_folder = "from a temporary file in " + data.folder();
    EXPECT_EQ(notes.back().find(in_folder) != std::string::npos, !as_it_is) << notes.back();
  }
}

TEST(StreamingTest, KeepsInMemoryWhatFits) {
  DatasetBuilder data("idx");
  data.File("images", Idx(8, {50, 100}, Bytes(5000))).Set("images", "images");
  data.File("labels", Idx(8, {50}, Bytes(50))).Set("labels", "labels");
  EXPECT_EQ(data.Stream(4999).Open().dataset->decoded_bytes(), 200) << "the labels alone";
  EXPECT_EQ(data.Stream(5200).Open().dataset->decoded_bytes(), 5200);
  EXPECT_TRUE(data.Stream(5200).Open().dataset->Notes().empty());
}

TEST(StreamingTest, ReadingAllocatesNothing) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer allocates by itself";
  for (const Case& each : Cases()) {
    DatasetBuilder data(each.format);
    each.describe(data);
    const Opened opened = data.Stream().Open();
    std::vector<std::string> fields;
    for (const DataField& field : opened.dataset->fields()) {
      fields.emplace_back(static_cast<size_t>(field.bytes()), '\0');
    }
    std::vector<std::span<std::byte>> out;
    for (std::string& field : fields) out.push_back(std::as_writable_bytes(std::span(field)));
    const int64_t before = CurrentHeapUse().allocations;
    for (int64_t i = 0; i < 50; ++i) opened.dataset->Read(i, out);
    EXPECT_EQ(CurrentHeapUse().allocations, before) << each.name;
  }
}

TEST(StreamingTest, LeavesNoFilesBehind) {
  const TempFolder folder;
  DatasetBuilder data("idx");
  data.File("images", Gzip(Idx(8, {50, 100}, Bytes(5000)))).Set("images", "images");
  const Opened opened = data.Stream(0, folder / "not/yet").Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "not/yet"));
}

TEST(StreamingTest, NamesTheFileThatHasBecomeShorter) {
  DatasetBuilder data("idx");
  data.File("images", Idx(8, {50, 100}, Bytes(5000))).Set("images", "images");
  const Opened opened = data.Stream().Open();
  data.File("images", "");
  const std::string error = ErrorOf([&] { ReadSample(*opened.dataset, 40); });
  EXPECT_NE(error.find("images' has become shorter since the run began"), std::string::npos);
}

TEST(StreamingTest, NamesTheFolderWithoutRoom) {
  DatasetBuilder data("idx");
  data.File("images", Gzip(Idx(8, {50, 100}, Bytes(5000)))).Set("images", "images");
  data.File("file", "");
  const Opened opened = data.Stream(0, data.folder() + "/file").Open();
  EXPECT_NE(opened.errors.find("its decoded samples are to lie in a file of 5000 bytes in "
                               "DIR/file, which cannot be made"),
            std::string::npos)
      << opened.errors;
}

TEST(StreamingTest, OpeningTakesNoMoreMemoryThanItSays) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer takes memory by itself";
  constexpr int64_t kText = 64 << 20, kNoise = 4 << 20;
  for (const bool compressed : {false, true}) {
    DatasetBuilder data("text");
    {
      const std::string text(kText, 'a');
      data.File("text", compressed ? Gzip(text) : text).Set("file", "text").Set("length", "64");
    }
    Opened opened;
    const int64_t taken = MostTakenBy([&] { opened = data.Open(); });
    EXPECT_EQ(opened.dataset->opening_bytes(), kText);
    EXPECT_GT(taken, kText - kNoise);
    EXPECT_LT(taken, kText + kNoise) << compressed;
  }
}

TEST(StreamingTest, LinesTakeNoMoreMemoryThanTheySay) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer takes memory by itself";
  constexpr int64_t kNoise = 4 << 20;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "word" + std::to_string(i) + " and another one\n";
  DatasetBuilder data("lines");
  data.File("lines", text).Set("file", "lines").Set("length", "4");
  data.Input("text", DType::kI32, {4}).Split(0.1, 1);
  Opened opened;
  const int64_t taken = MostTakenBy([&] { opened = data.Open(); });
  ASSERT_EQ(opened.errors, "");
  EXPECT_GT(opened.dataset->opening_bytes(), opened.dataset->decoded_bytes());
  EXPECT_LT(taken, opened.dataset->opening_bytes() + kNoise);
}

TEST(StreamingTest, ASplitTakesNoMoreMemoryThanItSays) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer takes memory by itself";
  constexpr int64_t kCount = 8 << 20, kNoise = 2 << 20;
  const DataSplit split{.fraction = 0.1, .seed = 1};
  SplitIndices parts;
  const int64_t taken = MostTakenBy([&] { parts = SplitSamples(kCount, 0.1, 1); });
  EXPECT_EQ(std::ssize(parts.train) + std::ssize(parts.valid), kCount);
  EXPECT_LT(taken, HeldOutBytes(split, kCount) + kNoise);
  EXPECT_LT(HeldOutBytes(split, kCount), kCount * 9);
}

}  // namespace
}  // namespace cgrun
