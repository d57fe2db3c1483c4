// A model file as plain data: what LoadModelFile() returns and the frontend, the loader and the
// trainer read. Every value has its place in the file; operators' attributes are left as they
// stand.
#ifndef CGRUN_MODEL_MODEL_SPEC_H_
#define CGRUN_MODEL_MODEL_SPEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/shape.h"
#include "src/model/tree.h"

namespace cgrun {

// A value and its place. A default that no user wrote has a mark without a file.
template <class T>
struct Marked {
  T value{};
  SourceMark mark;
};

using MarkedText = Marked<std::string>;

// An attribute of an operator, or an option of a data set: `key` with a value of any kind.
using Attribute = TreeEntry;

// A place where a block is used; `outer` is the use that this one stands in, or null.
struct BlockUse {
  std::string block;
  SourceMark mark;
  std::shared_ptr<const BlockUse> outer;
};

// "in block 'bottleneck', used in line 30"; "" for null. For the help of an error in a block's
// body.
std::string UseNote(const BlockUse* use);

// Describes one item of `ops:`, a loss, a metric or an optimizer.
struct OpSpec {
  enum class Kind { kOperator, kBlock, kNetwork, kGradient };

  Kind kind = Kind::kOperator;
  std::optional<MarkedText> name;  // of its first output, where the file gives one
  MarkedText target;               // the operator, block or network; the value of kGradient
  // Names of values, and numbers in an operator; without `in:` empty, which stands for the previous
  // output, or in the first operator of a network or block for that one's inputs.
  std::vector<MarkedText> in;
  std::vector<Attribute> attributes;  // kOperator: all keys but the structural ones
  SourceMark mark;
  std::shared_ptr<const BlockUse> use;  // the block's use whose body this stands in, or null
  bool broken = false;  // errors of it were reported: nothing is known of its outputs

  // Names that are unique in the scope: `name`, or the target with a count ("linear[1]"). One for
  // each repetition of a block ("stage[0]", "stage[1]"; "stage" where it is used once).
  std::vector<std::string> labels;

  // kBlock: how often it is used in a row, each use's first input being the output before it and
  // its other inputs those of the first use; the arguments; and the body, with these put in.
  int64_t repeat = 1;
  std::vector<Attribute> arguments;
  std::vector<MarkedText> body_in;   // the names that the body has for the inputs
  std::vector<MarkedText> body_out;  // the body's outputs; empty: its last output
  std::vector<OpSpec> body;

