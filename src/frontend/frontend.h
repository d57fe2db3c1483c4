// The front end: a ModelSpec becomes the forward graph of an entry point. BuildForward() is the
// entry point; it reports all that is wrong with the operators, their attributes and their shapes.
#ifndef CGRUN_FRONTEND_FRONTEND_H_
#define CGRUN_FRONTEND_FRONTEND_H_

#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

struct FrontendOptions {
  EntryKind kind = EntryKind::kTrain;
  DType precision = DType::kF32;  // of what `normalize` and `cast` make without being told
};

// These values are named by `keep` of a model file and do not become outputs of the graph.
struct Kept {
  struct Item {
    std::string name;  // as in the file
    ValueId value;
    SourceMark mark;
    std::string path = {};  // of a gradient: whose loss, where the file says that
  };
  std::vector<Item> gradients;  // of these values, which are parameters or others
  std::vector<Item> states;     // parameters and statistics: read after the step
};

// Builds the graph with symbolic batch. Outputs are the losses and metrics of a train or eval
// graph, or the predictions of a predict graph. Parameters are called path.op.weight
// (network.op.weight inside a network, whose uses share them). Returns nothing after an error. With
// `kept`, the values that the file keeps are outputs too, of OutputKind::kKept, with the names that
// the file gives them; `kept` takes the rest.
std::optional<Graph> BuildForward(const ModelSpec& model, const FrontendOptions& options,
                                  Diagnostics& diagnostics, Kept* kept = nullptr);

// Returns the name of an input's recurrent state in the graph of a kind: "h" in training, ".eval.h"
// in evaluations. The names differ so that the two do not disturb each other.
std::string StateName(const std::string& input, EntryKind kind);

// The number type that the file computes with. bf16 is one of activations alone, and tf32 one of
// factors: f32.
DType PrecisionOf(const ModelSpec& model);

// Reports what the file asks for and this version does not do.
void CheckSupported(const ModelSpec& model, Diagnostics& diagnostics);

// The keys that every operator of a model file takes beside its attributes.
const std::vector<std::string>& CommonKeys();

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_FRONTEND_H_
