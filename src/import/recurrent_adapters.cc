// Imports LSTM, GRU and RNN with constant weights. The steps of a sequence become operators each,
// which share one `parameter` for the state's weights; the inputs of all steps are multiplied at
// once.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

constexpr int64_t kMostSteps = 1024;

// Rows [begin, end) of a matrix, or elements of a vector.
HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end) {
  std::vector<int64_t> sizes = tensor.shape().Sizes();
  const int64_t row = tensor.elements() / sizes[0];
  sizes[0] = end - begin;
  HostTensor rows(tensor.dtype(), Shape::Of(sizes));
  const auto bytes = static_cast<size_t>(row * SizeOf(tensor.dtype()));
  std::ranges::copy(tensor.bytes().subspan(static_cast<size_t>(begin) * bytes, rows.bytes().size()),
                    rows.bytes().begin());
  return rows;
}

// The three operators have this in common: their inputs, and how states become outputs.
class Cell {
 public:
  Cell(NodeContext& node, int64_t gates, std::vector<std::string> activations)
      : node_(node), x_(node.ShapeOf(0)), gates_(gates) {
    if (x_.rank() != 3) node.Fail("reads " + x_.ToString() + ", which is no stack of sequences");
    node.Only("layout", 0);
    node.Only("input_forget", 0);
    if (node.Real("clip", 0) != 0) node.FailAttribute("clip", "is not supported");
    node.RefuseBatch(0, 0, "goes along");
    const std::string direction = node.Text("direction", "forward");
    if (direction != "reverse") reversed_.push_back(false);
    if (direction != "forward") reversed_.push_back(true);
    if (reversed_.size() == 1 && direction != "reverse" && direction != "forward") {
      node.FailAttribute("direction", "is '" + onnx::Shown(direction) + "', which is not known");
    }
    CheckActivations(activations);
    const std::vector<int64_t>& weight = node.ConstantInput(2).dims;
    if (weight.size() != 3 || weight[2] < 1) node.Fail("has weights R of a wrong shape");
    hidden_ = node.Int("hidden_size", weight[2]);
    CheckSizes();
    CheckLengths();
  }

  int64_t steps() const { return x_[0].size; }
  int64_t hidden() const { return hidden_; }
  int directions() const { return static_cast<int>(reversed_.size()); }
  // The time of step `i` in a direction.
  int64_t TimeOf(int direction, int64_t i) const {
    return reversed_[static_cast<size_t>(direction)] ? steps() - 1 - i : i;
  }

  // The part of a constant input that a direction has, without the axis of directions.
  HostTensor PartOf(int input, int direction) {
    const std::optional<HostTensor> all = HostOf(node_.ConstantInput(input), node_.state().file);
    if (!all || !IsFloat(all->dtype())) node_.Fail("has weights that are no floats");
    const HostTensor rows = Rows(*all, direction, direction + 1);
    std::vector<int64_t> sizes = rows.shape().Sizes();
    sizes.erase(sizes.begin());
    HostTensor part(rows.dtype(), Shape::Of(sizes));
    std::ranges::copy(rows.bytes(), part.bytes().begin());
    return part;
  }

  // Biases of the input and of the state, [2·gates·hidden]; zeros where the node has none.
  HostTensor Biases(int direction) {
    if (node_.Has(3)) return PartOf(3, direction);
    return HostTensor(node_.TypeOf(0).dtype, Shape{2 * gates_ * hidden_});
  }

  // x·Wᵀ + bias of all steps, [steps, N, gates·hidden].
  NetworkValue Projected(int direction, HostTensor bias) {
    Weight weight{"weight", ConstantOf(PartOf(1, direction))};
    Weight shift{"bias", ConstantOf(std::move(bias))};
    return node_.Emit("linear", {{node_.Value(0), ""}}, {KeyOf("units", gates_ * hidden_)},
                      {std::move(weight), std::move(shift)}, "inputs" + std::to_string(direction));
  }

  NetworkValue Parameter(HostTensor tensor, const std::string& part) {
    return node_.EmitParameter(ConstantOf(std::move(tensor)), part);
  }

  // Returns the state of a direction before its first step, [N, hidden]; nothing for zeros.
  std::optional<NetworkValue> InitialState(int input, int direction) {
    if (!node_.Has(input) || IsZero(input)) return std::nullopt;
    return Matrix(Slice(node_.Value(input), 0, direction, direction + 1));
  }

