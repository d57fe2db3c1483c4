// VerifyImage: replays an image's writes and reads on a map of bytes to values, without running it.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "src/ir/op_def.h"
#include "src/plan/schedule.h"
#include "src/program/image.h"
#include "src/program/verify_incremental.h"
#include "src/program/verify_transfers.h"

namespace cgrun {
namespace {

constexpr int64_t kArenaGrain = 64;  // to which the plan rounds its regions
constexpr int kMostThreads = 1 << 16;
constexpr int32_t kUnusedState = -2;  // a state that an entry point neither reads nor writes

// The values that lie in one arena, by address.
class ArenaMap {
 public:
  // `value`, of that number type, takes [begin, end): what lay there is gone, what lay beside it
  // stays.
  void Write(int64_t begin, int64_t end, int32_t value, DType dtype) {
    if (end <= begin) return;
    auto it = held_.lower_bound(begin);
    if (it != held_.begin() && std::prev(it)->second.end > begin) --it;
    while (it != held_.end() && it->first < end) {
      const auto [first, held] = *it;
      it = held_.erase(it);
      if (first < begin) {
        held_[first] = held;
        held_[first].end = begin;
      }
      if (held.end > end) held_[end] = held;
    }
    held_[begin] = {end, value, dtype, begin, end};
  }
  // Exactly this value, of that number type, lies in exactly these bytes.
  bool Holds(int64_t begin, int64_t end, int32_t value, DType dtype) const {
    return begin == end || HoldsPart(begin, end, {begin, end, value, dtype});
  }
  // The whole of a value, as it was written.
  struct Whole {
    int64_t begin = 0;
    int64_t end = 0;
    int32_t value = 0;
    DType dtype = DType::kU8;
  };
  // Returns whether these bytes still hold their part of `whole`.
  bool HoldsPart(int64_t begin, int64_t end, const Whole& whole) const {
    auto it = held_.upper_bound(begin);
    if (it == held_.begin()) return false;
    const Held& held = std::prev(it)->second;
    return held.end >= end && held.value == whole.value && held.dtype == whole.dtype &&
           held.whole_begin == whole.begin && held.whole_end == whole.end;
  }

 private:
  struct Held {
    int64_t end = 0;
    int32_t value = 0;
    DType dtype = DType::kU8;
    int64_t whole_begin = 0, whole_end = 0;  // the place of the whole value
  };
  std::map<int64_t, Held> held_;  // by first byte; disjoint
};

class EntryVerifier {
 public:
  EntryVerifier(const ProgramImage& image, const ImageEntry& entry,
                std::vector<std::string>& violations)
      : image_(image), entry_(entry), violations_(violations) {}

  void Run() {
    for (const ImageState& state : image_.states) {
      const int64_t bytes = CheckedByteSize(state.type, {}).value_or(-1);
      if (CheckedByteSize(state.type, state.layout) != bytes) {
        Fail(state.name + " is in a layout of another size");
      }
      AddPersistent(state.name, state.offset, {bytes, state.type.dtype, false, state.layout});
    }
    for (const ImageConstant& constant : image_.constants) {
      const int64_t bytes = static_cast<int64_t>(constant.tensor.bytes().size());
      AddPersistent(constant.name, constant.offset, {bytes, constant.tensor.dtype(), true, {}});
    }
    for (const ImageOperand& operand : entry_.resident) {
      if (!InArena("a resident value", operand, 1)) continue;
      if (IsPersistent(operand)) {
        Place(operand, persistent_.at(operand.operand.offset).dtype);
      } else {
        Fail("a resident value is no state and no constant");
      }
    }
    for (const ImagePort& feed : entry_.feeds) {
      if (!CheckPort(feed, false)) continue;
      if (MeetsPersistent(feed.bytes)) Fail(feed.name + " is fed into the persistent region");
      Place(feed.bytes, feed.type.dtype);
    }
    for (const ImageInstruction& instruction : entry_.instructions) Visit(instruction);
    for (const ImagePort& result : entry_.results) {
      if (!CheckPort(result, result.kind == OutputKind::kLoss) || !CheckMetric(result)) continue;
      Read("result " + result.name, result.bytes, result.type.dtype);
    }
    if (violations_.empty()) Add(VerifyTransfers(entry_));
    if (entry_.incremental && violations_.empty()) Add(VerifyIncremental(entry_));
  }

