// A schedule with recomputation, made from a choice for each tensor: whether it is kept for its
// late readers, or recomputed right before them.
//
// A tensor is read soon after it is made (in the forward pass), and late (in the backward pass):
// behind the longest time in which nothing reads it. A tensor that is not kept is gone in that
// time. The inputs of a recomputation are kept in their turn, or recomputed for it.
#ifndef CGRUN_BUDGET_KEPT_SCHEDULE_H_
#define CGRUN_BUDGET_KEPT_SCHEDULE_H_

#include <optional>
#include <vector>

#include "src/budget/recompute_options.h"
#include "src/ir/remat_plan.h"
#include "src/ops/target.h"
#include "src/plan/alias_model.h"

namespace cgrun {

enum class Keeping : uint8_t {
  kKept,
  kRecomputed,         // for all late readers together
  kRecomputedForEach,  // for each of them
};

class KeptSchedule {
 public:
  // All outlive it. `graph` has no recomputations.
  KeptSchedule(const Graph& graph, const Schedule& schedule, const Target& target, int threads,
               const BufferOptions& buffers);

  // The values that can be recomputed; others are kept.
  const std::vector<ValueId>& choices() const { return choices_; }
  // Makes the choices of `recomputed`, which is `graph` with recomputations behind its own nodes.
  void ChooseAsIn(const Graph& recomputed);
  Keeping Get(ValueId value) const { return keeping_[value]; }
  void Set(ValueId value, Keeping keeping) { keeping_[value] = keeping; }

  // Makes the schedule of the choices. Returns false if a recomputation would read a changed value,
  // or if all recomputations take more than `most_seconds`.
  bool Make(double most_seconds);
  // Does the same at any cost. If a recomputation would read a changed value, its results are kept.
  // Returns false if there is too much to recompute.
  bool MakePossible();
  // Finds out how much is alive at each step of the schedule that was made last.
  const std::vector<Bytes>& CountBytes() { return model_.CountBytes(runs_); }
  // The functions below describe the schedule that was made last.
  const std::vector<ValueId>& wanted() const { return wanted_; }  // late, of those to choose for
  double seconds() const { return seconds_; }                     // of what is recomputed
  size_t steps() const { return runs_.size(); }
  RematPlan Plan() const;
  // Returns the schedule of the graph that has Plan() applied.
  Schedule ScheduleOfPlan() const;

 private:
  void FindChoices(const Schedule& schedule, const Target& target, int threads);
  ValueId Provide(ValueId value, TimePoint time);
  std::optional<std::span<const ValueId>> ProvideAll(const std::vector<ValueId>& values,
                                                     TimePoint time);
  void ReadFromOneRun(const std::vector<ValueId>& values, std::span<ValueId> provided) const;
  bool IsFull(size_t more) const { return room_.size() + more > room_.capacity(); }
  bool Recompute(NodeId id, TimePoint time);
  std::vector<NodeId> IdsInPlan() const;

  const Graph& graph_;
  AliasModel model_;
  std::vector<NodeId> order_;
  IdVector<NodeId, std::optional<Recomputation>> recomputations_;
  IdVector<NodeId, NodeId> recompute_nodes_;  // of the model
  IdVector<ValueId, TimePoint> last_soon_;    // reader, or its producer
  IdVector<ValueId, bool> is_read_late_;
  IdVector<ValueId, TimePoint> changed_at_;  // of a view whose origin is a state
  IdVector<ValueId, bool> is_choice_;
  IdVector<ValueId, bool> is_wanted_;  // by the schedule that was made last
  std::vector<ValueId> choices_;
  IdVector<ValueId, Keeping> keeping_;
  // The members below describe the schedule that was made last.
  IdVector<ValueId, ValueId> recomputed_;  // its recomputed value; invalid where there is none
  IdVector<ValueId, ValueId> first_of_;    // of recomputed values, the value of the graph
  std::vector<ValueId> wanted_;
  std::vector<ValueId> for_one_;  // those that go with the node that reads them
  std::vector<NodeRun> runs_;
  std::vector<NodeId> first_runs_;  // that each of runs_ recomputes; invalid: none
  std::vector<ValueId> room_;       // in which values of runs_ lie, where the graph has others
  std::vector<ValueId> provided_;   // of the node that is looked at, behind those that wait
  double seconds_ = 0, most_seconds_ = 0;
  NodeId blocked_;  // that would read what has changed
};

}  // namespace cgrun

#endif  // CGRUN_BUDGET_KEPT_SCHEDULE_H_
