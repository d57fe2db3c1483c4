// A small model on synthetic data, and runs of it: what the tests of sessions share.
#ifndef CGRUN_TESTS_SESSION_SESSION_TESTING_H_
#define CGRUN_TESTS_SESSION_SESSION_TESTING_H_

#include <string>
#include <vector>

#include "src/session/session.h"

namespace cgrun {

// 1065 training and 230 test samples in 4 classes, 2 epochs at batch 100; `overrides` as --set
// takes them.
ModelSpec SmallModel(const std::vector<std::string>& overrides = {});
// A model file's text as `small.yaml`; it must be right.
ModelSpec ModelOf(const std::string& text, const std::vector<std::string>& overrides = {});

// A whole run. `folder`: where it leaves its files; empty: nowhere.
TrainResult TrainModel(const ModelSpec& model, const SessionOptions& options = {},
                       const std::string& folder = "");
// A run, and what of its first entry point was planned; nothing is planned in eager mode.
struct PlannedOutcome {
  uint64_t weights_hash = 0;
  int64_t arena_bytes = 0;
  std::vector<std::string> kernels;
  int64_t in_streams = 0;  // instructions
};
PlannedOutcome TrainPlanned(const ModelSpec& model, const SessionOptions& options);
// Returns the errors of a session of this model, or "" if it is ready.
std::string SessionErrors(const ModelSpec& model, bool train = true);

// A new, empty folder of the test that runs.
std::string FreshFolder();
std::string ReadText(const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_TESTS_SESSION_SESSION_TESTING_H_
