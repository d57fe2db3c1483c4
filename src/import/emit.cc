// Writes items as YAML.
#include "src/import/emit.h"

#include <algorithm>
#include <utility>

#include "src/import/block_emitter.h"

namespace cgrun {
namespace {

TreeEntry EntryOf(std::string key, TreeNode value) {
  return {std::move(key), {}, std::move(value)};
}

TreeNode Names(const std::vector<std::string>& names) {
  if (names.size() == 1) return TreeNode::Scalar(names[0]);
  std::vector<TreeNode> items;
  for (const std::string& name : names) items.push_back(TreeNode::Scalar(name));
  return TreeNode::Sequence(std::move(items));
}

TreeNode InputNode(const EmittedInput& input) {
  std::vector<int64_t> sizes;
  for (int axis = input.batch ? 1 : 0; axis < input.type.shape.rank(); ++axis) {
    sizes.push_back(input.type.shape[axis].size);
  }
  std::vector<TreeEntry> keys = {KeyOf("type", std::string(Name(input.type.dtype))),
                                 KeyOfList("shape", sizes)};
  if (!input.batch) keys.push_back(KeyOf("batch", false));
  return TreeNode::Map(std::move(keys));
}

}  // namespace

EmittedModel EmitModel(const Network& network, const std::vector<EmittedInput>& inputs,
                       const std::vector<std::string>& outputs, bool blocks) {
  std::vector<TreeEntry> placeholders;
  for (const EmittedInput& input : inputs) {
    placeholders.push_back(EntryOf(input.name, InputNode(input)));
  }
  EmittedItems items = EmitItems(network, outputs, blocks);
  TreeNode path = TreeNode::Map({KeyOf("mode", std::string("forward")),
                                 EntryOf("ops", TreeNode::Sequence(std::move(items.ops))),
                                 EntryOf("out", Names(outputs))});
  std::vector<TreeEntry> entries = {KeyOf("cgrun", int64_t{1}),
                                    EntryOf("inputs", TreeNode::Map(std::move(placeholders)))};
  if (!items.blocks.empty()) {
    entries.push_back(EntryOf("blocks", TreeNode::Map(std::move(items.blocks))));
  }
  entries.push_back(EntryOf("paths", TreeNode::Map({EntryOf(kImportedPath, std::move(path))})));
  if (network.precision() == DType::kF64) {
    entries.push_back(EntryOf("train", TreeNode::Map({KeyOf("precision", std::string("f64"))})));
  }
  return {TreeNode::Map(std::move(entries)), std::move(items.labels)};
}

}  // namespace cgrun
