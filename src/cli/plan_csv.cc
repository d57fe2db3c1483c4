// Reads, packs, writes.
#include "src/cli/plan_csv.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/io/atomic_file.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/model/values.h"
#include "src/packing/pack.h"
#include "src/packing/problem_csv.h"
#include "src/report/plan_report.h"

namespace cgrun {
namespace {

constexpr const char* kSearch = "search";  // the planner where none is named

constexpr int64_t kLargestCsv = int64_t{64} << 20;  // a hundred thousand long lines
constexpr int64_t kBytesOfRow = 384;                // a row, and its copy in a planner

std::optional<MemoryProblem> ReadCsv(const std::string& path) {
  const auto file = std::make_shared<SourceFile>(SourceFile{path, ReadTextFile(path, kLargestCsv)});
  CheckRoom(path, kBytesOfRow * std::ranges::count(file->text, '\n'), "to pack its buffers");
  Diagnostics diagnostics;
  std::optional<MemoryProblem> problem = ReadProblemCsv(file, diagnostics);
  PrintDiagnostics(diagnostics);
  return problem;
}

Bytes CapacityOf(const PackFlags& flags) {
  const std::optional<int64_t> capacity = ParseBytes(flags.capacity);
  if (capacity) return *capacity;
  throw InputError("'" + flags.capacity + "' is no number of bytes",
                   "for example --capacity 1048576, or --capacity 1MiB");
}

PackBudget BudgetOf(const PackFlags& flags) {
  PackBudget budget;
  if (flags.time.empty()) return budget;
  budget.seconds = ParseSeconds(flags.time);
  if (budget.seconds) return budget;
  throw InputError("'" + flags.time + "' is no time", "for example --time 10, or --time 2m");
}

MemoryPlan PackBy(const std::string& planner, const MemoryProblem& problem,
                  const PackBudget& budget) {
  return planner == kSearch ? Pack(problem, budget).plan : PlanMemory(problem, planner);
}

// Returns the end of the buffers that are fixed, in bytes.
Bytes EndOfFixed(const MemoryProblem& problem) {
  Bytes end = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset) end = std::max(end, *buffer.offset + buffer.bytes);
  }
  return end;
}

// Says so where no plan at all keeps the capacity.
bool IsImpossible(const std::string& path, const MemoryProblem& problem) {
  const Bytes bound = LowerBound(problem);
  if (!problem.capacity || bound <= *problem.capacity) return false;
  PrintError(path + ": no plan fits into " + std::to_string(*problem.capacity) +
                 " bytes: " + std::to_string(bound) +
                 (EndOfFixed(problem) >= bound ? " are taken by what is fixed"
                                               : " are needed at some step"),
             "give a capacity of at least " + std::to_string(bound) + " bytes");
  return true;
}

}  // namespace

int PlanCsv(const ModelFlags& flags, const PackFlags& pack_flags) {
  const PackBudget budget = BudgetOf(pack_flags);
  CheckPlanner(flags);
  const std::string planner = pack_flags.has_planner ? flags.planner : kSearch;
  if (planner != kSearch && budget.seconds) {
    throw InputError("--time is of planner 'search' alone", "leave out --planner, or --time");
  }
  std::optional<MemoryProblem> problem = ReadCsv(flags.model);
  if (!problem) return kBadInput;
  if (!pack_flags.capacity.empty()) problem->capacity = CapacityOf(pack_flags);
  if (IsImpossible(flags.model, *problem)) return kFailed;
  const auto start = std::chrono::steady_clock::now();
  const MemoryPlan plan = PackBy(planner, *problem, budget);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!pack_flags.out.empty()) {
    const std::string text = WriteProblemCsv(*problem, &plan);
    WriteFileAtomically(pack_flags.out, std::as_bytes(std::span(text)));
  }
  PrintResult(PackingText(*problem, plan, seconds.count()),
              PackingJson(*problem, plan, seconds.count()));
  const bool met = !problem->capacity || plan.peak_bytes <= *problem->capacity;
  return met ? kDone : kFailed;
}

}  // namespace cgrun