 private:
  void Fail(const std::string& sentence) { violations_.push_back(entry_.name + ": " + sentence); }

  void Add(std::vector<std::string> violations) {
    for (std::string& violation : violations) violations_.push_back(std::move(violation));
  }

  // A metric's operator can finish what it sums up.
  bool CheckMetric(const ImagePort& port) {
    if (port.kind != OutputKind::kMetric) return true;
    if (port.metric && ShownBy(port.metric->op, port.metric->attributes, port.type)) return true;
    Fail(port.name + " is no metric");
    return false;
  }

  // The bytes of a feed or result are those of its tensor, and what is to be a number is one.
  bool CheckPort(const ImagePort& port, bool number) {
    if (!InArena(port.name, port.bytes, SizeOf(port.type.dtype))) return false;
    if (!CheckTensor(port.name, port.bytes, port.type)) return false;
    if (port.bytes.operand.arena != ArenaKind::kDevice) {
      Fail(port.name + " is not on the device");
    } else if (!port.bytes.layout.layout.IsPlain()) {
      Fail(port.name + " is not plain");
    } else if (number && (port.type.shape.rank() != 0 || port.type.dtype == DType::kBool ||
                          port.type.dtype == DType::kU8 || port.type.dtype == DType::kF16)) {
      Fail(port.name + " is no number");
    } else {
      return CheckPath(port.name, port.path);
    }
    return false;
  }

  bool CheckPath(const std::string& name, int path) {
    if (path >= -1 && path < static_cast<int>(image_.paths.size())) return true;
    Fail(name + " belongs to a path that does not exist");
    return false;
  }

  // The operand is a value of that type.
  bool CheckTensor(const std::string& name, const ImageOperand& operand, const TensorType& type) {
    if (operand.bytes == CheckedByteSize(type, operand.layout.layout) && operand.value >= 0) {
      return true;
    }
    Fail(name + " has an operand of another size than its tensor");
    return false;
  }

  struct Persistent {
    int64_t bytes = 0;
    DType dtype = DType::kF32;
    bool constant = false;
    Layout layout;
  };

  void AddPersistent(const std::string& name, int64_t begin, const Persistent& what) {
    const ImageOperand operand{
        {begin, ArenaKind::kDevice, Access::kWrite}, what.bytes, kUnusedState, {}};
    if (!InArena(name, operand, 1)) return;
    if (MeetsPersistent(operand)) Fail(name + " overlaps another state or constant");
    persistent_[begin] = what;
    Place(operand, what.dtype);
  }

  // The operand is a state or a constant as a whole, in the layout in which that lies.
  bool IsPersistent(const ImageOperand& operand) const {
    const auto it = persistent_.find(operand.operand.offset);
    return operand.operand.arena == ArenaKind::kDevice && it != persistent_.end() &&
           it->second.bytes == operand.bytes && it->second.layout == operand.layout.layout;
  }

  bool MeetsPersistent(const ImageOperand& operand) const {
    if (operand.operand.arena != ArenaKind::kDevice) return false;
    const int64_t begin = operand.operand.offset, end = begin + operand.bytes;
    const auto next = persistent_.lower_bound(begin);
    return (next != persistent_.end() && next->first < end) ||
           (next != persistent_.begin() &&
            std::prev(next)->first + std::prev(next)->second.bytes > begin);
  }

  // A write into the persistent region replaces a state as a whole by one of its number type, or is
  // an error.
  bool BreaksPersistent(const ImageOperand& operand, DType dtype) const {
    if (!MeetsPersistent(operand)) return false;
    if (!IsPersistent(operand)) return true;
    const Persistent& state = persistent_.at(operand.operand.offset);
    return state.constant || state.dtype != dtype;
  }

