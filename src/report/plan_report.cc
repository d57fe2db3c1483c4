// Memory layouts as text; plan_json.cc writes them as JSON.
#include "src/report/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/packing/pack.h"
#include "src/report/table.h"
#include "src/report/value_life.h"

namespace cgrun {
namespace {

constexpr size_t kBiggest = 10;      // buffers that stand in the short report
constexpr size_t kMostFused = 20;    // nodes behind the passes that made them
constexpr size_t kShortWidth = 110;  // of their table, in characters
constexpr std::string_view kComparedNote =
    "The same operators in the same order. singa, calcgraph and naive write nothing in place, so\n"
    "  that more is alive at once: a plan's lower bound is that of its own buffers.\n";

int64_t BytesInSteps(const PlanSubject& subject, const MemoryLayout& layout) {
  return layout.arena_bytes + subject.data_bytes + subject.base_bytes;
}

std::string ZonesText(const MemoryLayout& layout) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"zone", "persistent", "transient", "buffers"});
  table.AddRule();
  int64_t transient = 0;
  for (const ZoneUse& zone : layout.zones) {
    table.Add({std::string(Name(zone.zone)), FormatBytes(zone.persistent_bytes),
               FormatBytes(zone.transient_bytes), FormatCount(zone.buffers)});
    transient += zone.transient_bytes;
  }
  table.AddRule();
  std::string out = table.ToString("  ");
  if (!layout.zones_apart && transient > layout.transient_bytes) {
    out += fmt::format(
        "  The transient zones sum to {}, but share {}: activations die while gradients are "
        "born.\n",
        FormatBytes(transient), FormatBytes(layout.transient_bytes));
  }
  return out;
}

std::string NameOfSwapSpace(const PlanSubject& subject) {
  return subject.swaps_to_host ? "host memory" : "swap file";
}

std::string TotalsText(const PlanSubject& subject, const MemoryLayout& layout) {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft});
  table.Add({"persistent region", FormatBytes(layout.persistent_bytes),
             "parameters, statistics, optimizer state"});
  table.Add({"transient region", FormatBytes(layout.transient_bytes),
             "peak over the entry points, planner " + layout.planner});
  table.Add({"arena", FormatBytes(layout.arena_bytes),
             fmt::format("lower bound {}, ratio {}", FormatBytes(layout.lower_bound_bytes),
                         RatioText(layout.arena_bytes, layout.lower_bound_bytes, layout.optimal))});
  table.Add({"data", FormatBytes(subject.data_bytes),
             subject.data_note.empty() ? "batches read ahead, decoded sets, state copy"
                                       : subject.data_note});
  table.Add({"base", FormatBytes(subject.base_bytes),
             "the process itself: libraries, threads, compiled kernels (rounded up)"});
  table.AddRule();
  if (subject.start_bytes > BytesInSteps(subject, layout)) {
    table.Add({"in steps", FormatBytes(BytesInSteps(subject, layout)), "arena, data and base"});
    table.Add({"at the start", FormatBytes(subject.start_bytes), "for reading and compiling"});
    table.AddRule();
  }
  table.Add({"total", FormatBytes(TotalBytes(subject, layout)),
             "the most anonymous memory of the process"});
  if (subject.container_bytes > 0) {
    const int64_t planning = subject.container_bytes - subject.code_bytes - subject.kernel_bytes;
    table.Add({"container", FormatBytes(subject.container_bytes),
               fmt::format("the sum of code {}, the kernel's share {} and {}",
                           FormatBytes(subject.code_bytes), FormatBytes(subject.kernel_bytes),
                           planning > TotalBytes(subject, layout)
                               ? "planning in the container " + FormatBytes(planning)
                               : "the total")});
    table.Add(
        {"address space", FormatBytes(subject.address_space_bytes),
         fmt::format("`ulimit -v {}` allows it", (subject.address_space_bytes + 1023) / 1024)});
  }
  if (layout.file_bytes > 0) {
    table.Add({NameOfSwapSpace(subject), FormatBytes(layout.file_bytes),
               subject.swaps_to_host ? "pinned, for swapped tensors, beside all that"
                                     : "on a disk, beside all that"});
  }
  return table.ToString("  ");
}

