#include "src/cli/bench_view.h"

#include <unistd.h>

#include "src/cli/console.h"
#include "src/report/table.h"

namespace cgrun {

BenchView::BenchView(const ProfileFlags& profile, int threads)
    : profile_(profile),
      threads_(threads),
      progress_(stderr, IsTerminal(STDERR_FILENO), ColorOnStderr()),
      quiet_(Quiet()),
      terminal_(IsTerminal(STDERR_FILENO)) {}

void BenchView::OnStart(const std::vector<BenchCase>& cases) {
  if (terminal_) return;
  Tell("bench: measuring " + FormatCount(static_cast<int64_t>(cases.size()), "case") + " …");
}

void BenchView::OnCase(const std::string& name, int64_t done, int64_t total) {
  if (quiet_ || !terminal_) return;
  if (done == 0) begin_ = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  Progress progress;
  progress.label = name.c_str();
  progress.done = done;
  progress.total = total;
  progress.samples_per_second = -1;
  if (done > 0) {
    progress.eta_seconds =
        since.count() / static_cast<double>(done) * static_cast<double>(total - done);
  }
  progress_.Show(progress);
}

void BenchView::OnProfile(const std::string& name, const Engine& engine,
                          const OperatorTimes& times) {
  if (!ceilings_) ceilings_ = MeasureCeilings(engine, threads_);
  profiles_ += "\n" + name + "\n" + ShowProfile(profile_, engine, times, *ceilings_);
  if (WantsJson()) objects_[name] = ProfileObject(engine, times, *ceilings_);
}

}  // namespace cgrun
