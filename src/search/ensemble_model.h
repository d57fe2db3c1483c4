// The models of an ensemble: what a trained model gives to it, whether two models fit together, and
// the model file in which several stand side by side.
#ifndef CGRUN_SEARCH_ENSEMBLE_MODEL_H_
#define CGRUN_SEARCH_ENSEMBLE_MODEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/shape.h"
#include "src/model/model_spec.h"
#include "src/model/tree.h"

namespace cgrun {

// The numbers that an ensemble takes the mean of.
enum class Averaged {
  kValues,         // the predictions as they are
  kProbabilities,  // softmax of the predictions, over axis 1
  kYesNo           // sigmoid of the predictions and of their negatives
};

// Says what a trained model predicts, and which loss and metrics judge that.
struct MemberOutput {
  Averaged averaged = Averaged::kValues;
  std::string path;                 // that has the loss
  std::string value;                // the prediction, as that path names it
  std::string name;                 // of the ensemble's prediction: "logits"
  TreeNode loss;                    // reads the value first, and inputs beside it
  TreeNode metrics;                 // a map; those that do so, too
  std::vector<std::string> labels;  // the inputs that they read
};

struct MemberModel {
  int64_t trial = 0;
  ModelSpec model;
  MemberOutput output;
  std::string prefix;  // of all its names in the ensemble: "trial7_"
};

// The outcome of reading a model. If `reason` is not "", the model cannot be a member.
struct ReadMember {
  MemberModel member;
  std::string reason;
};

// Reads `model.yaml` in the run folder of a trial, from which an ensemble wants `metric`.
ReadMember ReadMemberModel(int64_t trial, const std::string& folder, const std::string& metric);
// Says why a model cannot stand beside another one. Returns "" if it can.
std::string ReasonAgainst(const MemberModel& member, const MemberModel& first);

// The metric as the ensemble calls it: without the name of a path.
std::string PlainMetric(const MemberOutput& output, const std::string& metric);

struct PickedMember {
  const MemberModel* member = nullptr;
  int64_t picks = 1;
};

enum class EnsembleGraph {
  kWhole,  // with the loss and the metrics of the first member
  kMeans   // up to the means, which are its outputs
};

// The tree of a model file with all members and the mean of their predictions. Data, inputs and
// settings are those of the first member.
TreeNode EnsembleTree(std::span<const PickedMember> members, EnsembleGraph graph);

// The tree of a model whose inputs are the means, and labels. It ends as an ensemble does: with the
// first member's loss and metrics. `shapes` are those of the means, of one sample each.
TreeNode JudgeTree(const MemberModel& first, std::span<const Shape> shapes);

// Returns the names of the means, which are outputs of the one and inputs of the other.
std::vector<std::string> MeanNames(const MemberModel& first);

// The name that a parameter of an ensemble has in the weights of its member; "" if it is of another
// member.
std::string NameInMember(const MemberModel& member, const std::string& name);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_ENSEMBLE_MODEL_H_
