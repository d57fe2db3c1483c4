// The layout is told from the byte code, and shown as that of a plan.
#include "src/cli/plan_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/device/device.h"
#include "src/program/image_layout.h"
#include "src/report/memory_page.h"
#include "src/report/plan_report.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr const char* kAsCompiled = "as compiled";  // the byte code does not tell this
constexpr size_t kBiggest = 10;                     // buffers that are shown without --full

int64_t OperandsOf(const ImageEntry& entry) {
  int64_t count = 0;
  for (const ImageInstruction& instruction : entry.instructions) {
    count += std::ssize(instruction.operands);
  }
  return count;
}

PlanSubject SubjectOf(const ProgramImage& image) {
  PlanSubject subject;
  subject.model = image.model;
  subject.device = image.device;
  subject.order = kAsCompiled;
  subject.swaps_to_host = std::ranges::any_of(DeviceKinds(), [&](const DeviceKind& kind) {
    return !kind.on_host && image.device.starts_with(kind.name);
  });
  for (const ImageEntry& entry : image.entries) {
    subject.entries.push_back(entry.name);
    subject.batches.push_back(entry.batch);
    subject.batch = std::max(subject.batch, entry.batch);
  }
  subject.training = std::ranges::any_of(
      image.entries, [](const ImageEntry& entry) { return entry.kind == EntryKind::kTrain; });
  return subject;
}

std::string EntriesText(const ProgramImage& image, const MemoryLayout& layout) {
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"entry point", "batch", "instructions", "operands", "transient", "bound"});
  table.AddRule();
  for (size_t e = 0; e < image.entries.size(); ++e) {
    const ImageEntry& entry = image.entries[e];
    table.Add({entry.name, FormatCount(entry.batch), FormatCount(std::ssize(entry.instructions)),
               FormatCount(OperandsOf(entry)), FormatBytes(layout.entries[e].transient_bytes),
               FormatBytes(layout.entries[e].transient_lower_bound)});
  }
  return table.ToString("  ") +
         "  bound: the most that is alive at one instruction; operands: inputs, outputs and "
         "workspaces.\n";
}

std::string TotalsText(const ProgramImage& image, const MemoryLayout& layout) {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft});
  table.Add({"persistent region", FormatBytes(layout.persistent_bytes),
             CountText(std::ssize(image.states), "state") + ", " +
                 CountText(std::ssize(image.constants), "constant")});
  table.Add({"transient region", FormatBytes(layout.transient_bytes),
             "which each entry point uses in turn"});
  table.Add({"arena", FormatBytes(layout.arena_bytes),
             fmt::format("lower bound {}, ratio {}", FormatBytes(layout.lower_bound_bytes),
                         RatioText(layout.arena_bytes, layout.lower_bound_bytes, layout.optimal))});
  if (layout.file_bytes > 0) {
    table.Add({"swap space", FormatBytes(layout.file_bytes), "beside all that"});
  }
  return table.ToString("  ");
}

std::string LifeText(const PlacedBuffer& buffer) {
  if (buffer.persistent) return "always";
  return fmt::format("[{}, {})", buffer.lifespan.lower, buffer.lifespan.upper);
}

std::string BuffersText(const ProgramImage& image, const MemoryLayout& layout, bool full) {
  std::vector<const PlacedBuffer*> buffers;
  for (const PlacedBuffer& buffer : layout.buffers) buffers.push_back(&buffer);
  if (!full) {
    std::ranges::stable_sort(buffers, std::ranges::greater(), &PlacedBuffer::bytes);
    buffers.resize(std::min(buffers.size(), kBiggest));
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft,
                   Align::kLeft, Align::kLeft});
  table.Add({"entry point", "bytes", "offset", "zone", "instructions", "source", "buffer"});
  table.AddRule();
  for (const PlacedBuffer* buffer : buffers) {
    table.Add({buffer->entry < 0 ? "all" : image.entries[static_cast<size_t>(buffer->entry)].name,
               FormatCount(buffer->bytes), FormatCount(buffer->offset),
               buffer->arena == ArenaKind::kFile ? "swap space" : std::string(Name(buffer->zone)),
               LifeText(*buffer), buffer->mark.ToString(),
               fmt::format("{}", fmt::join(buffer->values, " = "))});
  }
  return (full ? "every buffer\n" : "biggest buffers\n") + table.ToString("  ");
}

std::string TextOf(const std::string& path, const ProgramImage& image, const MemoryLayout& layout,
                   bool full) {
  return fmt::format("{}: '{}', compiled for {} ({})\n\n", path, image.model, image.device,
                     image.fingerprint) +
         EntriesText(image, layout) + "\n" + TotalsText(image, layout) + "\n" +
         BuffersText(image, layout, full) +
         "\nThis is the layout that the program carries. Nothing was planned: `cgrun plan` of its "
         "model file does that.\n";
}

// The members of a plan's JSON that a program tells, and what it has beside.
std::string JsonOf(const std::string& path, const ProgramImage& image, const PlanSubject& subject,
                   const MemoryLayout& layout) {
  using Json = nlohmann::ordered_json;
  Json json = ParseOrderedJson(PlanJson(subject, layout));
  for (const char* unknown : {"threads", "precision", "tuning", "memory_cap_bytes", "data_bytes",
                              "base_bytes", "total_bytes", "planner", "order", "plan_seconds"}) {
    json.erase(unknown);
  }
  json["program"] = {{"file", path},
                     {"fingerprint", image.fingerprint},
                     {"states", image.states.size()},
                     {"constants", image.constants.size()}};
  for (size_t e = 0; e < image.entries.size(); ++e) {
    Json& entry = json["entries"][e];
    for (const char* unknown : {"without_reuse_bytes", "in_place_bytes"}) entry.erase(unknown);
    entry["batch"] = image.entries[e].batch;
    entry["instructions"] = image.entries[e].instructions.size();
    entry["operands"] = OperandsOf(image.entries[e]);
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace

void TellProgramPlan(const std::string& path, bool full, const std::string& html) {
  const ProgramImage image = LoadProgram(path);
  MemoryLayout layout = LayoutOf(image);
  layout.planner = kAsCompiled;
  const PlanSubject subject = SubjectOf(image);
  if (!html.empty()) WriteBeside(html, MemoryPageHtml({{path, &subject, &layout}}));
  PrintResult(TextOf(path, image, layout, full), JsonOf(path, image, subject, layout));
}

}  // namespace cgrun