  // Takes element `time` of the first axis, as a matrix.
  NetworkValue At(const NetworkValue& sequence, int64_t time) {
    return steps() == 1 ? Matrix(sequence) : Matrix(Slice(sequence, 0, time, time + 1));
  }
  // Takes `count` gates from `gate` on, which lie side by side.
  NetworkValue Gate(const NetworkValue& gates, int64_t gate, int64_t count = 1) {
    return Slice(gates, 1, gate * hidden_, (gate + count) * hidden_);
  }
  NetworkValue Product(const NetworkValue& state, const NetworkValue& weight) {
    return node_.Emit("matmul", {{state, ""}, {weight, ""}}, {KeyOf("transpose_b", true)}, {},
                      "state");
  }
  NetworkValue Unary(const std::string& op, const NetworkValue& x) {
    return node_.Emit(op, {{x, ""}}, {}, {}, op);
  }
  NetworkValue Binary(const std::string& op, const NetworkValue& a, const NetworkValue& b) {
    return node_.Emit(op, {{a, ""}, {b, ""}}, {}, {}, op);
  }
  NetworkValue OneMinus(const NetworkValue& x) {
    return node_.Emit("sub", {{{}, "1"}, {x, ""}}, {}, {}, "rest");
  }

  bool Wants(int output) const {
    return static_cast<size_t>(output) < node_.node().outputs.size() &&
           !node_.node().outputs[static_cast<size_t>(output)].empty();
  }

  // Sets output 0, [steps, directions, N, hidden], of the states of each direction by time.
  void SetSequence(const std::vector<std::vector<NetworkValue>>& states) {
    if (!Wants(0)) return;
    std::vector<NetworkValue> times;
    for (int64_t time = 0; time < steps(); ++time) {
      std::vector<NetworkValue> sides;
      for (const std::vector<NetworkValue>& side : states) {
        sides.push_back(WithAxes(side[static_cast<size_t>(time)], 2));
      }
      times.push_back(Joined(sides, 2));
    }
    Set(0, Joined(times, 1), {1, 2, 0, 3});
  }

  // Sets an output [directions, N, hidden] of the last states.
  void SetLast(int output, const std::vector<NetworkValue>& states) {
    if (!Wants(output)) return;
    std::vector<NetworkValue> sides;
    for (const NetworkValue& state : states) sides.push_back(WithAxes(state, 1));
    Set(output, Joined(sides, 1), {1, 0, 2});
  }

 private:
  void CheckActivations(const std::vector<std::string>& wanted) {
    node_.Ignore("activations");
    node_.Ignore("activation_alpha");
    node_.Ignore("activation_beta");
    for (const onnx::Attribute& attribute : node_.node().attributes) {
      if (attribute.name != "activations") continue;
      for (size_t i = 0; i < attribute.strings.size(); ++i) {
        if (attribute.strings[i] == wanted[i % wanted.size()]) continue;
        node_.FailAttribute("activations", "are others than the usual ones");
      }
    }
  }

  void CheckSizes() {
    const int64_t sides = directions(), rows = gates_ * hidden_;
    const auto is = [&](int input, const std::vector<int64_t>& dims) {
      if (node_.ConstantInput(input).dims == dims) return;
      node_.Fail("its input " + std::to_string(input) + " is " +
                 Shape::Of(node_.ConstantInput(input).dims).ToString() + ", and " +
                 Shape::Of(dims).ToString() + " is wanted");
    };
    if (hidden_ < 1 || hidden_ > (1 << 24)) node_.FailAttribute("hidden_size", "is out of range");
    is(1, {sides, rows, x_[2].size});
    is(2, {sides, rows, hidden_});
    if (node_.Has(3)) is(3, {sides, 2 * rows});
    if (node_.Has(7)) node_.Fail("has peepholes, which are not supported");
    if (steps() > kMostSteps) node_.Fail("has more than 1,024 steps");
  }

  // Sequences that end before the others are not supported.
  void CheckLengths() {
    if (!node_.Has(4)) return;
    for (const int64_t length : node_.Integers(4)) {
      if (length != steps()) node_.Fail("has sequences of several lengths");
    }
  }

