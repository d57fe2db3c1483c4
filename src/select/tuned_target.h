// Kernels chosen by measurement: how long they took on this machine, in place of estimates.
#ifndef CGRUN_SELECT_TUNED_TARGET_H_
#define CGRUN_SELECT_TUNED_TARGET_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/ops/target.h"

namespace cgrun {

// Seconds that kernels took, by what they ran: a node's operator, attributes and types, the kernel
// and its layouts, and the threads.
class TuningRecord {
 public:
  static std::string KeyOf(const NodeSignature& node, const KernelOption& option, int threads);

  std::optional<double> Find(const std::string& key) const;
  void Add(const std::string& key, double seconds) { seconds_[key] = seconds; }
  bool empty() const { return seconds_.empty(); }
  // A hash of all that is in it, as hexadecimal digits: equal records choose equal kernels.
  std::string Name() const;
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  std::map<std::string, double> seconds_;  // by name, so that a record is written the same always
};

// Measures an option; nothing where that cannot be done.
using MeasureKernel = std::function<std::optional<double>(const NodeSignature& node,
                                                          const KernelOption& option, int threads)>;

// A target whose options have the seconds of a record, where that knows them. As all questions of a
// compilation go through it, it also says of each what the number type of the run allows.
class TunedTarget final : public Target {
 public:
  // `record` (null: none) outlives it, as `target` does. With `measure`, what the record does not
  // know is measured and added to it, but for options that are estimated to be hopeless. `tf32`:
  // RunSetting::tf32 of all questions.
  TunedTarget(const Target& target, TuningRecord* record, MeasureKernel measure = nullptr,
              bool tf32 = false)
      : target_(target), record_(record), measure_(std::move(measure)), tf32_(tf32) {}

  std::string_view name() const override { return target_.name(); }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override;
  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return target_.Evaluate(node, inputs);
  }
  std::string fingerprint() const override { return target_.fingerprint(); }

 private:
  const Target& target_;
  TuningRecord* record_;
  MeasureKernel measure_;
  bool tf32_;
};

}  // namespace cgrun

#endif  // CGRUN_SELECT_TUNED_TARGET_H_
