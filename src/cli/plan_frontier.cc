// Finds the frontier of a model and prints its report.
#include "src/cli/plan_frontier.h"

#include "src/cli/console.h"
#include "src/report/frontier_report.h"

namespace cgrun {

bool TellFrontier(const ModelSpec& model, const std::vector<EntryRequest>& entries,
                  const KernelLibrary& library, const CompileOptions& options,
                  Diagnostics& diagnostics) {
  const auto frontier = FindFrontier(model, entries, library, options, diagnostics);
  if (!frontier) return false;
  FrontierSubject subject;
  subject.model = model.name.value;
  subject.device = library.name();
  subject.entry = entries[0].name;
  subject.batch = entries[0].batch;
  subject.swaps_to_host = !KindOfDevice(library.name()).on_host;
  for (const FrontierPoint& point : frontier->points) {
    subject.rows.push_back({point.arena_bytes, point.lower_bound_bytes, point.seconds,
                            point.recomputations, point.swaps, point.file_bytes,
                            point.single_threaded, point.usual, point.without});
  }
  const auto proof_of = [&](const std::optional<PebbleFrontier>& played) {
    ExactProof proof;
    if (!played) return proof;
    proof.is_there = true;
    proof.is_complete = played->complete;
    for (const PebblePoint& point : played->points) {
      proof.rows.push_back({frontier->persistent_bytes + point.bytes, point.seconds, point.runs});
    }
    return proof;
  };
  subject.one_by_one = proof_of(frontier->one_by_one);
  subject.fused = proof_of(frontier->fused);
  PrintResult(FrontierText(subject), FrontierJson(subject));
  return true;
}

}  // namespace cgrun
