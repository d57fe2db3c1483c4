// Compile: the whole way from a model's description to a program, in one function.
#ifndef CGRUN_COMPILE_COMPILE_H_
#define CGRUN_COMPILE_COMPILE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/budget/budget_options.h"
#include "src/kernels/kernel.h"
#include "src/model/model_spec.h"
#include "src/plan/memory_layout.h"
#include "src/program/image.h"
#include "src/select/tuned_target.h"

namespace cgrun {

struct CompileOptions : BudgetOptions {
  int processes = 1;
  DType precision = DType::kF32;
  bool bf16_activations = false;  // of f32: src/autodiff/mixed_precision.h
  bool tf32 = false;              // of f32: RunSetting::tf32
  // This is how long kernels took where they were measured. If it is null, their estimates alone
  // count.
  std::shared_ptr<TuningRecord> tuning;
  bool measure_kernels = false;  // those of the host that `tuning` does not know, for it
  // The kind of entry point that keeps what `keep` of the model file names.
  EntryKind keeps = EntryKind::kTrain;
};

struct CompiledModel {
  ProgramImage image;
  MemoryLayout layout;
  std::vector<CompiledEntry> entries;
  int nodes_before_passes = 0;     // of the first entry point, as it was differentiated
  std::vector<PassReport> passes;  // of the first entry point, in the pipeline's order
  double compile_seconds = 0;
};

// Returns the model that a program in `folder` carries ("": wherever it is), as ResolvedTree()
// says. The folder of a swap file is left out: it belongs to the machine, and whoever runs the
// program gives it.
std::string ProgramText(const ModelSpec& model, const std::string& folder = "");

// Returns the target that the passes and the plan ask. It is `library`, with the times of
// `options.tuning`, and it knows whether factors may be rounded to TF32. Library and record outlive
// it.
TunedTarget TargetOf(const KernelLibrary& library, const CompileOptions& options);

// Identifies all on which the results of a program depend: the device's libraries, the thread team,
// and the record by which kernels were chosen.
std::string FingerprintOf(const KernelLibrary& library, const CompileOptions& options);
// Says why a program of another device or fingerprint is not the one for these.
std::string DescribeDifference(const ProgramImage& image, std::string_view device,
                               const std::string& fingerprint);

// Compiles all entry points together: they share parameters and one arena. `library` is the
// device's. After an error, which `diagnostics` holds, the result is empty.
std::optional<CompiledModel> Compile(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics);
// Does the rest of that after PrepareEntries: the plan and the image.
void CompilePrepared(const ModelSpec& model, const KernelLibrary& library,
                     const CompileOptions& options, CompiledModel& prepared);

// Holds an entry point as eager mode runs it. The graph is differentiated and bound, and its
// kernels take and give plain tensors. No pass has touched it.
struct EagerGraph {
  EntryRequest request;
  Graph graph;
};

// Returns the graphs of all entry points for eager mode. It uses the number type, the threads and
// the processes of `options`. After an error, which `diagnostics` holds, the result is empty.
std::optional<std::vector<EagerGraph>> PrepareEager(const ModelSpec& model,
                                                    const std::vector<EntryRequest>& entries,
                                                    const KernelLibrary& library,
                                                    const CompileOptions& options,
                                                    Diagnostics& diagnostics);

// Returns the graph of one kind after differentiation, with passes up to
// `options.passes.stop_after`. Its batch is still N. `batch` is the one for which passes ask what
// pays. `cgrun graph` calls it.
std::optional<Graph> BuildGraph(const ModelSpec& model, EntryKind kind, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics,
                                std::vector<PassReport>* reports = nullptr, int64_t batch = 1);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_COMPILE_H_
