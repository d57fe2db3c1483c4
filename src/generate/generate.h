// Samples of a generator: what `cgrun generate` shows.
#ifndef CGRUN_GENERATE_GENERATE_H_
#define CGRUN_GENERATE_GENERATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/results/memory_use.h"
#include "src/run/engine.h"
#include "src/run/weights.h"

namespace cgrun {

// Says how the numbers of a sample become pixels. This is the inverse of `normalize`, with a mean
// and deviation for each channel, or one for all.
struct PixelScale {
  double scale = 2.0 / 255;
  std::vector<double> mean = {1};
  std::vector<double> std = {1};
  uint8_t Pixel(double value, int64_t channel) const;
};

// A prediction that reads no data, random numbers alone: a generator's.
struct GeneratedOutput {
  std::string name;  // "fake"
  size_t index = 0;  // among the results of a program that predicts
  DType dtype = DType::kF32;
  Shape shape;        // of a sample
  PixelScale pixels;  // of the first `normalize` of as many channels; without one of [-1, 1]
};

// Returns nothing after an error, such as that every prediction reads data.
std::optional<GeneratedOutput> DescribeGenerated(const ModelSpec& model, DType precision,
                                                 Diagnostics& diagnostics);

struct GenerateOptions {
  std::string device = "reference";
  Mode mode = Mode::kGraph;
  CompileOptions compile;
  int64_t count = 64;
  std::string weights;     // a file
  int64_t host_bytes = 0;  // of what is made of the samples
};

struct Generated {
  MemoryUse memory;
  HostTensor samples;  // [count, …]
  WeightsReport weights;
};

// Draws samples; which ones depends on the model's seed. Returns nothing after an error of the
// model file; throws UserError for the rest.
std::optional<Generated> GenerateSamples(const ModelSpec& model, const GeneratedOutput& output,
                                         const GenerateOptions& options, Diagnostics& diagnostics);

// Samples [count, channels, height, width] as pixels.
std::vector<uint8_t> PixelsOf(const HostTensor& samples, const PixelScale& scale);

}  // namespace cgrun

#endif  // CGRUN_GENERATE_GENERATE_H_
