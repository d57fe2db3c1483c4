// OpDef: everything the compiler knows of an operator. Each is defined in one file of src/ops; the
// kernels know it by its id and its attribute struct alone.
#ifndef CGRUN_IR_OP_DEF_H_
#define CGRUN_IR_OP_DEF_H_

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/arena_kind.h"
#include "src/ir/graph.h"

namespace cgrun {

enum class Arity : uint8_t { kOne, kOptional, kVariadic };  // optional and variadic ones come last

struct OperandDef {
  std::string name;
  std::string doc;
  Arity arity = Arity::kOne;
  ArenaKind arena = ArenaKind::kDevice;  // the place of its bytes
};

// Gives type inference the types and attributes of one node. Dimensions may still depend on N.
class InferContext {
 public:
  // Keeps a reference to the attributes.
  InferContext(const Attributes& attributes, std::vector<TensorType> inputs)
      : attributes_(attributes), inputs_(std::move(inputs)) {}
  InferContext(const Attributes&& attributes, std::vector<TensorType> inputs) = delete;

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const TensorType& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  const Shape& shape(int i) const { return input(i).shape; }
  DType dtype(int i) const { return input(i).dtype; }
  template <class T>
  const T& attributes() const {
    return attributes_.As<T>();
  }
  const Attributes& untyped_attributes() const { return attributes_; }

  // Reports what is wrong with the node; returns {} for `return context.Fail(…)`.
  std::vector<TensorType> Fail(std::string message, std::string help = "") {
    message_ = std::move(message);
    help_ = std::move(help);
    return {};
  }
  bool failed() const { return !message_.empty(); }
  // Warns of a use that is allowed but may be a mistake. Only the writer of a model file sees it.
  void Warn(std::string warning, std::string help) {
    warning_ = std::move(warning);
    warning_help_ = std::move(help);
  }
  const std::string& message() const { return message_; }
  const std::string& help() const { return help_; }
  const std::string& warning() const { return warning_; }  // "" without one
  const std::string& warning_help() const { return warning_help_; }

 private:
  const Attributes& attributes_;
  std::vector<TensorType> inputs_;
  std::string message_, help_;
  std::string warning_, warning_help_;
};

// A tensor that an operator owns when a model file uses it: a weight, a running statistic, a
// momentum. It becomes the next input of the node.
struct OwnedTensor {
  std::string name;  // "weight": the parameter is called path.op.weight
  TensorType type;
  Role role = Role::kParameter;
  std::string init = "zeros";
  int64_t fan_in = 1;
  int64_t fan_out = 1;
  std::vector<double> init_args = {};  // of `init`: the value of "constant", say
};

// Gives a gradient function the node, the input gradients that are wanted, and a way to emit nodes.
// Implemented by src/autodiff.
class GradientContext {
 public:
  virtual ~GradientContext() = default;
  virtual const Graph& graph() const = 0;
  virtual const Node& node() const = 0;
  // The gradient with respect to output `i`; invalid where none flows.
  virtual ValueId output_gradient(int i) const = 0;
  virtual bool needs_gradient(int input) const = 0;
  // Adds a backward node and returns its outputs, or its first output. `suffix` names it.
  virtual std::vector<ValueId> EmitAll(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                                       std::string_view suffix) = 0;
  virtual void SetInputGradient(int input, ValueId gradient) = 0;

