// Runs the models of an ensemble on the samples of `valid`, and measures means of predictions.
#ifndef CGRUN_SEARCH_ENSEMBLE_ENGINE_H_
#define CGRUN_SEARCH_ENSEMBLE_ENGINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/model_data/model_data.h"
#include "src/run/batch_runner.h"
#include "src/run/engine.h"
#include "src/search/ensemble_model.h"
#include "src/search/trial_plan.h"
#include "src/session/session.h"

namespace cgrun {

// The samples of `valid` in two halves. Sample 0 and every second one after it are half 0, and the
// others are half 1.
class ValidSamples {
 public:
  // Throws UserError if the data do not fit the model's inputs.
  ValidSamples(const ModelSpec& model, std::shared_ptr<const ModelData> data);

  int64_t size() const { return data_->valid->size(); }
  int64_t size_of(int half) const { return (size() + 1 - half) / 2; }
  const DataField& field(const std::string& input) const { return fields_[IndexOf(input)]; }
  bool has(const std::string& input) const;

  // Reads a sample, of which the fields are then at hand. Throws UserError.
  void Read(int64_t sample);
  std::span<const std::byte> BytesOf(const std::string& input) const;

 private:
  size_t IndexOf(const std::string& input) const;

  std::shared_ptr<const ModelData> data_;
  std::vector<DataField> fields_;  // under the names of their inputs
  std::vector<std::vector<std::byte>> bytes_;
};

// The means of one model: its share of an ensemble's.
struct MemberNumbers {
  std::vector<Shape> shapes;  // of each mean, of one sample
  // Each half has all numbers of its first sample, then those of the next one.
  std::array<std::vector<float>, 2> halves;
};

// An engine with what it needs to live.
struct EnsembleEngine {
  std::unique_ptr<Device> device;
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Engine> engine;
};

// Compiles a model for predictions. Throws UserError if it cannot be built, or takes more memory
// than `place` or the machine allows.
EnsembleEngine MakePredictingEngine(const ModelSpec& model, const TrialPlace& place);

// Loads the weights of a member from its own file. Throws UserError if some are missing there.
void LoadMember(const MemberModel& member, const std::string& file, Engine& engine);

// Runs a member on all samples. Throws UserError, also if its numbers take more than `most_bytes`,
// and RunStopped after a signal.
MemberNumbers RunMember(const MemberModel& member, const std::string& weights,
                        ValidSamples& samples, const TrialPlace& place, int64_t most_bytes,
                        const RunSignals& signals);

// Measures means of predictions by the loss and the metrics of an ensemble.
class EnsembleJudge {
 public:
  // Judges by one half of the samples. `shapes` are those of the means.
  EnsembleJudge(const MemberModel& first, std::span<const Shape> shapes, const std::string& metric,
                ValidSamples& samples, int half, const TrialPlace& place);
  ~EnsembleJudge();

  // Returns the metric of such means, whose order is that of MemberNumbers::halves.
  double Measure(std::span<const double> mean);

 private:
  class Samples;

  const std::string metric_;
  std::unique_ptr<Samples> samples_;
  EnsembleEngine engine_;
  std::unique_ptr<BatchRunner> runner_;
  int64_t batch_ = 1;
};

// Returns the model of a file that has this tree. Throws UserError with the first error.
ModelSpec ModelOfEnsembleTree(const TreeNode& tree, const std::string& file_name);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_ENSEMBLE_ENGINE_H_