  void Visit(const ImageInstruction& instruction) {
    const std::string& name = instruction.name;
    const size_t inputs = instruction.node.inputs.size();
    const size_t tensors = inputs + instruction.node.outputs.size();
    const size_t operands = instruction.operands.size();
    if (!CheckPath(name, instruction.path)) return;
    if (instruction.threads < 1 || instruction.threads > kMostThreads) {
      return Fail(name + " wants " + std::to_string(instruction.threads) + " threads");
    }
    const bool is_alone = instruction.threads == 1 && instruction.stream == 0;
    if (instruction.thread_team < 0 || instruction.thread_team > kMostThreads ||
        (instruction.thread_team > 0 && !is_alone)) {
      return Fail(name + " works for a thread team of " + std::to_string(instruction.thread_team));
    }
    if (!(instruction.share_for_less >= 0 && instruction.share_for_less <= 1)) {
      return Fail(name + " has a wrong part of its time for a smaller workspace");
    }
    if (instruction.stream < 0 || instruction.stream > kParallelStreams) {
      return Fail(name + " is in stream " + std::to_string(instruction.stream));
    }
    const bool has_effect = GetOpDef(instruction.node.op).has_effect;
    if (instruction.stream > 0 && (instruction.threads != 1 || entry_.incremental || has_effect)) {
      return Fail(name + " cannot run beside others");
    }
    if (operands != tensors && operands != tensors + 1) {
      return Fail(name + " has " + std::to_string(operands) + " operands for " +
                  std::to_string(tensors) + " tensors");
    }
    for (size_t i = 0; i < tensors; ++i) {
      const TensorType& type = TypeOf(instruction.node, i);
      const ImageOperand& operand = instruction.operands[i];
      if (!InArena(name, operand, SizeOf(type.dtype))) return;
      if (operand.operand.arena != ArenaOf(instruction.node, i)) {
        return Fail(name + " has an operand in the wrong arena");
      }
      if (!CheckTensor(name, operand, type)) return;
      if (operand.operand.access != (i < inputs ? Access::kRead : Access::kWrite)) {
        Fail(name + " has an operand of the wrong access");
      }
    }
    const std::vector<SubBufferPair> parts = PartsOf(instruction);
    for (size_t i = 0; i < inputs; ++i) {
      const DType dtype = instruction.node.inputs[i].dtype;
      if (const SubBufferPair* part = PartOf(instruction, parts, i)) {
        ReadPart(instruction, *part, dtype);
      } else {
        Read(name, instruction.operands[i], dtype);
      }
    }
    if (operands > tensors && !CheckWorkspace(name, instruction.operands[tensors])) return;
    for (size_t i = inputs; i < operands; ++i) CheckApart(instruction, parts, i);
    for (size_t i = inputs; i < operands; ++i) {
      const DType dtype = i < tensors ? TypeOf(instruction.node, i).dtype : DType::kU8;
      Write(name, instruction.operands[i], dtype);
    }
  }

  // Returns the arena in which the operator has this operand. Operands beyond the last one that is
  // listed are like that one, which is variadic.
  static ArenaKind ArenaOf(const NodeSignature& node, size_t operand) {
    const OpDef& def = GetOpDef(node.op);
    const size_t inputs = node.inputs.size();
    const std::vector<OperandDef>& listed = operand < inputs ? def.inputs : def.outputs;
    const size_t index = operand < inputs ? operand : operand - inputs;
    return listed.empty() ? ArenaKind::kDevice : listed[std::min(index, listed.size() - 1)].arena;
  }

  static const TensorType& TypeOf(const NodeSignature& node, size_t operand) {
    const size_t inputs = node.inputs.size();
    return operand < inputs ? node.inputs[operand] : node.outputs[operand - inputs];
  }

  bool CheckWorkspace(const std::string& name, const ImageOperand& operand) {
    if (!InArena(name, operand, 64)) return false;
    const bool on_device = operand.operand.arena == ArenaKind::kDevice;
    if (operand.value == -1 && operand.operand.access == Access::kScratch && on_device) return true;
    Fail(name + " has a workspace that is none");
    return false;
  }