  ValueId Emit(OpId op, Attributes attributes, std::vector<ValueId> inputs,
               std::string_view suffix) {
    return EmitAll(op, std::move(attributes), std::move(inputs), suffix).at(0);
  }
  ValueId input(int i) const { return node().inputs[static_cast<size_t>(i)]; }
  ValueId output(int i) const { return node().outputs[static_cast<size_t>(i)]; }
  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  // A copy: emitting nodes moves the graph's values.
  TensorType input_type(int i) const { return graph().values[input(i)].type; }
  template <class T>
  const T& attributes() const {
    return node().attributes.As<T>();
  }
};

// A node that gives output 0 of another one a second time, to the bit.
struct RecomputeNode {
  OpId op = OpId::identity;
  Attributes attributes;
  std::vector<ValueId> inputs;  // inputs of the other node, and outputs that it keeps
};

using InferFunction = std::vector<TensorType> (*)(InferContext&);
using OwnedFunction = std::vector<OwnedTensor> (*)(InferContext&);
using GradientFunction = void (*)(GradientContext&);
using CostFunction = OpCost (*)(const NodeSignature&);
using RecomputeFunction = RecomputeNode (*)(const Node&);

// The parts that lie together in what they are parts of, of a bound node whose inputs, then
// outputs, have these layouts.
using SubBuffersFunction = std::vector<SubBufferPair> (*)(const NodeSignature&,
                                                          std::span<const Layout>);

// Says where an operator may be written in a model file.
enum class Usage : uint8_t {
  kInternal,   // emitted by the compiler alone
  kOperator,   // in `ops:`
  kLoss,       // in `loss:`
  kMetric,     // in `metrics:`
  kOptimizer,  // in `optimizer:`
};

// Says how a metric's first output, sums over the samples of a batch, becomes the result that is
// shown. The sums of batches are merged in f64 and finished together. So the result does not depend
// on the batch size.
struct MetricDef {
  // Shape of what is shown: [] one number, [n] a list, [n, m] a table; nothing where the operator
  // has no sums of shape `sums`. Null: one number of one sum.
  std::optional<Shape> (*shape)(const Attributes&, const Shape& sums) = nullptr;
  // Fills `shown`, without allocating. Null: sums / samples.
  void (*finish)(const Attributes&, std::span<const double> sums, int64_t samples,
                 std::span<double> shown) noexcept = nullptr;
  // Merges the sums of a batch into those of the batches before, which are 0 in the beginning,
  // without allocating. Null: added element by element.
  void (*merge)(std::span<const double> batch, std::span<double> sums) noexcept = nullptr;
  bool counts = false;            // whether what is shown are whole numbers
  std::string_view caption = "";  // of a list or table: what its elements or its axes are
  bool smaller_is_better = false;
};

// Says how an operator takes part if activations are kept in bf16 (src/autodiff/mixed_precision.h).
enum class Narrow : uint8_t {
  kNever,    // it computes with f32: losses, metrics, sums, functions that make rounding worse
  kResult,   // so it does, and its result is rounded
  kFollows,  // with bf16 where all that it reads is kept so; numbers of f32 stay so
  kAlways,   // with bf16: products, whose time it is for
};

// Says how output 0 keeps the numbers of input 0. A later kind has the properties of all before it.
enum class Moves : uint8_t {
  kNone,      // other numbers, as far as is known
  kWithin,    // numbers of the same range: some of the input's, or means of them
  kAnywhere,  // the input's numbers at other places; over many steps, all of them
  kInOrder,   // the input's numbers in the same order, maybe of another type
};

// Kinds of labels or ids that an operator reads, as integers from 0 to their number - 1.
enum class Labels : uint8_t {
  kNone,
  kClasses,  // in input 1: places along axis 1 of input 0, where input 1 has one axis less
  kBinary,   // in input 1: 0 and 1; floats are probabilities
  kIds,      // in input 0: as many as the attribute `id_count` says
};

// Tells the writer of a model file how to keep a result or a gradient finite. It is "" if nothing
// is known.
struct FiniteHelp {
  std::string_view forward, backward;
};

inline constexpr int kEveryInput = std::numeric_limits<int>::max();

struct OpDef {
  std::string name;     // as in op_list.inc
  std::string summary;  // one sentence
  std::string details;  // formulas, conventions, the ONNX operator it corresponds to
  Usage usage = Usage::kInternal;
  std::vector<OperandDef> inputs;
  std::vector<OperandDef> outputs;
  const AttributeSchema* schema = &NoAttributes::Schema();
  InferFunction infer = nullptr;
  OwnedFunction owned = nullptr;        // tensors owned in a model file; null: none
  GradientFunction gradient = nullptr;  // null: no gradient flows through it
  CostFunction cost = nullptr;          // null: one operation per output element
  RecomputeFunction recompute =
      nullptr;       // for rematerialisation; null: the node itself runs a second time
  MetricDef metric;  // of usage kMetric
  std::vector<InPlacePair> in_place;         // legal where both have the same bytes
  SubBuffersFunction sub_buffers = nullptr;  // operands that are parts of others; null: none
  std::vector<InPlacePair> updates;          // state input ← output, each step, when training
  Narrow narrow = Narrow::kNever;            // its part in mixed precision …
  int narrow_inputs = kEveryInput;           // … with the first so many inputs; others stay f32
  bool activation = false;   // may be named by the key `activation` of other operators
  bool commutative = false;  // the first two inputs may be exchanged, bit for bit
  bool view = false;         // output 0 is input 0 under another shape: no work
  bool needs_step = false;   // its last input is the step counter (int64 scalar)
  bool has_effect = false;   // must not be removed or merged

