// One walk over the instructions: each operand's number is a value's.
#include "src/program/image_values.h"

#include <algorithm>
#include <map>

namespace cgrun {
namespace {

class ValueFinder {
 public:
  ValueFinder(const ProgramImage& image, const ImageEntry& entry) : image_(image), entry_(entry) {}

  std::vector<ImageValue> Find() {
    AddPersistent();
    for (const ImagePort& feed : entry_.feeds) {
      Add({feed.name, ImageValueKind::kFeed, feed.bytes, feed.type, {0, 0}});
    }
    for (size_t i = 0; i < entry_.instructions.size(); ++i) Visit(static_cast<int>(i));
    for (const ImagePort& result : entry_.results) ReadAt(result.bytes, End() - 1);
    return std::move(values_);
  }

 private:
  TimePoint End() const {
    return std::max<TimePoint>(1, static_cast<TimePoint>(entry_.instructions.size()));
  }

  void AddPersistent() {
    for (size_t i = 0; i < image_.states.size(); ++i) {
      const ImageState& state = image_.states[i];
      const ImageOperand bytes{{state.offset}, ByteSize(state.type), -1, {state.layout, {}}};
      Add({state.name, ImageValueKind::kState, bytes, state.type, {0, End()}, -1, Index(i)});
    }
    for (size_t i = 0; i < image_.constants.size(); ++i) {
      const HostTensor& tensor = image_.constants[i].tensor;
      const TensorType type{tensor.dtype(), tensor.shape()};
      const ImageOperand bytes{{image_.constants[i].offset}, ByteSize(type), -1, {}};
      Add({image_.constants[i].name,
           ImageValueKind::kConstant,
           bytes,
           type,
           {0, End()},
           -1,
           Index(i)});
    }
    for (const ImageOperand& resident : entry_.resident) {
      const auto same = std::ranges::find_if(
          values_, [&](const ImageValue& value) { return SameBytes(value.bytes, resident); });
      if (same == values_.end()) continue;
      same->bytes.value = resident.value;
      at_[resident.value] = static_cast<size_t>(same - values_.begin());
    }
  }

  static int Index(size_t i) { return static_cast<int>(i); }

  void Add(ImageValue value) {
    if (value.bytes.value >= 0) at_[value.bytes.value] = values_.size();
    values_.push_back(std::move(value));
  }

  void ReadAt(const ImageOperand& operand, TimePoint step) {
    const auto found = at_.find(operand.value);
    if (found == at_.end()) return;
    TimePoint& upper = values_[found->second].lifespan.upper;
    upper = std::max(upper, step + 1);
  }

  // A value in a state's bytes stays there until the end.
  TimePoint UpperOf(const ImageOperand& written, TimePoint step) const {
    const bool is_update = std::ranges::any_of(values_, [&](const ImageValue& value) {
      return value.kind == ImageValueKind::kState && SameBytes(value.bytes, written);
    });
    return is_update ? End() : step + 1;
  }

  void Visit(int index) {
    const ImageInstruction& instruction = entry_.instructions[static_cast<size_t>(index)];
    const size_t inputs = instruction.node.inputs.size();
    const size_t tensors = inputs + instruction.node.outputs.size();
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ImageOperand& operand = instruction.operands[i];
      if (i < inputs) {
        ReadAt(operand, index);
      } else if (i < tensors) {
        const size_t output = i - inputs;
        const std::string suffix = output == 0 ? "" : "." + std::to_string(output + 1);
        Add({instruction.name + suffix,
             ImageValueKind::kWritten,
             operand,
             instruction.node.outputs[output],
             {index, UpperOf(operand, index)},
             index});
      } else {
        Add({instruction.name + ".workspace",
             ImageValueKind::kWorkspace,
             operand,
             {},
             {index, index + 1},
             index});
      }
    }
  }

  const ProgramImage& image_;
  const ImageEntry& entry_;
  std::vector<ImageValue> values_;
  std::map<int32_t, size_t> at_;  // by the number of a value in the byte code
};

}  // namespace

std::vector<ImageValue> ValuesOf(const ProgramImage& image, const ImageEntry& entry) {
  return ValueFinder(image, entry).Find();
}

bool Overlap(const ImageOperand& a, const ImageOperand& b) {
  return a.operand.arena == b.operand.arena && a.operand.offset < b.operand.offset + b.bytes &&
         b.operand.offset < a.operand.offset + a.bytes;
}

bool SameBytes(const ImageOperand& a, const ImageOperand& b) {
  return a.operand.arena == b.operand.arena && a.operand.offset == b.operand.offset &&
         a.bytes == b.bytes;
}

}  // namespace cgrun