// "3 tensors recomputed and 1 workspace of one thread"
std::string WaysToLess(const PlanSubject& subject, const MemoryLayout& layout) {
  std::vector<std::string> ways;
  const auto add = [&](int64_t count, std::string_view noun, const std::string& what) {
    if (count > 0) ways.push_back(FormatCount(count, noun) + what);
  };
  const auto& buffers = layout.buffers;
  add(std::ranges::count_if(buffers, &PlacedBuffer::recomputed), "tensor", " recomputed");
  add(std::ranges::count(buffers, ArenaKind::kFile, &PlacedBuffer::arena), "tensor",
      subject.swaps_to_host ? " swapped to host memory" : " swapped to a file");
  const auto is_of_first = [](const PlacedBuffer& buffer) {
    return buffer.single_threaded && buffer.entry == 0;
  };
  add(std::ranges::count_if(buffers, is_of_first), "workspace", " of one thread");
  if (ways.empty()) return "what is recomputed in the place of others";
  std::string text = ways[0];
  for (size_t i = 1; i < ways.size(); ++i) {
    text += (i + 1 < ways.size() ? ", " : " and ") + ways[i];
  }
  return text;
}

std::string EntriesText(const PlanSubject& subject, const MemoryLayout& layout) {
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"entry point", "batch", "transient", "bound", "without reuse", "in place"});
  table.AddRule();
  for (size_t e = 0; e < layout.entries.size(); ++e) {
    const EntryLayout& entry = layout.entries[e];
    table.Add({subject.entries[e], FormatCount(subject.batches[e]),
               FormatBytes(entry.transient_bytes), FormatBytes(entry.transient_lower_bound),
               FormatBytes(entry.naive_bytes), FormatBytes(entry.in_place_bytes)});
  }
  std::string out = table.ToString("  ") +
                    "  bound: the most that has to be alive at one step; without reuse: were no "
                    "byte used twice.\n";
  if (const std::string note = LastBatchNote(subject.entries); !note.empty()) {
    out += "  " + note + ".\n";
  }
  const EntryLayout& first = layout.entries[0];
  const int64_t saved = first.naive_bytes - first.transient_bytes;
  out += fmt::format("  Saved in '{}': {} by in-place operators, {} by reuse of dead buffers.\n",
                     subject.entries[0], FormatBytes(first.in_place_bytes),
                     FormatBytes(std::max<int64_t>(0, saved - first.in_place_bytes)));
  if (layout.recompute_saved_bytes > 0) {
    out += fmt::format("  Saved of the arena: {}, by {}.\n",
                       FormatBytes(layout.recompute_saved_bytes), WaysToLess(subject, layout));
  }
  std::vector<std::string> kept;
  for (const KeptValue& value : subject.kept) {
    if (value.entry == 0) kept.push_back(value.name);
  }
  if (kept.empty()) return out;
  out += fmt::format("  Kept until the end of the step: {}.\n", fmt::join(kept, ", "));
  return out;
}

// Returns nothing if there is one path.
std::string PathsText(const PlanSubject& subject) {
  const PathSharing& sharing = subject.sharing;
  if (sharing.paths.empty()) return "";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.Add(
      {fmt::format("path of '{}'", subject.entries[0]), "times", "trains", "state", "transient"});
  table.AddRule();
  for (const PathMemory& path : sharing.paths) {
    table.Add({path.name, FormatCount(path.repetitions), FormatBytes(path.parameter_bytes),
               FormatBytes(path.state_bytes), FormatBytes(path.transient_bytes)});
  }
  table.AddRule();
  table.Add(
      {"shared", "", "", FormatBytes(sharing.state_bytes), FormatBytes(sharing.transient_bytes)});
  return table.ToString("  ") +
         fmt::format(
             "  {} of that is passed from one path to another; the other addresses serve one "
             "path\n  after the other.\n\n",
             FormatBytes(sharing.passed_bytes));
}

// "conv1 = relu1 = pool1" for what shares the bytes in turn.
std::string Shared(const PlacedBuffer& buffer) {
  if (buffer.values.size() < 2) return buffer.name;
  return fmt::format("{}", fmt::join(buffer.values, " = "));
}

// The swap space has no zones.
std::string PlaceText(const PlanSubject& subject, const PlacedBuffer& buffer) {
  return buffer.arena == ArenaKind::kFile ? NameOfSwapSpace(subject)
                                          : std::string(Name(buffer.zone));
}

// `peak` is the fullest step of the buffer's entry point.
std::string LifeText(const PlanSubject& subject, const PlacedBuffer& buffer, int64_t peak) {
  if (buffer.persistent) return "always";
  const Lifespan& span = buffer.lifespan;
  return fmt::format("[{}, {}){}{}", span.lower, span.upper,
                     span.lower <= peak && peak < span.upper ? " peak" : "",
                     IsKept(subject, buffer) ? " kept" : "");
}

