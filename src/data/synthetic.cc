// Random samples in the shapes that the model wants: for tests and benchmarks, without a file.
// Sample `i` is a pure function of the seed, the field's name and `i`.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "src/base/random.h"
#include "src/data/dataset.h"
#include "src/data/options.h"

namespace cgrun {
namespace {

constexpr DataOptionValues kSampleCounts = {.integer = true, .least = 1, .most = int64_t{1} << 40};
constexpr DataOptionValues kClassCounts = {.integer = true, .least = 1, .most = INT32_MAX};
constexpr DataOptionValues kSeeds = {.integer = true, .least = 0};

// Returns a number of [0, 1) in steps of 2⁻¹¹ as IEEE binary16, exactly.
uint16_t UniformHalf(uint32_t bits) {
  const uint32_t fraction = bits >> 21;  // 11 bits
  if (fraction == 0) return 0;
  const uint32_t exponent = static_cast<uint32_t>(std::bit_width(fraction)) - 1;
  return static_cast<uint16_t>(((exponent + 4) << 10) | ((fraction << (10 - exponent)) & 0x3FF));
}

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(int64_t samples, uint64_t seed, uint32_t classes, std::vector<DataField> fields)
      : samples_(samples), classes_(classes), fields_(std::move(fields)) {
    for (const DataField& field : fields_) {
      keys_.push_back(RandomKey(seed, "synthetic/" + field.name));
    }
  }

  int64_t size() const override { return samples_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 0; }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    for (size_t i = 0; i < fields_.size(); ++i) Make(i, index, out[i]);
  }
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override {
    const auto bytes = static_cast<size_t>(fields_[index].bytes());
    for (size_t at = 0; bytes > 0 && at < out.size(); at += bytes, ++first) {
      Make(index, first, out.subspan(at, bytes));
    }
  }

 private:
  // Writes field `i` of sample `index`.
  void Make(size_t i, int64_t index, std::span<std::byte> out) const {
    switch (fields_[i].dtype) {
      case DType::kF64:
        Fill<double>(i, index, out, [](uint32_t bits) { return double{UniformFloat(bits)}; });
        break;
      case DType::kF32:
        Fill<float>(i, index, out, UniformFloat);
        break;
      case DType::kBF16:
        // Eight bits, so that nothing is rounded up to 1.
        Fill<uint16_t>(i, index, out, [](uint32_t bits) {
          return BFloat16(static_cast<float>(bits >> 24) * 0x1.0p-8f).bits;
        });
        break;
      case DType::kF16:
        Fill<uint16_t>(i, index, out, UniformHalf);
        break;
      case DType::kI64:
        Fill<int64_t>(i, index, out, [this](uint32_t bits) { return int64_t{Class(bits)}; });
        break;
      case DType::kI32:
        Fill<int32_t>(i, index, out,
                      [this](uint32_t bits) { return static_cast<int32_t>(Class(bits)); });
        break;
      case DType::kU8:
        Fill<uint8_t>(i, index, out,
                      [](uint32_t bits) { return static_cast<uint8_t>(bits >> 24); });
        break;
      case DType::kBool:
        Fill<uint8_t>(i, index, out,
                      [](uint32_t bits) { return static_cast<uint8_t>(bits >> 31); });
        break;
      default:
        FillIntegers(i, index, out);
        break;
    }
  }

  // Fills a field of a type in which nothing is computed with all its numbers, uint64 with those
  // below 2³².
  void FillIntegers(size_t i, int64_t index, std::span<std::byte> out) const {
    switch (SizeOf(fields_[i].dtype)) {
      case 1:
        return Fill<uint8_t>(i, index, out,
                             [](uint32_t bits) { return static_cast<uint8_t>(bits >> 24); });
      case 2:
        return Fill<uint16_t>(i, index, out,
                              [](uint32_t bits) { return static_cast<uint16_t>(bits >> 16); });
      case 4:
        return Fill<uint32_t>(i, index, out, [](uint32_t bits) { return bits; });
      default:
        return Fill<uint64_t>(i, index, out, [](uint32_t bits) { return uint64_t{bits}; });
    }
  }

  // Returns a class of [0, classes). All are equally likely up to 2⁻³² each.
  uint32_t Class(uint32_t bits) const {
    return static_cast<uint32_t>((uint64_t{bits} * classes_) >> 32);
  }

  template <class T, class Make>
  void Fill(size_t field, int64_t index, std::span<std::byte> out, Make make) const {
    std::array<uint32_t, 4> words = {};
    for (size_t i = 0; i < out.size() / sizeof(T); ++i) {
      if (i % 4 == 0) words = Philox(keys_[field], static_cast<uint64_t>(index), i / 4);
      const T value = make(words[i % 4]);
      std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
    }
  }

  int64_t samples_;
  uint32_t classes_;
  std::vector<DataField> fields_;
  std::vector<uint64_t> keys_;  // a field
};

std::unique_ptr<Dataset> OpenSynthetic(const DataOptions& options, Diagnostics& diagnostics) {
  if (options.fields.empty()) {
    if (options.may_have_more_fields) return nullptr;  // the reason is reported
    diagnostics.Error(options.mark, "synthetic data are made for inputs, and this model has none",
                      "declare what the model reads: `inputs: {image: {type: f32, shape: [8]}}`");
    return nullptr;
  }
  const auto samples = IntegerOption(options, "samples", kSampleCounts, 1, diagnostics);
  const auto classes = IntegerOption(options, "classes", kClassCounts, 10, diagnostics);
  const auto seed = IntegerOption(options, "seed", kSeeds, 0, diagnostics);
  if (!samples || !classes || !seed) return nullptr;
  return std::make_unique<SyntheticDataset>(*samples, static_cast<uint64_t>(*seed),
                                            static_cast<uint32_t>(*classes), options.fields);
}

constexpr DataOptionSpec kSyntheticOptions[] = {
    {"samples", true, "how many samples there are", kSampleCounts},
    {"classes", false, "int32 and int64 fields are drawn from 0 to classes − 1; default 10",
     kClassCounts},
    {"seed", false, "another seed gives other samples; default 0", kSeeds}};

}  // namespace

extern const DataFormat kSyntheticFormat;
constinit const DataFormat kSyntheticFormat = {
    "synthetic", "random samples: floats from [0, 1), uint8 from 0 to 255, classes",
    kSyntheticOptions, OpenSynthetic};

}  // namespace cgrun