  bool IsZero(int input) {
    if (!node_.IsConstant(input)) return false;
    const std::optional<HostTensor> state = HostOf(node_.ConstantInput(input), node_.state().file);
    if (!state) return false;
    for (int64_t i = 0; i < state->elements(); ++i) {
      if (state->At(i) != 0) return false;
    }
    return true;
  }

  NetworkValue Slice(const NetworkValue& x, int64_t axis, int64_t begin, int64_t end) {
    return node_.Emit(
        "slice", {{x, ""}},
        {KeyOfList("axes", {axis}), KeyOfList("starts", {begin}), KeyOfList("ends", {end})}, {},
        "part");
  }
  // [1, N, k] as [N, k]
  NetworkValue Matrix(const NetworkValue& x) {
    const Shape shape = node_.TypeOf(x).shape;
    return node_.EmitReshape(x, {shape[1], shape[2]}, "matrix");
  }
  // [N, k] as [N, 1, …, k]
  NetworkValue WithAxes(const NetworkValue& x, size_t count) {
    const Shape shape = node_.TypeOf(x).shape;
    std::vector<Dim> dims = {shape[0]};
    dims.insert(dims.end(), count, Dim(1));
    dims.push_back(shape[1]);
    return node_.EmitReshape(x, dims, "row");
  }
  NetworkValue Joined(const std::vector<NetworkValue>& parts, int64_t axis) {
    if (parts.size() == 1) return parts[0];
    std::vector<Network::Input> inputs;
    for (const NetworkValue& part : parts) inputs.push_back({part, ""});
    return node_.Emit("concat", inputs, {KeyOf("axis", axis)}, {}, "all");
  }
  void Set(int output, const NetworkValue& x, const std::vector<int64_t>& perm) {
    node_.Set(output, {{},
                       node_.Emit("transpose", {{x, ""}}, {KeyOfList("perm", perm)}, {},
                                  "output" + std::to_string(output))});
  }

  NodeContext& node_;
  Shape x_;  // [steps, N, features]
  int64_t gates_, hidden_ = 0;
  std::vector<bool> reversed_;  // of each direction
};

// Adds the biases of the input and of the state, from element `begin` of those on.
void AddStateBias(HostTensor& bias, const HostTensor& both, int64_t begin, int64_t end) {
  const int64_t rows = both.elements() / 2;
  for (int64_t i = begin; i < end; ++i) bias.Set(i, both.At(i) + both.At(rows + i));
}

using States = std::vector<NetworkValue>;

// The gates are i, o, f and c.
void Lstm(NodeContext& node, const Adapter&) {
  Cell cell(node, 4, {"Sigmoid", "Tanh", "Tanh"});
  const int64_t steps = cell.steps();
  std::vector<States> all;
  States last, memories;
  for (int side = 0; side < cell.directions(); ++side) {
    const HostTensor both = cell.Biases(side);
    HostTensor bias = Rows(both, 0, both.elements() / 2);
    AddStateBias(bias, both, 0, bias.elements());
    const NetworkValue projected = cell.Projected(side, std::move(bias));
    std::optional<NetworkValue> h = cell.InitialState(5, side), c = cell.InitialState(6, side);
    NetworkValue weight;
    if (h || steps > 1) weight = cell.Parameter(cell.PartOf(2, side), "R" + std::to_string(side));
    States states(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t time = cell.TimeOf(side, i);
      NetworkValue gates = cell.At(projected, time);
      if (h) gates = cell.Binary("add", gates, cell.Product(*h, weight));
      const NetworkValue input = cell.Unary("sigmoid", cell.Gate(gates, 0));
      NetworkValue next = cell.Binary("mul", input, cell.Unary("tanh", cell.Gate(gates, 3)));
      if (c) {
        const NetworkValue forget = cell.Unary("sigmoid", cell.Gate(gates, 2));
        next = cell.Binary("add", cell.Binary("mul", forget, *c), next);
      }
      const NetworkValue output = cell.Unary("sigmoid", cell.Gate(gates, 1));
      c = next;
      h = cell.Binary("mul", output, cell.Unary("tanh", next));
      states[static_cast<size_t>(time)] = *h;
    }
    all.push_back(std::move(states));
    last.push_back(*h);
    memories.push_back(*c);
  }
  cell.SetSequence(all);
  cell.SetLast(1, last);
  cell.SetLast(2, memories);
}

