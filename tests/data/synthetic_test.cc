// Synthetic samples: a pure function of (seed, field, index), in the range of their type.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "src/base/allocation_counter.h"
#include "src/base/host_tensor.h"
#include "src/data/dataset.h"
#include "src/data/sampler.h"

namespace cgrun {
namespace {

std::unique_ptr<Dataset> Open(std::vector<DataField> fields, const std::string& seed = "7") {
  DataOptions options;
  options.fields = std::move(fields);
  options.values["samples"] = {"1000", {}};
  options.values["classes"] = {"5", {}};
  options.values["seed"] = {seed, {}};
  Diagnostics diagnostics;
  auto dataset = OpenDataset({"synthetic", {}}, options, diagnostics);
  EXPECT_EQ(diagnostics.ToString(), "");
  return dataset;
}

HostTensor ReadField(const Dataset& dataset, int64_t index) {
  HostTensor tensor(dataset.fields()[0].dtype, dataset.fields()[0].shape);
  const std::span<std::byte> out[] = {tensor.bytes()};
  dataset.Read(index, out);
  return tensor;
}

TEST(SyntheticTest, HasTheFieldsThatWereAskedFor) {
  const std::vector<DataField> fields = {{"image", DType::kU8, {3, 4, 4}},
                                         {"label", DType::kI32, {}}};
  const auto dataset = Open(fields);
  EXPECT_EQ(dataset->size(), 1000);
  EXPECT_EQ(dataset->fields(), fields);
  EXPECT_EQ(dataset->decoded_bytes(), 0);
}

TEST(SyntheticTest, AFieldAloneIsThatOfWholeSamplesInPartsToo) {
  const std::shared_ptr<const Dataset> whole =
      Open({{"label", DType::kI32, {}}, {"image", DType::kF32, {3}}});
  const auto split = SplitDataset(whole, 0.3, 7);
  for (const Dataset* set : {whole.get(), static_cast<const Dataset*>(split.valid.get())}) {
    std::array<float, 12> images, alone;  // of four samples
    set->ReadField(1, 20, std::as_writable_bytes(std::span(alone)));
    for (size_t i = 0; i < 4; ++i) {
      int32_t label = 0;
      const std::span<std::byte> out[] = {
          std::as_writable_bytes(std::span(&label, 1)),
          std::as_writable_bytes(std::span(images).subspan(3 * i, 3))};
      set->Read(20 + static_cast<int64_t>(i), out);
    }
    EXPECT_EQ(images, alone);
    EXPECT_NE(images[0], images[3]);
  }
}

TEST(SyntheticTest, AModelWithoutInputsIsRefused) {
  DataOptions options;
  options.values["samples"] = {"1000", {}};
  Diagnostics diagnostics;
  EXPECT_EQ(OpenDataset({"synthetic", {}}, options, diagnostics), nullptr);
  EXPECT_NE(diagnostics.ToString().find("this model has none"), std::string::npos);
}

TEST(SyntheticTest, ManySamplesTakeNoMemory) {
  DataOptions options;
  options.fields = {{"x", DType::kF32, {}}};
  options.values["samples"] = {"1099511627776", {}};
  options.memory_limit = 0;
  Diagnostics diagnostics;
  const auto dataset = OpenDataset({"synthetic", {}}, options, diagnostics);
  ASSERT_NE(dataset, nullptr) << diagnostics.ToString();
  EXPECT_EQ(dataset->size(), int64_t{1} << 40);
}

TEST(SyntheticTest, SamplesDependOnSeedFieldAndIndexAlone) {
  const std::vector<DataField> fields = {{"x", DType::kF32, {10}}};
  const auto dataset = Open(fields), again = Open(fields);
  const HostTensor first = ReadField(*dataset, 3);
  ReadField(*dataset, 4);
  EXPECT_EQ(ReadField(*dataset, 3), first);
  EXPECT_EQ(ReadField(*again, 3), first);
  EXPECT_NE(ReadField(*dataset, 4), first);
  EXPECT_NE(ReadField(*Open(fields, "8"), 3), first);
  EXPECT_NE(ReadField(*Open({{"y", DType::kF32, {10}}}), 3), first);
}

TEST(SyntheticTest, ValuesHaveTheRangeOfTheirType) {
  struct Range {
    DType dtype;
    double low, high, mean;
    size_t at_least;  // distinct values among 10,000
  };
  const Range ranges[] = {{DType::kF64, 0, 1, 0.5, 9000}, {DType::kF32, 0, 1, 0.5, 9000},
                          {DType::kBF16, 0, 1, 0.5, 256}, {DType::kI64, 0, 5, 2.0, 5},
                          {DType::kI32, 0, 5, 2.0, 5},    {DType::kU8, 0, 256, 127.5, 256},
                          {DType::kBool, 0, 2, 0.5, 2}};
  for (const Range& range : ranges) {
    const HostTensor tensor = ReadField(*Open({{"x", range.dtype, {10000}}}), 0);
    std::set<double> values;
    double sum = 0.0;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      values.insert(tensor.At(i));
      sum += tensor.At(i);
    }
    EXPECT_GE(*values.begin(), range.low) << Name(range.dtype);
    EXPECT_LT(*values.rbegin(), range.high) << Name(range.dtype);
    EXPECT_GE(values.size(), range.at_least) << Name(range.dtype);
    EXPECT_NEAR(sum / 10000, range.mean, range.high * 0.02) << Name(range.dtype);
  }
}

TEST(SyntheticTest, HalvesAreTheirBits) {
  const HostTensor tensor = ReadField(*Open({{"x", DType::kF16, {20000}}}), 0);
  std::set<double> values;
  double sum = 0.0;
  for (size_t i = 0; i < 20000; ++i) {
    uint16_t bits;
    std::memcpy(&bits, tensor.bytes().data() + 2 * i, 2);
    const int exponent = bits >> 10, fraction = bits & 0x3FF;
    const double value =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(value * 2048, std::floor(value * 2048));
    values.insert(value);
    sum += value;
  }
  EXPECT_GE(*values.begin(), 0.0);
  EXPECT_LT(*values.rbegin(), 1.0);
  EXPECT_GT(values.size(), 2000u);
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);
}

TEST(SyntheticTest, ReadingASampleDoesNotAllocate) {
  const auto dataset = Open({{"image", DType::kU8, {3, 8, 8}}, {"label", DType::kI32, {}}});
  std::byte image[192], label[4];
  const std::span<std::byte> out[] = {image, label};
  const int64_t before = CurrentHeapUse().allocations;
  for (int64_t i = 0; i < 100; ++i) dataset->Read(i, out);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace cgrun
