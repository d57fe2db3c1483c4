// Preparing the kernels of an image, once it was found sound.
#include "src/program/code.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/ir/op_def.h"
#include "src/ops/initializers.h"
#include "src/plan/schedule.h"
#include "src/program/join_streams.h"

namespace cgrun {
namespace {

// Returns whether an instruction's types are what its operator infers.
bool TypesAgree(const NodeSignature& node) {
  if (node.op == OpId::fused) return FaultOfFused(node).empty();
  InferContext context(node.attributes, node.inputs);
  return InferTypes(node.op, context) == node.outputs && !context.failed();
}

// Every output in the bytes of an input is a pair that the kernel may run in place, or one is a
// part of the other that it need not copy; VerifyImage has seen that it lies where it belongs.
bool RunsInPlace(const ImageInstruction& instruction, const KernelOption& option) {
  const size_t inputs = instruction.node.inputs.size();
  for (size_t o = 0; o < instruction.node.outputs.size(); ++o) {
    const ImageOperand& output = instruction.operands[inputs + o];
    for (size_t i = 0; i < inputs; ++i) {
      const ImageOperand& input = instruction.operands[i];
      const bool meet = input.operand.arena == output.operand.arena &&
                        input.operand.offset < output.operand.offset + output.bytes &&
                        output.operand.offset < input.operand.offset + input.bytes;
      if (!meet) continue;
      const InPlacePair pair{static_cast<int>(i), static_cast<int>(o)};
      const auto is_pair = [&](const SubBufferPair& part) {
        return part.input == pair.input && part.output == pair.output;
      };
      if (std::ranges::find(option.in_place, pair) == option.in_place.end() &&
          std::ranges::none_of(option.sub_buffers, is_pair)) {
        return false;
      }
    }
  }
  return true;
}

// The operands lie as the kernel reads and writes them.
bool LiesInLayouts(const ImageInstruction& instruction, const KernelOption& option) {
  std::vector<Layout> wanted = option.input_layouts;
  wanted.insert(wanted.end(), option.output_layouts.begin(), option.output_layouts.end());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const OperandLayout& layout = instruction.operands[i].layout;
    if (layout.layout != wanted[i] || !layout.strides.empty()) return false;
  }
  return true;
}

// The library has the chosen kernel, it takes the planned workspace and layouts, and runs in place
// where planned.
bool KernelAgrees(const ImageInstruction& instruction, const KernelLibrary& library) {
  const size_t tensors = instruction.node.inputs.size() + instruction.node.outputs.size();
  const int64_t workspace =
      instruction.operands.size() > tensors ? instruction.operands.back().bytes : 0;
  RunSetting setting{instruction.threads};
  setting.tf32 = library.TraitsOf(instruction.kernel).tf32;
  setting.thread_team = instruction.thread_team;
  for (size_t i = 0; i < instruction.node.inputs.size(); ++i) {
    setting.layouts.push_back(instruction.operands[i].layout.layout);
  }
  const std::vector<KernelOption> options = library.Options(instruction.node, setting);
  const bool on_host = KindOfDevice(library.name()).on_host;
  return std::any_of(options.begin(), options.end(), [&](const KernelOption& option) {
    if (instruction.stream > 0 && !(option.same_bits_single_threaded && on_host)) return false;
    return option.kernel == instruction.kernel && option.workspace_bytes == workspace &&
           LiesInLayouts(instruction, option) && RunsInPlace(instruction, option);
  });
}

// Finds the faults that VerifyImage cannot see without operators and kernels.
std::vector<std::string> VerifyKernels(const ProgramImage& image, const KernelLibrary& library) {
  std::vector<std::string> violations;
  for (const ImageState& state : image.states) {
    const std::vector<std::string> known = InitializerNames();
    if (std::find(known.begin(), known.end(), state.info.init) == known.end()) {
      violations.push_back(state.name + " has an unknown initialiser");
    }
    if (state.type.dtype == DType::kF16) violations.push_back(state.name + " is of type f16");
  }
  for (const ImageEntry& entry : image.entries) {
    for (const ImageInstruction& instruction : entry.instructions) {
      if (!TypesAgree(instruction.node)) {
        violations.push_back(instruction.name + " has types that its operator does not infer");
      } else if (!KernelAgrees(instruction, library)) {
        violations.push_back(instruction.name + " wants kernel " + instruction.kernel +
                             ", which does not fit it on this device");
      }
    }
  }
  return violations;
}

int MostThreads(const ProgramImage& image) {
  int threads = 1;
  for (const ImageEntry& entry : image.entries) {
    for (const ImageInstruction& instruction : entry.instructions) {
      threads =
          std::max({threads, instruction.threads, instruction.stream > 0 ? kParallelStreams : 1});
    }
  }
  return threads;
}

bool HasStreams(const ProgramImage& image) {
  return std::ranges::any_of(image.entries, [](const ImageEntry& entry) {
    return std::ranges::any_of(entry.instructions, [](const ImageInstruction& instruction) {
      return instruction.stream > 0;
    });
  });
}

}  // namespace

Code::Code(const ProgramImage& image, Device& device, const KernelLibrary& library) {
  std::vector<std::string> violations = VerifyImage(image);
  if (violations.empty()) violations = VerifyKernels(image, library);
  if (!violations.empty()) {
    const std::string file = image.model_path.empty() ? "" : image.model_path + ": ";
    throw InputError(file + "the program is not sound: " + violations[0],
                     "compile it again: `cgrun compile MODEL -o M.cgb`");
  }
  const int threads = MostThreads(image);
  device.UseThreads(threads);
  for (const ImageEntry& entry : image.entries) Prepare(entry, library, threads);
  library.WarmUp(threads, HasStreams(image));
}

void Code::Prepare(const ImageEntry& entry, const KernelLibrary& library, int threads) {
  EntryPoint point;
  point.image = &entry;
  for (size_t n = 0; n < entry.instructions.size(); ++n) {
    const ImageInstruction& source = entry.instructions[n];
    KernelRequest request{source.node, {}, source.threads};
    request.thread_team = source.thread_team;
    auto operands = std::make_unique<Operand[]>(source.operands.size());
    for (size_t i = 0; i < source.operands.size(); ++i) {
      operands[i] = source.operands[i].operand;
      if (source.operands[i].value >= 0) request.operands.push_back(source.operands[i].layout);
    }
    PreparedKernel kernel = library.Prepare(source.kernel, request);
    point.instructions.push_back({kernel.run, operands.get(), kernel.parameters.get(),
                                  static_cast<int32_t>(source.operands.size()),
                                  static_cast<int32_t>(n)});
    if (entry.incremental) point.reach.push_back(source.reach);
    parameters_.push_back(std::move(kernel.parameters));
    operands_.push_back(std::move(operands));
  }
  point.with_streams = JoinStreams(entry, point.instructions, threads, parameters_);
  entries_.push_back(std::move(point));
}

}  // namespace cgrun