// The gates are z, r and h. With `linear_before_reset`, r multiplies what the state gives with its
// bias, else the state.
void Gru(NodeContext& node, const Adapter&) {
  const bool resets_product = node.Int("linear_before_reset", 0) != 0;
  Cell cell(node, 3, {"Sigmoid", "Tanh"});
  const int64_t steps = cell.steps(), hidden = cell.hidden();
  std::vector<States> all;
  States last;
  for (int side = 0; side < cell.directions(); ++side) {
    const HostTensor both = cell.Biases(side), recurrent = cell.PartOf(2, side);
    const std::string name = std::to_string(side);
    HostTensor bias = Rows(both, 0, 3 * hidden);
    AddStateBias(bias, both, 0, resets_product ? 2 * hidden : 3 * hidden);
    const NetworkValue projected = cell.Projected(side, std::move(bias));
    std::optional<NetworkValue> h = cell.InitialState(5, side);
    NetworkValue gate_weight, weight, shift;
    if (h || steps > 1) {
      gate_weight = cell.Parameter(Rows(recurrent, 0, 2 * hidden), "R" + name);
      weight = cell.Parameter(Rows(recurrent, 2 * hidden, 3 * hidden), "Rh" + name);
    }
    if (resets_product) {
      shift = cell.Parameter(Rows(both, 5 * hidden, 6 * hidden), "Rbh" + name);
    }
    States states(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t time = cell.TimeOf(side, i);
      const NetworkValue inputs = cell.At(projected, time);
      NetworkValue gates = cell.Gate(inputs, 0, 2);
      if (h) gates = cell.Binary("add", gates, cell.Product(*h, gate_weight));
      gates = cell.Unary("sigmoid", gates);
      const NetworkValue z = cell.Gate(gates, 0), r = cell.Gate(gates, 1);
      NetworkValue candidate = cell.Gate(inputs, 2);
      if (resets_product) {
        NetworkValue product = shift;
        if (h) product = cell.Binary("add", cell.Product(*h, weight), shift);
        candidate = cell.Binary("add", candidate, cell.Binary("mul", r, product));
      } else if (h) {
        candidate = cell.Binary("add", candidate, cell.Product(cell.Binary("mul", r, *h), weight));
      }
      NetworkValue next = cell.Binary("mul", cell.OneMinus(z), cell.Unary("tanh", candidate));
      if (h) next = cell.Binary("add", next, cell.Binary("mul", z, *h));
      h = next;
      states[static_cast<size_t>(time)] = next;
    }
    all.push_back(std::move(states));
    last.push_back(*h);
  }
  cell.SetSequence(all);
  cell.SetLast(1, last);
}

void Rnn(NodeContext& node, const Adapter&) {
  Cell cell(node, 1, {"Tanh"});
  std::vector<States> all;
  States last;
  for (int side = 0; side < cell.directions(); ++side) {
    const HostTensor both = cell.Biases(side);
    HostTensor bias = Rows(both, 0, cell.hidden());
    AddStateBias(bias, both, 0, cell.hidden());
    const NetworkValue projected = cell.Projected(side, std::move(bias));
    std::optional<NetworkValue> h = cell.InitialState(5, side);
    NetworkValue weight;
    if (h || cell.steps() > 1) {
      weight = cell.Parameter(cell.PartOf(2, side), "R" + std::to_string(side));
    }
    States states(static_cast<size_t>(cell.steps()));
    for (int64_t i = 0; i < cell.steps(); ++i) {
      const int64_t time = cell.TimeOf(side, i);
      NetworkValue sum = cell.At(projected, time);
      if (h) sum = cell.Binary("add", sum, cell.Product(*h, weight));
      h = cell.Unary("tanh", sum);
      states[static_cast<size_t>(time)] = *h;
    }
    all.push_back(std::move(states));
    last.push_back(*h);
  }
  cell.SetSequence(all);
  cell.SetLast(1, last);
}

constexpr Adapter kRecurrent[] = {
    {"GRU", Gru, "", 6},
    {"LSTM", Lstm, "", 8},
    {"RNN", Rnn, "", 6},
};

}  // namespace

std::span<const Adapter> RecurrentAdapters() { return kRecurrent; }

}  // namespace cgrun
