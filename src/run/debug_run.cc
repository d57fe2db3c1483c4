// An engine in front of another one, which runs its operators one by one.
#include "src/run/debug_run.h"

#include <set>

#include "src/base/check.h"
#include "src/device/device.h"
#include "src/program/debug_sets.h"

namespace cgrun {
namespace {

class DebugEngine final : public Engine {
 public:
  // `sets`: null where they are not checked.
  DebugEngine(std::unique_ptr<Engine> engine, std::shared_ptr<DebugSets> sets)
      : engine_(std::move(engine)), sets_(std::move(sets)) {
    model_ = engine_->model();
  }

  Mode mode() const override { return engine_->mode(); }
  EngineMemory memory() const override { return engine_->memory(); }
  Program* program() override { return engine_->program(); }
  void Feed(int entry, int feed, std::span<const std::byte> bytes) override {
    engine_->Feed(entry, feed, bytes);
  }
  void Run(int entry) override {
    if (sets_ != nullptr) {
      sets_->Run(entry);
    } else {
      program()->RunInStep(entry);
    }
    program()->CheckTransfers();
  }
  // Runs the whole entry point: operators are checked, not what changed.
  int64_t RunChanged(int entry, std::span<const HostTensor> feeds,
                     const std::vector<bool>&) override {
    for (size_t i = 0; i < feeds.size(); ++i) Feed(entry, static_cast<int>(i), feeds[i].bytes());
    Run(entry);
    return std::ssize(EntryOf(entry).instructions);
  }
  void RunChecked(int entry, RunChecker& checker) override { engine_->RunChecked(entry, checker); }
  std::vector<EngineOperator> Operators(int entry) const override {
    return engine_->Operators(entry);
  }
  void Fetch(int entry, int result, std::span<std::byte> bytes) const override {
    engine_->Fetch(entry, result, bytes);
  }
  void ReadState(size_t index, std::span<std::byte> plain) const override {
    engine_->ReadState(index, plain);
  }
  std::span<const std::byte> StateInPlace(size_t index) const override {
    return engine_->StateInPlace(index);
  }
  void FillState(size_t index,
                 const std::function<void(std::span<std::byte> plain)>& fill) override {
    engine_->FillState(index, fill);
  }
  void FreeArenas() override { engine_->FreeArenas(); }
  void WriteState(size_t index, const HostTensor& tensor) override {
    engine_->WriteState(index, tensor);
  }
  void InitializeStates() override { engine_->InitializeStates(); }
  std::unique_ptr<StreamClock> MakeClock(size_t marks) const override {
    return engine_->MakeClock(marks);
  }

 private:
  const ImageEntry& EntryOf(int entry) {
    return program()->image().entries[static_cast<size_t>(entry)];
  }

  std::unique_ptr<Engine> engine_;
  std::shared_ptr<DebugSets> sets_;
};

}  // namespace

DebugRun::~DebugRun() = default;

std::unique_ptr<Engine> DebugRun::Wrap(std::unique_ptr<Engine> engine, Device& device) {
  if (engine->program() == nullptr) return engine;
  CGRUN_CHECK(!sets_ || KindOfDevice(engine->model().device).on_host)
      << "sets are checked in the host's memory";
  std::shared_ptr<DebugSets> sets;
  if (sets_) {
    sets = std::make_shared<DebugSets>(*engine->program());
    Checked checked{{}, sets};
    for (const EngineEntry& entry : engine->model().entries) checked.entries.push_back(entry.name);
    checked_.push_back(std::move(checked));
  }
  if (!sets && !(sync_ && device.is_asynchronous())) return engine;
  return std::make_unique<DebugEngine>(std::move(engine), std::move(sets));
}

std::vector<std::string> DebugRun::Summary() const {
  std::vector<std::string> lines;
  for (const Checked& one : checked_) {
    for (size_t e = 0; e < one.entries.size(); ++e) {
      const DebugSets::Coverage& of = one.sets->coverage()[e];
      if (of.runs == 0) continue;
      std::string line = std::to_string(of.checked) + " operators of '" + one.entries[e] +
                         "' checked in each of " + std::to_string(of.runs) +
                         (of.runs == 1 ? " run" : " runs");
      if (of.left_out > 0) {
        line += "; " + std::to_string(of.left_out) + " transfers to the swap space left out";
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<std::string> DebugRun::Findings() const {
  std::vector<std::string> findings;
  std::set<std::string> told;  // engines of a benchmark have the same operators
  for (const Checked& one : checked_) {
    for (const std::string& finding : one.sets->findings()) {
      if (told.insert(finding).second) findings.push_back(finding);
    }
  }
  return findings;
}

}  // namespace cgrun
