// FindNonFinite finds the operator that made the first value that is not finite. It repeats the
// runs since a known state, exactly as they were. The first run that leaves a loss or a state that
// is not finite is done a third time. In this run, all results of operators are looked at.
#ifndef CGRUN_RUN_FIND_NON_FINITE_H_
#define CGRUN_RUN_FIND_NON_FINITE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "src/base/diagnostics.h"
#include "src/run/engine.h"

namespace cgrun {

// Runs of an engine that can be done again.
class Replay {
 public:
  virtual ~Replay() = default;
  // Gives the engine the state before the first run.
  virtual void Restart() = 0;
  // Goes on to the next run, at first to the first one; false after the last.
  virtual bool Next() = 0;
  // Feeds the current run, as often as it is called; returns its entry point.
  virtual int Feed() = 0;
  // The step that the current run is part of, from 1.
  virtual int64_t step() const = 0;
};

struct NonFinite {
  enum class What { kOperator, kState };
  What what = What::kOperator;
  std::string name;    // "classify.conv2", "classify.conv2.weight"
  std::string source;  // "model.yaml:30:21"; "" for what no user wrote
  std::string parts;   // "conv, relu, max_pool": of a fused operator, one of which did it
  bool nan = false;    // else infinite
  int64_t step = 0;    // from 1; of a state 0: it was so from the start
  Phase phase = Phase::kForward;  // of the operator

  // Returns the message without its place: "classify.conv2 made the first value …".
  std::string Text() const;
  // "model.yaml:30:21: classify.conv2 made the first value that is not finite, NaN, in step 17"
  std::string Message() const;
};

// Ends a run; what() is Message().
class NonFiniteError : public UserError {
 public:
  // `file` is the model file.
  NonFiniteError(const NonFinite& found, std::shared_ptr<const SourceFile> file, std::string help);

  const std::string& text() const { return text_; }
  const SourceMark& mark() const { return mark_; }  // without a file where it has no place

 private:
  std::string text_;
  SourceMark mark_;
};

// Returns nothing where all runs stay finite. An operator that is meant to give infinities, and
// whose loss is finite, is not found: it does no harm. Takes as much host memory as the engine's
// state.
std::optional<NonFinite> FindNonFinite(Engine& engine, Replay& replay);

}  // namespace cgrun

#endif  // CGRUN_RUN_FIND_NON_FINITE_H_
