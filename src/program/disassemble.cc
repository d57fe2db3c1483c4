// Disassemble: the listing of a program, an instruction a line, with what a fused one does below
// it, and the memory it uses.
#include <fmt/format.h>

#include "src/ir/body_text.h"
#include "src/program/image.h"

namespace cgrun {
namespace {

constexpr size_t kBodyIndent = 25;  // below the name of the instruction, and behind it

std::string Address(const ImageOperand& operand) {
  static constexpr const char* kArenas[] = {"", "host:", "file:"};
  return fmt::format("{}{:#x}+{}", kArenas[static_cast<size_t>(operand.operand.arena)],
                     operand.operand.offset, operand.bytes);
}

std::string Operands(const ImageInstruction& instruction) {
  const size_t inputs = instruction.node.inputs.size();
  const size_t tensors = inputs + instruction.node.outputs.size();
  std::string out;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i == 0 && inputs > 0) out += " read ";
    if (i == inputs) out += " write ";
    if (i == tensors) out += " scratch ";
    if (i != 0 && i != inputs && i != tensors) out += ", ";
    out += Address(instruction.operands[i]);
    const OperandLayout& layout = instruction.operands[i].layout;
    if (!layout.layout.IsPlain()) out += " " + layout.layout.ToString();
  }
  return out;
}

// When an instruction of an incremental entry point runs again: " after image, label".
std::string ReachText(const ImageEntry& entry, ReachSet reach) {
  if (!entry.incremental) return "";
  std::vector<std::string> feeds;
  for (const ImagePort& feed : entry.feeds) feeds.push_back(feed.name);
  return " after " + ToString(reach, feeds);
}

// Says so if the instruction does not run on the whole thread team: " stream 1", " single-threaded,
// for a thread team of 16".
std::string ThreadsText(const ImageInstruction& instruction) {
  if (instruction.stream > 0) return fmt::format(" stream {}", instruction.stream);
  if (instruction.thread_team > 0) {
    return fmt::format(" single-threaded, for a thread team of {}", instruction.thread_team);
  }
  return instruction.share_for_less > 0 ? " single-threaded" : "";
}

std::string EntryText(const ImageEntry& entry) {
  std::string out =
      fmt::format("\nentry {} ({}, batch {}{}): {} instructions\n", entry.name, Name(entry.kind),
                  entry.batch, entry.incremental ? ", incremental" : "", entry.instructions.size());
  for (const ImagePort& feed : entry.feeds) {
    out +=
        fmt::format("  feed   {} {} at {}\n", feed.name, feed.type.ToString(), Address(feed.bytes));
  }
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const ImageInstruction& instruction = entry.instructions[i];
    const std::string attributes = instruction.node.attributes.ToString();
    out += fmt::format("  {:5}  {:<13} {} [{}]{}{}{}{}\n", i, Name(instruction.phase),
                       instruction.name, instruction.kernel,
                       attributes.empty() ? "" : " {" + attributes + "}", Operands(instruction),
                       ReachText(entry, instruction.reach), ThreadsText(instruction));
    out += BodyText(instruction.node.body, std::string(kBodyIndent, ' '));
  }
  for (const ImagePort& result : entry.results) {
    out += fmt::format("  result {} {} at {}\n", result.name, result.type.ToString(),
                       Address(result.bytes));
  }
  return out;
}

}  // namespace

std::string Disassemble(const ProgramImage& image) {
  std::string out =
      fmt::format("program {}\ndevice {} ({})\nseed {}\narena {} bytes\n", image.model,
                  image.device, image.fingerprint, image.seed, image.arena_bytes[0]);
  out += "\nstate\n";
  for (const ImageState& state : image.states) {
    const std::string layout = state.layout.IsPlain() ? "" : " " + state.layout.ToString();
    out += fmt::format("  {:#010x}+{:<10} {:<18} {} {}{}\n", state.offset, ByteSize(state.type),
                       Name(state.role), state.name, state.type.ToString(), layout);
  }
  if (!image.constants.empty()) out += "\nconstants\n";
  for (const ImageConstant& constant : image.constants) {
    out += fmt::format("  {:#010x}+{:<10} {} {}{}\n", constant.offset,
                       constant.tensor.bytes().size(), constant.name, Name(constant.tensor.dtype()),
                       constant.tensor.shape().ToString());
  }
  for (const ImageEntry& entry : image.entries) out += EntryText(entry);
  return out;
}

}  // namespace cgrun
