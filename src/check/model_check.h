// Checks whether a model computes what it should: gradients against finite differences, and devices
// against the reference. ModelCheck is the entry point.
#ifndef CGRUN_CHECK_MODEL_CHECK_H_
#define CGRUN_CHECK_MODEL_CHECK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/lint/label_check.h"
#include "src/model_data/model_data.h"
#include "src/run/engine.h"

namespace cgrun {

// The derivative of a path's loss along one random direction in some of its parameters: what the
// gradients say, and what central differences in f64 say.
struct GradientCheck {
  std::string path;
  std::vector<std::string> parameters;
  double analytic = 0;
  double numeric = 0;
  double error = 0;  // relative
  double tolerance = 0;
  bool good = false;
  bool steady = false;  // differences of two steps agree
  // Differences depend on the step, or gradients change by more than the tolerance within the
  // smallest one: differences say nothing of them. Not good, and not wrong either.
  bool steep = false;
};

// All results and gradients of a device in the model's precision, against the reference in f64.
// A difference counts that is there with each of three sets of parameters: what an operator gets
// wrong it gets wrong everywhere, while f32 is on the other side of a kink now and then.
struct DeviceCheck {
  std::string device;
  std::string worst;     // the name of what differs most, for its tolerance
  double error = 0;      // its relative difference
  double tolerance = 0;  // of it
  int64_t compared = 0;  // results and gradients
  bool good = false;
  std::string skipped;                    // says why nothing was compared; empty: it was
  std::vector<std::string> missing = {};  // the reference computes these, and the device does not
};

class ModelCheck {
 public:
  // Prepares one batch of up to four samples of `data`, or of random ones where it has none. The
  // model is in f64 with parameters near their initial values. Errors go to `diagnostics`: then the
  // check is not ready. Throws UserError where memory is short.
  //
  // `oracle` are the host's kernels whose results are taken as right. If it is null, they are the
  // reference's, or OpenBLAS's for a large model.
  ModelCheck(const ModelSpec& model, const ModelData& data, const CompileOptions& options,
             Diagnostics& diagnostics, const KernelLibrary* oracle = nullptr);
  ~ModelCheck();

  bool ready() const { return engine_ != nullptr; }
  // Returns why nothing is checked, or "" if the model is checked.
  const std::string& skipped() const { return skipped_; }
  int64_t batch() const { return batch_; }
  int64_t parameters() const;  // with a gradient

  // Every parameter is in one check of each path that trains it. Where a model is small each has
  // its own; the larger it is, the more share one, so that all take about as long.
  std::vector<GradientCheck> CheckGradients();
  // Compiles the model for a device, passes and all, and compares.
  DeviceCheck CheckDevice(const std::string& device);
  // Does the same with kernels of the caller's for the device.
  DeviceCheck CheckLibrary(const std::string& device, const KernelLibrary& library);

 private:
  static constexpr int kGradients = 0, kLoss = 1;  // entry points of the oracle
  // The reference's loops are for models whose checks take fewer operations than this; for others
  // the oracle is OpenBLAS in f64, and checks take about as many as the second number.
  static constexpr int64_t kReferenceFlops = 4'000'000'000, kMostFlops = 10'000'000'000;

  // A parameter that a path's loss changes.
  struct Learned {
    std::string name;
    std::string gradient;  // as `keep` calls it
    int path = -1;
    int result = -1;   // of the gradient
    size_t state = 0;  // index into the engine's

    std::string key() const;  // of its gradient in expected_
  };
  // Holds the numbers of gradients and losses, by name.
  struct Gradients {
    std::map<std::string, std::vector<double>> numbers;  // losses too
    std::map<std::string, double> term_sizes;            // of gradients that are sums: Σ|term|
  };
  // Holds the error of a result or gradient of a device, over the points so far.
  struct DeviceError {
    std::string name;
    double error = 0;  // the least
    double tolerance = 0;
    bool good = false;  // at some point
  };

  bool BuildGraphs(const ModelSpec& wide, Graph* gradients, Graph* loss, Diagnostics& diagnostics);
  void ReadBatch(const ModelData& data, const std::vector<LabelUse>& uses);
  void FeedBatch(Engine& engine, int entry) const;
  void GoTo(int point);
  Gradients RunGradients();
  void NoteScales();
  double LastPlace() const;  // of 1 in the model's precision
  double Sensitivity();
  std::vector<std::vector<double>> ResultsBeside(Engine& engine, double part);
  double GradientFloor(const std::string& key) const;
  void MoveAlong(const std::vector<size_t>& group, int direction, double step);
  void MoveBack(const std::vector<size_t>& group);
  double LossAlong(const std::vector<size_t>& group, int direction, double step);
  double SlopeAlong(const std::vector<size_t>& group, int direction,
                    const std::map<std::string, std::vector<double>>& gradients) const;
  bool IsSteep(const std::vector<size_t>& group, const GradientCheck& check);
  GradientCheck CheckGroup(const std::vector<size_t>& group);
  GradientCheck CheckAlong(const std::vector<size_t>& group, int direction);
  void Compare(const std::string& name, const KernelLibrary& library, DeviceCheck& check);
  void CompareHere(Engine& engine, std::map<std::string, DeviceError>& errors);
  bool IsRoundingAlone(const std::map<std::string, DeviceError>& errors) const;
  static void Judge(const std::map<std::string, DeviceError>& errors, DeviceCheck& check);
  std::vector<double> ResultOf(Engine& engine, int entry, int result) const;

  ModelSpec model_;  // in its precision, with all gradients kept
  CompileOptions options_;
  int64_t batch_ = 4;
  std::string skipped_;
  std::unique_ptr<Device> device_;
  SingleProcess communicator_;
  std::unique_ptr<Engine> engine_;  // f64: entry points for gradients, and for the loss alone
  std::map<std::string, HostTensor> inputs_;
  std::vector<Learned> learned_;
  // The number of the set of parameters that the checks use. The parameters lie near their initial
  // values.
  int point_ = -1;
  std::vector<HostTensor> states_;                       // of engine_, there
  std::map<std::string, std::vector<double>> expected_;  // results and gradients, by name
  double gradient_scale_ = 0;                 // the largest root mean square of a gradient
  std::map<std::string, double> term_sizes_;  // of expected_: Gradients::term_sizes that are finite
  std::map<int, double> rounding_;            // of a path's loss: how far off it may be
  std::optional<double> sensitivity_;
  int64_t loss_flops_ = 0;
  bool on_reference_ = true;
};

}  // namespace cgrun

#endif  // CGRUN_CHECK_MODEL_CHECK_H_