std::string BuffersText(const PlanSubject& subject, const MemoryLayout& layout, bool full) {
  std::vector<const PlacedBuffer*> buffers;
  for (const PlacedBuffer& buffer : layout.buffers) {
    if (full || buffer.entry <= 0) buffers.push_back(&buffer);
  }
  if (!full) {
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](auto* a, auto* b) { return a->bytes > b->bytes; });
    buffers.resize(std::min(buffers.size(), kBiggest));
  }
  // The short one is of one entry point, and keeps to a window; the full one has a line a buffer.
  std::vector<Align> columns = {Align::kRight, Align::kRight, Align::kLeft,
                                Align::kLeft,  Align::kLeft,  Align::kLeft};
  std::vector<std::string> heads = {"bytes", "offset", "zone", "steps", "source", "buffer"};
  if (full) {
    columns.insert(columns.begin(), Align::kLeft);
    heads.insert(heads.begin(), "entry point");
  }
  std::vector<int64_t> peaks;
  for (int e = 0; e < static_cast<int>(layout.entries.size()); ++e) {
    peaks.push_back(PeakStep(layout, e));
  }
  TextTable table(columns);
  table.Add(heads);
  table.AddRule();
  for (const PlacedBuffer* buffer : buffers) {
    const int64_t peak = peaks[static_cast<size_t>(std::max(0, buffer->entry))];
    std::vector<std::string> row = {FormatCount(buffer->bytes),  FormatCount(buffer->offset),
                                    PlaceText(subject, *buffer), LifeText(subject, *buffer, peak),
                                    buffer->mark.ToString(),     Shared(*buffer)};
    if (full) {
      row.insert(row.begin(),
                 buffer->entry < 0 ? "all" : subject.entries[static_cast<size_t>(buffer->entry)]);
    }
    table.Add(row);
  }
  return table.ToString("  ", full ? 0 : kShortWidth);
}

std::string LayoutText(const PlanSubject& subject, const MemoryLayout& layout, PlanDetail detail) {
  const bool full = detail == PlanDetail::kFull;
  std::string out = ZonesText(layout) + "\n" + EntriesText(subject, layout) + "\n" +
                    PathsText(subject) + TotalsText(subject, layout) + "\n";
  out += full ? "every buffer\n" : fmt::format("biggest buffers (of '{}')\n", subject.entries[0]);
  out += BuffersText(subject, layout, full);
  out += full ? "  peak: alive at the fullest step of its entry point.\n"
              : fmt::format("  peak: alive at step {}, the fullest; --full lists every buffer.\n",
                            PeakStep(layout, 0));
  return out;
}

std::string FusedText(const PlanSubject& subject, PlanDetail detail) {
  const size_t most = detail == PlanDetail::kFull ? 0 : kMostFused;
  const std::string text = FusedNodesText(subject.entries[0], subject.fused, most);
  return text.empty() ? "" : "\n" + text;
}

std::string EagerText(const PlanSubject& subject, const MemoryLayout& layout) {
  const int64_t eager = subject.eager_peak_bytes;
  if (eager <= 0) return "";
  const double saved = 1 - static_cast<double>(layout.arena_bytes) / static_cast<double>(eager);
  return fmt::format("\neager mode would have {} alive at its peak; the arena has {:.1f} % {}\n",
                     FormatBytes(eager), 100 * std::abs(saved), saved < 0 ? "more" : "less");
}

// Notes f32 copies that take so much that halving the bytes of activations may not make up for it.
std::string CopiesText(const PlanSubject& subject, const MemoryLayout& layout) {
  if (subject.copies_bytes * 10 <= layout.arena_bytes) return "";
  return fmt::format(
      "note: at the peak {} are workspaces of kernels that compute in f32 on copies of what is "
      "bf16;\n  in f32 the arena may be smaller: `--precision f32` plans that\n",
      FormatBytes(subject.copies_bytes));
}

// Returns nothing if nothing is compared.
std::string ComparedText(const PlanSubject& subject, const MemoryLayout& layout) {
  if (subject.compared.empty()) return "";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"planner", "arena", "× ours", "planned in"});
  table.AddRule();
  table.Add({layout.planner, FormatBytes(layout.arena_bytes), "1.00",
             FormatSeconds(layout.plan_seconds)});
  for (const ComparedPlan& plan : subject.compared) {
    const double ratio =
        static_cast<double>(plan.arena_bytes) / static_cast<double>(layout.arena_bytes);
    table.Add({plan.planner, FormatBytes(plan.arena_bytes), fmt::format("{:.2f}", ratio),
               FormatSeconds(plan.plan_seconds)});
  }
  return "\n" + table.ToString("  ") + "  " + std::string(kComparedNote);
}