  // The front end, the linter and eager mode ask for these.
  Moves moves = Moves::kNone;
  bool bounded = false;            // floats of output 0 lie from -1 to 1
  bool normalises = false;         // output 0 does not depend on the scale of input 0
  bool draws_places = false;       // its draws depend on the height and width of input 0
  std::string_view units = "";     // of a layer with weights: the attribute that counts its results
  Labels labels = Labels::kNone;   // that it reads
  std::string_view id_count = "";  // of Labels::kIds: the attribute that counts the ids
  bool skips_labels = false;  // a label or id outside of their range is allowed, and not counted
  FiniteHelp finite_help;
  // Returns whether output 0 is input 0, as that of dropout outside of training. Null: never.
  bool (*idle)(const Attributes&) = nullptr;
  // The activation that a loss with these attributes applies to input 0 itself. Null: none ever.
  std::optional<OpId> (*applies)(const Attributes&) = nullptr;
};

// Returns an entry of the operator table. The table holds the built-in operators of op_list.inc,
// then those of plug-ins.
const OpDef& GetOpDef(OpId op);
std::optional<OpId> FindOp(std::string_view name);
int OpCount();
// Adds a plug-in's operator and returns its id. Fails a check if the name is taken.
OpId AddOperator(OpDef def);

// The updates of a node: OpDef::updates of its operator, in the operands of the node where that is
// the last one of a fused node.
std::vector<InPlacePair> UpdatesOf(const Node& node);

// The output types of a node; empty, and `context.failed()`, where the number of inputs, their
// types or the attributes are wrong. An operator's own inference sees attributes whose fields keep
// their ranges and choices.
std::vector<TensorType> InferTypes(OpId op, InferContext& context);

// The shape of what a metric shows of sums of type `sums`; nothing where `op` is no metric that has
// such sums.
std::optional<Shape> ShownBy(OpId op, const Attributes& attributes, const TensorType& sums);

// Returns the fault of a fused node, or "". Each operator of its body must read inputs of the node
// or earlier results, and give one result. The last operator gives the node's outputs.
std::string FaultOfFused(const NodeSignature& node);

// Returns the signatures of the operators of a fused node's body.
std::vector<NodeSignature> SignaturesInBody(const NodeSignature& node);

// Returns whether the operator takes part in swapping: bytes go between the device and the swap
// file.
bool IsTransfer(OpId op);

// Returns the arena of a value's bytes. A value that no node makes lies on the device.
ArenaKind ArenaOf(const Graph& graph, ValueId value);

// Returns the signature of a node of a graph.
NodeSignature SignatureOf(const Graph& graph, const Node& node);

}  // namespace cgrun

#endif  // CGRUN_IR_OP_DEF_H_
