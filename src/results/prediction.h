// Predictions: where a sample came from, what an output says of it, and what its numbers mean.
#ifndef CGRUN_RESULTS_PREDICTION_H_
#define CGRUN_RESULTS_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/dtype.h"
#include "src/base/shape.h"

namespace cgrun {

// The numbers of an output are values (kNone), or scores of classes in one of these forms. With
// kYesNo, a single number tells two classes apart, and each of several numbers says yes or no.
enum class Scores : uint8_t {
  kNone,
  kLogits,
  kProbabilities,
  kLogProbabilities,
  kYesNoLogits,
  kYesNo
};

// Returns whether a score says yes or no.
bool IsYesNo(Scores scores);

struct PredictedOutput {
  std::string name;  // "logits"
  DType dtype = DType::kF32;
  Shape shape;         // of a sample, or of all
  bool whole = false;  // no sample has a part of it: each run gives the same
  Scores scores = Scores::kNone;
  std::string label_input;           // that the loss compares it with; empty: none
  std::vector<std::string> classes;  // names of the first ones; empty: not known
  // If the output has scores for each place of a sequence, [classes, places]: how many places.
  int64_t places = 0;
  bool of_bytes = false;  // whether its classes are the bytes of a text
  bool kept = false;      // no prediction, but what `keep` of the model file names

  // The output has scores.
  int64_t class_count() const;
};

struct ClassScore {
  int64_t index = 0;
  double probability = 0;
};
// The `count` most probable classes, the first of equal ones first; those that are not numbers
// last.
std::vector<ClassScore> TopClasses(const PredictedOutput& output, std::span<const double> values,
                                   int64_t count);

// Returns the most probable class of each place: the first of equal ones.
std::vector<int64_t> ClassesOfPlaces(const PredictedOutput& output, std::span<const double> values);

// Returns whether the values of an output are numbers that can be used: finite, but for the
// logarithm of a probability of 0.
bool IsUsable(const PredictedOutput& output, std::span<const std::byte> bytes);

// The raw outputs of a sample.
using PredictionBytes = std::span<const std::span<const std::byte>>;

// Says where a sample comes from.
struct SampleOrigin {
  std::string file;
  std::optional<int64_t> index = {};  // in a file of several samples
  std::string not_finite_input = {};  // the first input that holds NaN or infinity; "" for none
  // The places of a sequence that the file has, if the sample is filled up.
  std::optional<int64_t> given = {};

  std::string ToString() const;  // "x.npy[3]"
};

// A file that cannot be predicted: what an error says.
struct FileProblem {
  std::string file;
  std::string message;
  std::string help;
  std::shared_ptr<const Diagnostics> errors = nullptr;  // of a table: all, each with its place
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_PREDICTION_H_
