// Transfers that are under way, kept along the instructions.
#include "src/program/verify_transfers.h"

#include <algorithm>

#include "src/ir/op_def.h"
#include "src/program/image_values.h"

namespace cgrun {
namespace {

bool Same(const ImageOperand& a, const ImageOperand& b) {
  return a.operand.arena == b.operand.arena && a.operand.offset == b.operand.offset &&
         a.bytes == b.bytes && a.value == b.value;
}

// Between an instruction that begins it and one that waits for it.
struct UnderWay {
  std::string name;
  ImageOperand from, to;
};

class TransferVerifier {
 public:
  explicit TransferVerifier(const ImageEntry& entry) : entry_(entry) {}

  std::vector<std::string> Run() {
    for (const ImageInstruction& instruction : entry_.instructions) Visit(instruction);
    for (const UnderWay& transfer : under_way_) Fail(transfer.name + " is never waited for");
    return std::move(violations_);
  }

 private:
  void Fail(const std::string& sentence) { violations_.push_back(entry_.name + ": " + sentence); }

  void Visit(const ImageInstruction& instruction) {
    const std::vector<ImageOperand>& operands = instruction.operands;
    const OpId op = instruction.node.op;
    if (IsTransfer(op) && operands.size() != (op == OpId::swap_out ? 2 : 3)) {
      return Fail(instruction.name + " has not the operands of its operator");
    }
    const bool waits = op == OpId::swap_out_wait || op == OpId::swap_in_wait;
    if (waits) End(instruction, operands[1], operands[0]);  // f, x → written; y, f → z
    CheckApart(instruction);
    if (op == OpId::swap_out) Begin(instruction, operands[0], operands[1]);  // x → f
    if (op == OpId::swap_in) Begin(instruction, operands[0], operands[2]);   // f, written → y
  }

  void Begin(const ImageInstruction& instruction, const ImageOperand& from,
             const ImageOperand& to) {
    if (entry_.incremental) Fail(instruction.name + " is in an entry point that can run in part");
    under_way_.push_back({instruction.name, from, to});
  }

  void End(const ImageInstruction& instruction, const ImageOperand& from, const ImageOperand& to) {
    const auto begun = std::ranges::find_if(under_way_, [&](const UnderWay& transfer) {
      return Same(transfer.from, from) && Same(transfer.to, to);
    });
    if (begun == under_way_.end()) return Fail(instruction.name + " waits for nothing");
    under_way_.erase(begun);
  }

  void CheckApart(const ImageInstruction& instruction) {
    for (const UnderWay& transfer : under_way_) {
      for (const ImageOperand& operand : instruction.operands) {
        const bool writes = operand.operand.access != Access::kRead;
        if (Overlap(operand, transfer.to) || (writes && Overlap(operand, transfer.from))) {
          Fail(instruction.name + " meets what " + transfer.name + " has on its way");
        }
      }
    }
  }

  const ImageEntry& entry_;
  std::vector<UnderWay> under_way_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> VerifyTransfers(const ImageEntry& entry) {
  return TransferVerifier(entry).Run();
}

}  // namespace cgrun