// Says how sure it is that no plan is better.
std::string VerdictText(Verdict verdict, bool is_fixed) {
  if (verdict == Verdict::kBoundMet) {
    return is_fixed ? "optimal: what is fixed ends there"
                    : "optimal: as much is alive at some step";
  }
  if (verdict == Verdict::kExhausted) return "optimal: a search found nothing lower";
  return "the best known";
}

}  // namespace

int64_t TotalBytes(const PlanSubject& subject, const MemoryLayout& layout) {
  return std::max(subject.start_bytes, BytesInSteps(subject, layout));
}

bool IsKept(const PlanSubject& subject, const PlacedBuffer& buffer) {
  return std::any_of(subject.kept.begin(), subject.kept.end(), [&](const KeptValue& kept) {
    const auto& values = buffer.values;
    const bool holds = kept.value == buffer.name ||
                       std::find(values.begin(), values.end(), kept.value) != values.end();
    return holds && kept.entry == buffer.entry;
  });
}

std::string RatioText(int64_t peak, int64_t lower_bound, bool optimal) {
  const double ratio =
      lower_bound > 0 ? static_cast<double>(peak) / static_cast<double>(lower_bound) : 1;
  return fmt::format("{:.4f}{}", ratio, optimal ? ", optimal" : "");
}

std::string FaultOfRoom(int64_t bytes, const MemoryRoom& room) {
  const std::string takes = "this takes " + FormatBytes(bytes) + ", and ";
  if (room.total > 0 && bytes > room.total) {
    return takes + room.where + " has " + FormatBytes(room.total) + ": it cannot run " +
           std::string(room.place);
  }
  if (bytes <= room.free) return "";
  return takes + FormatBytes(room.free) + " of " + room.where + " are free: it cannot run now";
}

std::string LastBatchNote(const std::vector<std::string>& entries) {
  std::vector<std::string> names;
  for (const std::string& entry : entries) {
    if (entry.find('.') != entry.npos) names.push_back(entry);
  }
  if (names.empty()) return "";
  return fmt::format("{}: for the last batch of a pass over the data, with as many samples",
                     fmt::join(names, ", "));
}

std::string PlanText(const PlanSubject& subject, const MemoryLayout& layout, PlanDetail detail) {
  std::string out =
      fmt::format("{} on {}, {}, batch {}, order {}, zones {}\n", subject.model, subject.device,
                  subject.training ? "training" : "inference", subject.batch, subject.order,
                  layout.zones_apart ? "separate" : "shared");
  if (detail != PlanDetail::kNone) out += "\n" + LayoutText(subject, layout, detail);
  if (subject.passes) out += "\n" + PassEffectsText(*subject.passes);
  if (subject.passes || detail == PlanDetail::kFull) out += FusedText(subject, detail);
  out += ComparedText(subject, layout);
  if (detail == PlanDetail::kNone) return out;
  out += EagerText(subject, layout);
  out += CopiesText(subject, layout);
  out += fmt::format("\ncompiled in {}, of which planning took {}\n",
                     FormatSeconds(subject.compile_seconds), FormatSeconds(layout.plan_seconds));
  return out;
}

std::string PackingText(const MemoryProblem& problem, const MemoryPlan& plan, double seconds) {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft});
  table.Add({"buffers", FormatCount(static_cast<int64_t>(problem.buffers.size())), ""});
  const auto ends_there = [&](const Buffer& buffer) {
    return buffer.offset && *buffer.offset + buffer.bytes == plan.peak_bytes;
  };
  const bool is_fixed = std::ranges::any_of(problem.buffers, ends_there);
  table.Add(
      {"peak", FormatCount(plan.peak_bytes), VerdictText(VerdictOf(problem, plan), is_fixed)});
  table.Add({"lower bound", FormatCount(plan.lower_bound_bytes), ""});
  table.Add({"ratio", RatioText(plan.peak_bytes, plan.lower_bound_bytes, plan.optimal), ""});
  if (problem.capacity) {
    table.Add({"capacity", FormatCount(*problem.capacity),
               plan.peak_bytes <= *problem.capacity ? "met" : "not met"});
  }
  table.Add({"planner", plan.planner, ""});
  table.Add({"time", FormatSeconds(seconds), ""});
  return table.ToString();
}

}  // namespace cgrun