  // kBlock, kNetwork: names of the outputs, in their order; the first is `name`. Empty without
  // `out:`.
  std::vector<MarkedText> out;
  // kNetwork: the axis of its first input along which it is used once for every index.
  std::optional<Marked<int64_t>> unroll;
};

// All names that an item gives to its outputs.
std::vector<MarkedText> OutputNames(const OpSpec& op);

// Returns the names of inputs, networks, blocks or paths.
template <class Spec>
std::vector<std::string> NamesOf(const std::vector<Spec>& specs) {
  std::vector<std::string> names;
  for (const Spec& spec : specs) names.push_back(spec.name.value);
  return names;
}

// Describes one placeholder of `inputs:`.
struct InputSpec {
  MarkedText name;
  Marked<DType> type{DType::kF32, {}};
  Marked<Shape> shape;           // without the batch axis
  Marked<bool> batch{true, {}};  // whether it has that axis
  SourceMark mark;
  bool broken = false;  // errors of it were reported: its type is not known
};

// One of `data: {train, valid, test}`. Either `format` or `split` is there.
struct DataSpec {
  std::optional<MarkedText> format;
  std::optional<Marked<double>>
      split;                       // the part of the training data that is kept for this, in (0, 1)
  std::vector<Attribute> options;  // all other keys
  SourceMark mark;
};

struct DataSection {
  std::optional<DataSpec> train;
  std::optional<DataSpec> valid;
  std::optional<DataSpec> test;
  std::optional<MarkedText> group_by;  // a column: rows with the same value have their own model
  SourceMark mark;
  // No part of the file: whether decoded samples lie in files where they can, as a cap is too small
  // for them.
  bool streams = false;
};

// `onnx: FILE` of a network: a model of ONNX whose operators and initial weights are the network's.
struct OnnxSource {
  MarkedText file;                  // relative to the model file
  std::vector<MarkedText> outputs;  // values of the file where it is cut; empty: its own outputs
  std::vector<std::pair<MarkedText, int64_t>> dims;  // sizes of its named dimensions
  std::vector<Attribute> constants;                  // values of its inputs
  // Patterns of names of tensors; `train` counts where both match.
  std::vector<MarkedText> frozen, train;
};

// `networks:`, a sub-graph that owns its parameters.
struct NetworkSpec {
  MarkedText name;
  std::vector<MarkedText> in;
  std::vector<MarkedText> out;  // empty: the last output
  std::vector<OpSpec> ops;      // empty with `onnx`, if nobody has expanded it
  std::optional<OnnxSource> onnx;
  SourceMark mark;
};

struct ParameterSpec {
  MarkedText name;
  std::optional<TreeNode> fallback;  // without one, every use must give a value
};

// `blocks:`, a template. `body` still holds its `${…}`; `ops` is the same read as operators,
// without labels and bodies. Uses hold the expanded operators.
struct BlockSpec {
  MarkedText name;
  std::vector<ParameterSpec> params;
  std::vector<MarkedText> in;
  std::vector<MarkedText> out;  // empty: the last output
  TreeNode body;
  std::vector<OpSpec> ops;
  SourceMark mark;
};

struct MetricSpec {
  MarkedText name;
  OpSpec op;  // the operator is the metric's name where the file gives none
};

// One of the losses that a path makes small together.
struct LossSpec {
  OpSpec op;
  Marked<double> weight{1, {}};
};

// Describes a path of `paths:`, a sequence of operators with a mode.
struct PathSpec {
  MarkedText name;
  Marked<bool> backprop{true, {}};  // else: forward
  std::vector<OpSpec> ops;
  std::vector<LossSpec> losses;  // the path's loss is their weighted sum
  std::vector<MetricSpec> metrics;
  std::optional<OpSpec> optimizer;             // instead of the one of `train:`
  std::optional<Marked<double>> clip_weights;  // the largest size of what it trains
  std::vector<MarkedText> trains;              // networks and paths; empty: whatever the path uses
  std::vector<MarkedText> out;                 // the results of `predict`; empty: the last output
  SourceMark mark;
};

struct BatchSize {
  bool automatic = false;  // then `size` is the default, until a size is found
  int64_t size = 32;       // at least 1
};

struct ClipSpec {
  std::optional<Marked<double>> norm;   // of all gradients together
  std::optional<Marked<double>> value;  // of each element
};

struct EarlyStopSpec {
  MarkedText metric;
  Marked<int64_t> patience;  // evaluations
};

// Describes an item of `train: {sequence: …}`.
struct StepSpec {
  MarkedText path;
  int64_t count = 1;
};

// `swap` names pinned memory of the host so, on a device with memory of its own. (A folder of that
// name is `./host`.)
inline constexpr std::string_view kSwapToHost = "host";

struct TrainSpec {
  // At most one of the three is set. If none is, the caller decides.
  std::optional<Marked<int64_t>> epochs;
  std::optional<Marked<int64_t>> steps;
  std::optional<Marked<double>> seconds;  // `time`
  Marked<BatchSize> batch;
  std::optional<Marked<int64_t>> memory;     // bytes
  std::optional<MarkedText> swap;            // a folder, relative to the model file; kSwapToHost
  Marked<std::string> precision{"f32", {}};  // f32, f64, bf16, f16, tf32
  std::optional<OpSpec> optimizer;
  Marked<int64_t> accumulate{1, {}};
  std::optional<ClipSpec> clip;
  std::optional<Marked<int64_t>> eval_every;        // steps; else: every epoch
  std::optional<Marked<int64_t>> checkpoint_every;  // steps; else: every epoch
  std::optional<Marked<int64_t>> keep_last;         // checkpoints; else: three, and step 0
  std::optional<EarlyStopSpec> early_stop;
  std::optional<MarkedText> keep_best;
  Marked<int64_t> seed{0, {}};
  std::optional<Marked<bool>> shuffle;      // else: unless states go on from step to step
  Marked<std::string> order{"memory", {}};  // serial, bfs, dfs, least_peak, memory
  std::vector<StepSpec> sequence;           // empty: all paths in the file's order, once
  SourceMark mark;
};

// `update: {h_next: h}`: the placeholder `state` takes the value `value` after each step.
struct StateUpdate {
  MarkedText value;
  MarkedText state;
};

// Gives tensors in a file of weights the names of the model: `rename: {layer1.*.w: block[*].w}`.
struct RenameRule {
  MarkedText pattern;              // `*` stands for any characters
  std::optional<MarkedText> name;  // has at most as many `*`; without one the tensor is left out
};

// `gan:`. Stands for two paths: see ExpandGan().
struct GanSpec {
  MarkedText generator, discriminator;  // networks
  TreeNode latent;                      // an operator
  MarkedText real;
  Marked<std::string> loss{"non_saturating", {}};  // least_squares, wasserstein
  std::optional<TreeNode> clip, gradient_penalty;  // numbers
  bool has_steps = false;
  SourceMark steps_mark;
  int64_t discriminator_steps = 1, generator_steps = 1;
  std::optional<TreeNode> discriminator_optimizer, generator_optimizer;
  bool complete = false;  // nothing was wrong
  SourceMark mark;
};

struct ModelSpec {
  std::string file_name;  // as the user gave it
  Marked<int64_t> version;
  MarkedText name;                         // default: the file's name without its ending
  Marked<std::string> device{"auto", {}};  // reference, blas, cpu, cuda, cuda:N, auto
  std::optional<DataSection> data;
  std::vector<InputSpec> inputs;
  std::vector<NetworkSpec> networks;
  std::vector<BlockSpec> blocks;
  std::vector<PathSpec> paths;
  std::optional<TrainSpec> train;
  std::vector<StateUpdate> update;
  std::vector<MarkedText> keep;             // "fc1.w", "grad(fc1.w)"
  Marked<std::string> zones{"shared", {}};  // shared, separate
  Marked<bool> inexact{false, {}};
  std::optional<MarkedText> weights;  // a file; relative to the model file
  std::vector<RenameRule> rename;     // of tensors in it, and in files of the flag `--weights`
  std::optional<GanSpec> gan;
  std::vector<MarkedText> plugins;  // files; relative to the model file
  TreeNode tree;                    // the whole file, with the overrides
  // No part of the file: a safetensors file with the initial values of networks with `onnx`, for a
  // run that begins; or "".
  std::string initial_weights = {};
  // Set if the file has errors: an absent part may stand where the file could not be read.
  bool incomplete = false;
};

// Returns whether an input is recurrent state: no data feeds it, a step leaves it for the next one.
bool IsCarried(const ModelSpec& model, const std::string& input);

}  // namespace cgrun

#endif  // CGRUN_MODEL_MODEL_SPEC_H_
