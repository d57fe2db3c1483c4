// Keys, and the one place where estimates are replaced.
#include "src/select/tuned_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "src/io/checksum.h"

namespace cgrun {
namespace {

// An option that is estimated to take as many times the least is not worth the time that measuring
// it takes: plain loops beside a library's kernel.
constexpr double kHopeless = 10;

template <class Part>
std::string TypesOf(const std::vector<TensorType>& types, const std::vector<Part>& layouts) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < types.size(); ++i) {
    texts.push_back(types[i].ToString());
    if (i < layouts.size() && !layouts[i].IsPlain()) texts.back() += " " + layouts[i].ToString();
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string OperatorOf(const NodeSignature& node) {
  std::string text = std::string(NameOf(node.op)) + node.attributes.ToString();
  for (const FusedOperator& part : node.body) {
    text += fmt::format(" {}{}({})", NameOf(part.op), part.attributes.ToString(),
                        fmt::join(part.operands, ", "));
  }
  return text;
}

RunSetting WithTF32(RunSetting setting) {
  setting.tf32 = true;
  return setting;
}

}  // namespace

std::string TuningRecord::KeyOf(const NodeSignature& node, const KernelOption& option,
                                int threads) {
  return option.kernel + " on " + std::to_string(threads) + ": " + OperatorOf(node) + " " +
         TypesOf(node.inputs, option.input_layouts) + " -> " +
         TypesOf(node.outputs, option.output_layouts);
}

std::optional<double> TuningRecord::Find(const std::string& key) const {
  const auto it = seconds_.find(key);
  return it == seconds_.end() ? std::nullopt : std::optional(it->second);
}

std::string TuningRecord::Name() const {
  uint64_t hash = 0;
  for (const auto& [key, seconds] : seconds_) {
    hash = HashBytes(std::as_bytes(std::span(key)), hash);
    hash = HashBytes(std::as_bytes(std::span(&seconds, 1)), hash);
  }
  constexpr size_t kDigits = 8;  // enough to tell the records of one machine apart
  return HashText(hash).substr(0, kDigits);
}

std::vector<KernelOption> TunedTarget::Options(const NodeSignature& node,
                                               const RunSetting& setting) const {
  std::vector<KernelOption> options =
      tf32_ ? target_.Options(node, WithTF32(setting)) : target_.Options(node, setting);
  if (record_ == nullptr || options.empty()) return options;
  const auto less = [](const KernelOption& a, const KernelOption& b) {
    return a.seconds < b.seconds;
  };
  const double hopeless = kHopeless * std::ranges::min_element(options, less)->seconds;
  for (KernelOption& option : options) {
    // One thread that gives the bits of a thread team does other work than one thread for itself.
    // The record may know only the time of the latter.
    if (setting.thread_team > setting.threads && !option.same_bits_single_threaded) continue;
    const std::string key = TuningRecord::KeyOf(node, option, setting.threads);
    std::optional<double> seconds = record_->Find(key);
    if (!seconds && measure_ && option.seconds <= hopeless) {
      seconds = measure_(node, option, setting.threads);
      if (seconds) record_->Add(key, *seconds);
    }
    if (!seconds) continue;
    option.seconds = *seconds;
    option.is_measured = true;
  }
  return options;
}

}  // namespace cgrun
