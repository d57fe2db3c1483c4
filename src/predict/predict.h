// Predictions of a trained model: DescribePredictions() says what a model reads and gives, and a
// Predictor runs it. `cgrun predict` is both.
#ifndef CGRUN_PREDICT_PREDICT_H_
#define CGRUN_PREDICT_PREDICT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/data/image_resample.h"
#include "src/io/safetensors.h"
#include "src/model_data/class_names.h"
#include "src/predict/predict_source.h"
#include "src/results/loaded_weights.h"
#include "src/results/memory_use.h"
#include "src/results/prediction.h"
#include "src/run/engine.h"
#include "src/run/weights.h"

namespace cgrun {

// `batch`, which has an axis at least, without its axis 0.
Shape SampleShape(const Shape& batch);

struct PredictSignature {
  std::vector<DataField> inputs;  // that the predictions depend on, of one sample each
  std::vector<DataField> whole;   // the others, which have no batch
  std::vector<PredictedOutput> outputs;
};

// Returns nothing after an error of the model file. With `keeps`, the values of `keep` are among
// the outputs. An output has scores where a loss of classes reads it, or where softmax, log_softmax
// or sigmoid makes it.
std::optional<PredictSignature> DescribePredictions(const ModelSpec& model, DType precision,
                                                    bool keeps, Diagnostics& diagnostics);

// Returns how images become samples, as the model's data of format `images` says.
ImageFit ImageFitOf(const ModelSpec& model);

struct PredictOptions {
  std::string device = "reference";
  Mode mode = Mode::kGraph;
  CompileOptions compile;
  int64_t batch = 1;
  std::string weights;        // a file; empty: initial values
  DebugRun* debug = nullptr;  // of a debugging run, which outlives the predictor
  SafetensorsMetadata kept;   // without a file: what weights that are set later keep of their data
  bool dry_run = false;       // nothing will run: an arena of the host is left untouched
  // The host needs so many bytes for files that are read and for the results that are made of
  // predictions.
  int64_t host_bytes = 0;
};

class Predictor {
 public:
  // Compiles for `options.batch` and loads the weights, whose metadata may name classes; that these
  // are not as many as the model has is a warning. Errors of the model go to `diagnostics`: then it
  // is not ready. Throws UserError for the rest.
  Predictor(const ModelSpec& model, PredictSignature signature, const PredictOptions& options,
            Diagnostics& diagnostics);

  bool ready() const { return engine_ != nullptr; }
  Engine& engine() { return *engine_; }
  const WeightsReport& weights() const { return weights_; }
  const std::vector<PredictedOutput>& outputs() const { return signature_.outputs; }
  // Returns the memory as planned, and as measured until now.
  const MemoryUse& MeasureMemory();

  // Sees each sample with the bytes of each output, in the order of the samples.
  using Sink = std::function<void(const SampleOrigin& origin, PredictionBytes outputs)>;
  // Runs batch by batch, at most `limit_batches` of them (0: all). The last batch is filled up with
  // copies. If a model has several inputs, only those values are computed whose inputs differ from
  // the batch before. Returns the number of samples.
  int64_t Run(PredictSource& source, int64_t limit_batches, const Sink& sink);
  // Writes the inputs of the next sample, a span each, and where it comes from; false at the end.
  using NextSample =
      std::function<bool(std::span<const std::span<std::byte>> inputs, SampleOrigin* origin)>;
  // Does the same for samples from elsewhere, of a model without inputs that have no batch.
  int64_t Run(const NextSample& next, int64_t limit_batches, const Sink& sink);
  // For all runs so far, operators_run() counts the operators that ran, and operators() those of
  // whole runs.
  int64_t operators_run() const { return operators_run_; }
  int64_t operators() const { return runs_ * operators_; }

 private:
  void NameClasses(const ModelSpec& model, const PredictOptions& options, Diagnostics& diagnostics);
  // Reads the next batch into `inputs_`; how many samples.
  int64_t Fill(const NextSample& next, std::vector<SampleOrigin>& origins);
  size_t FeedOf(const std::string& input) const;
  void RunBatch();
  void Show(const std::vector<SampleOrigin>& origins, const Sink& sink);

  PredictSignature signature_;
  int64_t batch_;
  std::unique_ptr<Device> device_;
  SingleProcess communicator_;
  std::unique_ptr<Engine> engine_;
  MemoryUse memory_;
  std::vector<HostTensor> feeds_;    // of the entry point, in its order
  std::vector<HostTensor> last_;     // the same in the batch before; none where runs are whole
  std::vector<bool> changed_;        // true if the feed differs from the batch before
  std::vector<size_t> inputs_;       // the feed that takes each input
  std::vector<size_t> whole_;        // the feed that takes each input without a batch
  std::vector<HostTensor> results_;  // of the outputs
  WeightsReport weights_;
  int64_t operators_ = 0;  // of the entry point
  int64_t runs_ = 0, operators_run_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_PREDICT_PREDICT_H_