  // The operands that are parts of others, as they lie; none of an operator on wrong types.
  static std::vector<SubBufferPair> PartsOf(const ImageInstruction& instruction) {
    const SubBuffersFunction parts = GetOpDef(instruction.node.op).sub_buffers;
    if (parts == nullptr) return {};
    InferContext context(instruction.node.attributes, instruction.node.inputs);
    if (InferTypes(instruction.node.op, context) != instruction.node.outputs) return {};
    if (context.failed()) return {};
    std::vector<Layout> layouts;
    const size_t tensors = instruction.node.inputs.size() + instruction.node.outputs.size();
    for (size_t i = 0; i < tensors; ++i) {
      layouts.push_back(instruction.operands[i].layout.layout);
    }
    return parts(instruction.node, layouts);
  }

  // The part that is all that is read of an input, or null.
  static const SubBufferPair* PartOf(const ImageInstruction& instruction,
                                     std::span<const SubBufferPair> parts, size_t input) {
    const auto found = std::ranges::find_if(parts, [&](const SubBufferPair& part) {
      return part.input == static_cast<int>(input) &&
             OutputOf(instruction, part).bytes < instruction.operands[input].bytes;
    });
    return found == parts.end() ? nullptr : &*found;
  }

  static const ImageOperand& OutputOf(const ImageInstruction& instruction,
                                      const SubBufferPair& part) {
    return instruction.operands[instruction.node.inputs.size() + static_cast<size_t>(part.output)];
  }

  void ReadPart(const ImageInstruction& instruction, const SubBufferPair& part, DType dtype) {
    const ImageOperand& whole = instruction.operands[static_cast<size_t>(part.input)];
    const int64_t begin = whole.operand.offset, from = begin + part.begin;
    const ArenaMap& arena = arenas_[static_cast<size_t>(whole.operand.arena)];
    const int64_t to = from + OutputOf(instruction, part).bytes;
    if (!arena.HoldsPart(from, to, {begin, begin + whole.bytes, whole.value, dtype})) {
      Fail(instruction.name + " reads bytes that do not hold its operand");
    } else {
      CheckStateLayout(instruction.name, whole);
    }
  }

  // Returns whether the output lies in the input, or the other way round, where it belongs.
  static bool IsInPlace(const ImageInstruction& instruction, std::span<const SubBufferPair> parts,
                        size_t input, size_t output) {
    const ImageOperand &a = instruction.operands[input], &b = instruction.operands[output];
    const size_t inputs = instruction.node.inputs.size();
    return std::ranges::any_of(parts, [&](const SubBufferPair& part) {
      if (part.input != static_cast<int>(input)) return false;
      if (static_cast<size_t>(part.output) + inputs != output) return false;
      const auto& [whole, inner] = a.bytes < b.bytes ? std::tie(b, a) : std::tie(a, b);
      return whole.operand.offset + part.begin == inner.operand.offset;
    });
  }

  // Checks that no output or workspace meets an operand before it. An output may lie in the very
  // bytes of an input. If one is a part of the other, the part may lie there. Whether the kernel
  // may run so, is for the library to say (Program).
  void CheckApart(const ImageInstruction& instruction, std::span<const SubBufferPair> parts,
                  size_t written) {
    const size_t inputs = instruction.node.inputs.size();
    const size_t tensors = inputs + instruction.node.outputs.size();
    const ImageOperand& a = instruction.operands[written];
    for (size_t i = 0; i < written; ++i) {
      const ImageOperand& b = instruction.operands[i];
      if (a.operand.arena != b.operand.arena) continue;
      const bool meet = a.operand.offset < b.operand.offset + b.bytes &&
                        b.operand.offset < a.operand.offset + a.bytes;
      const bool same = a.operand.offset == b.operand.offset && a.bytes == b.bytes;
      const bool may_meet =
          i < inputs && written < tensors && (same || IsInPlace(instruction, parts, i, written));
      if (meet && !may_meet) {
        Fail(instruction.name + " has operands that overlap");
      }
    }
  }

