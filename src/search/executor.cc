#include "src/search/executor.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/base/json_text.h"
#include "src/fit/child_process.h"

namespace cgrun {
namespace {

// One unit at a time, which runs when it is waited for.
class HereExecutor final : public Executor {
 public:
  HereExecutor(TrialRunner& runner, const RunSignals& signals)
      : runner_(runner), signals_(signals) {}

  int jobs() const override { return 1; }
  int running() const override { return unit_ ? 1 : 0; }
  void Start(const Unit& unit) override { unit_ = unit; }
  UnitResult Wait() override {
    const UnitResult result = runner_.Run(*unit_, signals_);
    unit_.reset();
    return result;
  }

 private:
  TrialRunner& runner_;
  const RunSignals signals_;
  std::optional<Unit> unit_;
};

constexpr int kMilliseconds = 200;  // between two looks at the signals

// Sends a line. Returns false if the other end is gone.
bool SendLine(int file, std::string line) {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t sent = send(file, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) left.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Receives a line without its end; nothing if the other end is gone.
std::optional<std::string> ReceiveLine(int file) {
  std::string line;
  std::array<char, 4096> part{};
  while (line.empty() || line.back() != '\n') {
    const ssize_t size = recv(file, part.data(), part.size(), 0);
    if (size == 0 || (size < 0 && errno != EINTR)) return std::nullopt;
    if (size > 0) line.append(part.data(), static_cast<size_t>(size));
  }
  line.pop_back();
  return line;
}

// Runs the units that a worker gets, until no other one can come.
void WorkFor(int file, TrialRunner& runner, int64_t heap_bytes, const RunSignals& signals) {
  runner.KeepHeap(heap_bytes);
  while (const auto line = ReceiveLine(file)) {
    const UnitResult result = runner.Run(ParseJson(*line).get<Unit>(), signals);
    if (!SendLine(file, JsonText(nlohmann::json(result)))) return;
  }
}

class WorkersExecutor final : public Executor {
 public:
  WorkersExecutor(TrialRunner& runner, int jobs, int64_t heap_bytes, const RunSignals& signals)
      : runner_(runner), heap_bytes_(heap_bytes), signals_(signals) {
    for (int i = 0; i < jobs; ++i) workers_.push_back({MakeProcess(), std::nullopt});
  }

  bool is_there() const {
    for (const Worker& worker : workers_) {
      if (!worker.process->is_there()) return false;
    }
    return true;
  }
  int jobs() const override { return static_cast<int>(workers_.size()); }
  int running() const override {
    int count = 0;
    for (const Worker& worker : workers_) count += worker.unit.has_value();
    return count;
  }
  void Start(const Unit& unit) override {
    for (Worker& worker : workers_) {
      if (worker.unit) continue;
      worker.unit = unit;
      SendLine(worker.process->file(), JsonText(nlohmann::json(unit)));  // Wait() sees its end
      return;
    }
    CGRUN_CHECK(false) << "all workers are busy";
  }
  UnitResult Wait() override {
    Worker& worker = workers_[NextToAnswer()];
    const Unit unit = *std::exchange(worker.unit, std::nullopt);
    if (const auto line = ReceiveLine(worker.process->file())) {
      return ParseJson(*line).get<UnitResult>();
    }
    worker.process = MakeProcess();
    UnitResult lost;
    lost.trial = unit.trial;
    lost.rung = unit.rung;
    lost.interrupted = true;
    lost.failure = "the system has ended the process of this trial";
    return lost;
  }

 private:
  struct Worker {
    std::unique_ptr<ChildProcess> process;
    std::optional<Unit> unit;  // that it runs
  };

  std::unique_ptr<ChildProcess> MakeProcess() {
    return std::make_unique<ChildProcess>(
        /*on_host=*/true, [this](int file) { WorkFor(file, runner_, heap_bytes_, signals_); });
  }
  // A worker whose unit has ended, or that has ended itself. Throws RunStopped after a signal.
  size_t NextToAnswer() const {
    std::vector<pollfd> files;
    for (const Worker& worker : workers_) {
      files.push_back({worker.unit ? worker.process->file() : -1, POLLIN, 0});
    }
    while (true) {
      if (signals_.stop != nullptr && *signals_.stop != 0) throw RunStopped();
      poll(files.data(), files.size(), kMilliseconds);
      for (size_t i = 0; i < files.size(); ++i) {
        if (files[i].revents != 0) return i;
      }
    }
  }

  TrialRunner& runner_;
  const int64_t heap_bytes_;
  const RunSignals signals_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Executor> MakeExecutor(TrialRunner& runner, const RunSignals& signals) {
  return std::make_unique<HereExecutor>(runner, signals);
}

std::unique_ptr<Executor> MakeWorkers(TrialRunner& runner, int jobs, int64_t heap_bytes,
                                      const RunSignals& signals) {
  auto workers = std::make_unique<WorkersExecutor>(runner, jobs, heap_bytes, signals);
  if (!workers->is_there()) return nullptr;
  return workers;
}

}  // namespace cgrun
