// The keys onnx, outputs, dims, constants, frozen and train.
#include "src/model/onnx_source.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/model/values.h"

namespace cgrun {
namespace {

const TreeNode* GivenValue(const TreeNode& network, std::string_view key) {
  const TreeEntry* entry = network.Find(key);
  return entry == nullptr || entry->value.IsNull() ? nullptr : &entry->value;
}

std::vector<MarkedText> ReadTexts(const TreeNode& network, const std::string& key,
                                  Diagnostics& diagnostics) {
  std::vector<MarkedText> texts;
  const TreeNode* node = GivenValue(network, key);
  if (node == nullptr) return texts;
  const auto add = [&](const TreeNode& item) {
    if (auto text = ReadText(item, key, diagnostics)) texts.push_back({*text, item.mark});
  };
  if (!node->IsSequence()) add(*node);
  for (const TreeNode& item : node->items) add(item);
  return texts;
}

// `true` stands for all names, `false` for none.
std::vector<MarkedText> ReadPatterns(const TreeNode& network, const std::string& key,
                                     Diagnostics& diagnostics) {
  const TreeNode* node = GivenValue(network, key);
  if (node != nullptr && node->IsScalar() && !node->quoted) {
    if (node->scalar == "true") return {{"*", node->mark}};
    if (node->scalar == "false") return {};
  }
  return ReadTexts(network, key, diagnostics);
}

const std::vector<TreeEntry>& ReadEntries(const TreeNode& network, const std::string& key,
                                          const std::string& example, Diagnostics& diagnostics) {
  static const std::vector<TreeEntry> none;
  const TreeNode* node = GivenValue(network, key);
  if (node == nullptr || node->IsMap()) return node == nullptr ? none : node->entries;
  diagnostics.Error(node->mark, "'" + key + "' must be a map, not " + Describe(*node), example);
  return none;
}

}  // namespace

std::optional<OnnxSource> ReadOnnxSource(const TreeNode& network, Diagnostics& diagnostics) {
  const TreeNode* node = GivenValue(network, "onnx");
  if (node == nullptr) return std::nullopt;
  OnnxSource source;
  const auto file = ReadText(*node, "onnx", diagnostics);
  if (file) source.file = {*file, node->mark};
  source.outputs = ReadTexts(network, "outputs", diagnostics);
  for (const TreeEntry& entry :
       ReadEntries(network, "dims", "for example `dims: {seq: 128}`", diagnostics)) {
    constexpr int64_t kMost = int64_t{1} << 31;
    const auto size = ReadInteger(entry.value, entry.key, diagnostics, 1, kMost);
    if (size) source.dims.push_back({{entry.key, entry.value.mark}, *size});
  }
  source.constants =
      ReadEntries(network, "constants", "for example `constants: {sr: 16000}`", diagnostics);
  source.frozen = ReadPatterns(network, "frozen", diagnostics);
  source.train = ReadPatterns(network, "train", diagnostics);
  if (!file) return std::nullopt;
  return source;
}

}  // namespace cgrun