  bool InArena(const std::string& name, const ImageOperand& operand, int64_t alignment) {
    const size_t arena = static_cast<size_t>(operand.operand.arena);
    const int64_t offset = operand.operand.offset;
    if (arena >= kArenaKinds) {
      Fail(name + " uses an arena that does not exist");
    } else if (offset < 0 || operand.bytes < 0 || offset > image_.arena_bytes[arena] ||
               operand.bytes > image_.arena_bytes[arena] - offset) {
      Fail(name + " reaches outside its arena");
    } else if (offset % alignment != 0) {
      Fail(name + " has an operand that is not aligned");
    } else {
      return true;
    }
    return false;
  }

  void Read(const std::string& name, const ImageOperand& operand, DType dtype) {
    const int64_t begin = operand.operand.offset;
    const ArenaMap& arena = arenas_[static_cast<size_t>(operand.operand.arena)];
    if (!arena.Holds(begin, begin + operand.bytes, operand.value, dtype)) {
      Fail(name + " reads bytes that do not hold its operand");
    } else {
      CheckStateLayout(name, operand);
    }
  }

  void CheckStateLayout(const std::string& name, const ImageOperand& operand) {
    if (!MeetsPersistent(operand) || IsPersistent(operand)) return;
    Fail(name + " reads a state or constant in another layout than it lies in");
  }

  void Write(const std::string& name, const ImageOperand& operand, DType dtype) {
    if (BreaksPersistent(operand, dtype)) {
      Fail(name + " writes over a part of the persistent region");
    }
    Place(operand, dtype);
  }

  void Place(const ImageOperand& operand, DType dtype) {
    const int64_t begin = operand.operand.offset;
    arenas_[static_cast<size_t>(operand.operand.arena)].Write(begin, begin + operand.bytes,
                                                              operand.value, dtype);
  }

  const ProgramImage& image_;
  const ImageEntry& entry_;
  std::vector<std::string>& violations_;
  ArenaMap arenas_[kArenaKinds];
  std::map<int64_t, Persistent> persistent_;  // by first byte: states and constants, disjoint
};

// An arena ends where the last thing in it ends: what is taken from the system is used.
void CheckArenaSizes(const ProgramImage& image, std::vector<std::string>& violations) {
  int64_t used[kArenaKinds] = {};
  const auto add = [&](const ImageOperand& operand) {
    int64_t end = 0;
    const size_t arena = static_cast<size_t>(operand.operand.arena);
    if (arena >= kArenaKinds) return;
    if (__builtin_add_overflow(operand.operand.offset, operand.bytes, &end)) return;
    used[arena] = std::max(used[arena], end);
  };
  for (const ImageState& state : image.states) {
    add({{state.offset}, CheckedByteSize(state.type, {}).value_or(0), 0, {}});
  }
  for (const ImageConstant& constant : image.constants) {
    add({{constant.offset}, static_cast<int64_t>(constant.tensor.bytes().size()), 0, {}});
  }
  for (const ImageEntry& entry : image.entries) {
    for (const ImagePort& port : entry.feeds) add(port.bytes);
    for (const ImageInstruction& instruction : entry.instructions) {
      for (const ImageOperand& operand : instruction.operands) add(operand);
    }
  }
  for (int kind = 0; kind < kArenaKinds; ++kind) {
    const int64_t bytes = image.arena_bytes[static_cast<size_t>(kind)];
    if (bytes < 0 || bytes - used[kind] >= kArenaGrain) {
      violations.push_back("an arena of " + std::to_string(bytes) + " bytes holds only " +
                           std::to_string(used[kind]));
    }
  }
}

}  // namespace

std::vector<std::string> VerifyImage(const ProgramImage& image) {
  std::vector<std::string> violations;
  for (const ImageEntry& entry : image.entries) EntryVerifier(image, entry, violations).Run();
  CheckArenaSizes(image, violations);  // a wrong operand may have changed these
  return violations;
}

}  // namespace cgrun
