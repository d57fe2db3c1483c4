// PebbleGameOf: the values of a graph that need bytes in a step, and its operators as moves.
#include <algorithm>

#include "src/ir/op_def.h"
#include "src/ops/recompute_node.h"
#include "src/plan/cost_model.h"
#include "src/plan/liveness.h"
#include "src/plan/pebble_game.h"

namespace cgrun {
namespace {

constexpr int kNoPebble = -1;  // of what needs no bytes in a step: parameters, constants

class GameBuilder {
 public:
  explicit GameBuilder(const Graph& graph)
      : graph_(graph),
        is_updated_(graph.values.size()),
        is_next_(graph.values.size()),
        pebbles_(graph.values.size(), kNoPebble),
        may_recompute_(RecomputableNodes(graph)) {}

  std::optional<PebbleGame> Build() {
    for (const UpdateEdge& edge : graph_.updates) {
      const NodeId producer = graph_.values[edge.next].producer;
      if (!producer.valid() || IsView(graph_.nodes[producer])) return std::nullopt;
      is_updated_[edge.state] = is_next_[edge.next] = true;
    }
    for (ValueId id : graph_.values.ids()) AddPebble(id);
    for (const Output& output : graph_.outputs) AddOnce(Of(output.value), game_.last);
    for (NodeId id : graph_.nodes.ids()) {
      if (!IsView(graph_.nodes[id])) AddMoves(id);
    }
    if (game_.bytes.size() > kMostPebbles) return std::nullopt;
    return std::move(game_);
  }

 private:
  static bool IsView(const Node& node) { return GetOpDef(node.op).view; }

  static void AddOnce(int pebble, std::vector<int>& pebbles) {
    const bool is_there = std::find(pebbles.begin(), pebbles.end(), pebble) != pebbles.end();
    if (pebble != kNoPebble && !is_there) pebbles.push_back(pebble);
  }

  int NewPebble(Bytes bytes) {
    game_.bytes.push_back(bytes);
    return static_cast<int>(game_.bytes.size()) - 1;
  }

  void AddPebble(ValueId id) {
    const Value& value = graph_.values[id];
    if (value.producer.valid() && IsView(graph_.nodes[value.producer])) return;
    if (value.role == Role::kConstant) return;
    const bool is_state = IsState(value.role) && !value.producer.valid();
    if (is_state && !is_updated_[id]) return;
    // A state and its next value lie in bytes that are there in any case.
    const bool is_free = is_state || is_next_[id];
    const Bytes bytes = is_free ? 0 : graph_.BytesOf(id);
    pebbles_[id] = NewPebble(bytes);
    if (!value.producer.valid()) game_.first.push_back(pebbles_[id]);
    if (is_next_[id] && !is_updated_[id]) game_.last.push_back(pebbles_[id]);
  }

  // The pebble of a value, or of what it is a view of.
  int Of(ValueId id) const { return pebbles_[ViewedValue(graph_, id)]; }

  void AddMoves(NodeId id) {
    const Node& node = graph_.nodes[id];
    PebbleMove move;
    for (ValueId input : node.inputs) AddOnce(Of(input), move.reads);
    for (ValueId output : node.outputs) AddOnce(Of(output), move.writes);
    move.seconds = SecondsOf(graph_, node);
    if (node.kernel) {
      move.workspace = node.kernel->workspace_bytes;
      AddSlides(node, move);
    }
    for (const UpdateEdge& edge : graph_.updates) {
      const bool is_made = graph_.values[edge.next].producer == id;
      if (is_made && pebbles_[edge.state] != kNoPebble) move.takes.push_back(pebbles_[edge.state]);
    }
    for (int taken : move.takes) AddOnce(taken, move.reads);
    move.once = !may_recompute_[id];
    if (move.once) move.writes.push_back(NewPebble(0));  // says that it has run
    const bool can_run_again = !move.once;
    game_.moves.push_back(std::move(move));
    if (can_run_again) AddRecomputed(node);
  }

  // Adds a cheaper move, if there is one, for a recomputation that makes the first output alone.
  void AddRecomputed(const Node& node) {
    const RecomputeNode recompute = RecomputeNodeOf(node);
    if (recompute.op == node.op) return;
    PebbleMove move;
    for (ValueId input : recompute.inputs) AddOnce(Of(input), move.reads);
    AddOnce(Of(node.outputs[0]), move.writes);
    move.seconds = SecondsToMove(SignatureOfRecompute(graph_, node, recompute));
    game_.moves.push_back(std::move(move));
  }

  void AddSlides(const Node& node, PebbleMove& move) const {
    for (const InPlacePair& pair : node.kernel->in_place) {
      const auto from = static_cast<size_t>(pair.input), to = static_cast<size_t>(pair.output);
      if (from >= node.inputs.size() || to >= node.outputs.size()) continue;
      const PebbleMove::Slide slide{Of(node.inputs[from]), Of(node.outputs[to])};
      if (slide.from == kNoPebble || slide.to == kNoPebble) continue;
      const bool is_taken =
          std::any_of(move.slides.begin(), move.slides.end(), [&](const PebbleMove::Slide& other) {
            return other.from == slide.from || other.to == slide.to;
          });
      const Bytes bytes = game_.bytes[static_cast<size_t>(slide.from)];
      const bool fits = bytes > 0 && bytes == game_.bytes[static_cast<size_t>(slide.to)];
      if (fits && !is_taken) move.slides.push_back(slide);
    }
  }

  const Graph& graph_;
  IdVector<ValueId, bool> is_updated_;  // of states, and of what lies in their bytes
  IdVector<ValueId, bool> is_next_;
  IdVector<ValueId, int> pebbles_;
  IdVector<NodeId, bool> may_recompute_;
  PebbleGame game_;
};

}  // namespace

std::optional<PebbleGame> PebbleGameOf(const Graph& graph) { return GameBuilder(graph).Build(); }

}  // namespace cgrun
