// Names blocks, their items, their parameters and their uses, as far as possible by what the names
// of items have in common.
#include "src/import/block_emitter.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "src/import/blocks.h"
#include "src/import/value_names.h"

namespace cgrun {
namespace {

using Names = std::vector<std::string>;

constexpr size_t kMostParameters = 8;
constexpr char kAnyName[] = "layer";

TreeNode NamesNode(const Names& names) {
  if (names.size() == 1) return TreeNode::Scalar(names[0]);
  std::vector<TreeNode> items;
  for (const std::string& name : names) items.push_back(TreeNode::Scalar(name));
  return TreeNode::Sequence(std::move(items));
}

TreeNode ItemNode(const std::string& name, const std::string& op, const Names& in,
                  const std::vector<TreeEntry>& own_keys, const std::string& before) {
  std::vector<TreeEntry> keys = {KeyOf("op", op)};
  const bool goes_on = in.size() == 1 && in[0] == before;
  if (!goes_on && !in.empty()) keys.push_back({"in", {}, NamesNode(in)});
  keys.insert(keys.end(), own_keys.begin(), own_keys.end());
  TreeNode described = keys.size() == 1 ? TreeNode::Scalar(op) : TreeNode::Map(std::move(keys));
  return TreeNode::Map({{name, {}, std::move(described)}});
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Names PartsOf(const std::string& name) {
  Names parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('_', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string Joined(const Names& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "_") + part;
  return text;
}

// The parts in front that all names have.
Names CommonParts(const std::vector<Names>& names) {
  if (names.empty()) return {};
  Names common = names[0];
  for (const Names& parts : names) {
    const auto same = std::ranges::mismatch(common, parts).in1 - common.begin();
    common.resize(static_cast<size_t>(same));
  }
  return common;
}

// "layer1_0" of "layer1_0_conv1" and "layer1_0_norm1".
std::string CommonFront(const Names& names) {
  std::vector<Names> all;
  for (const std::string& name : names) all.push_back(PartsOf(name));
  return Joined(CommonParts(all));
}

// "conv1" of "layer1_0_conv1" and "layer2_0_conv1".
std::string CommonEnd(const Names& names) {
  std::vector<Names> all;
  for (const std::string& name : names) {
    all.push_back(PartsOf(name));
    std::ranges::reverse(all.back());
  }
  Names common = CommonParts(all);
  const auto is_number = [](const std::string& part) { return std::ranges::all_of(part, IsDigit); };
  while (!common.empty() && is_number(common.back())) common.pop_back();
  std::ranges::reverse(common);
  return Joined(common);
}

// Holds one or several runs of a block in a row.
struct Use {
  std::vector<int> starts;
  std::string name;
  std::string front;  // the common beginning of its items' names
};

// Keeps the items in their order.
BlockPlan PlanWithoutBlocks(const Network& network) {
  BlockPlan plan;
  plan.order.resize(network.items().size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  return plan;
}

class Emission {
 public:
  Emission(const Network& network, const Names& outputs, bool blocks)
      : network_(network),
        outputs_(outputs.begin(), outputs.end()),
        plan_(blocks ? FindBlocks(network, outputs) : PlanWithoutBlocks(network)) {
    emitted_.labels.resize(network.items().size());
    place_of_.resize(network.items().size());
    last_read_.resize(network.items().size(), -1);
    for (size_t place = 0; place < plan_.order.size(); ++place) {
      const auto index = static_cast<size_t>(plan_.order[place]);
      place_of_[index] = static_cast<int>(place);
      for (const Network::Input& input : network.InputsOf(index)) {
        if (input.value.item < 0) continue;
        last_read_[static_cast<size_t>(input.value.item)] = static_cast<int>(place);
      }
    }
  }

  EmittedItems Run() {
    for (const RepeatedBlock& block : plan_.blocks) AddBlock(block);
    ReserveNames();
    for (BlockText& block : blocks_) NameUses(block);
    NameBlocks();
    AddOps();
    return std::move(emitted_);
  }

 private:
  // A block with what its uses have in common.
  struct BlockText {
    int length = 0;
    std::vector<Use> uses;
    std::string name;
    Names locals;                       // of the items
    std::vector<int> results;           // items, counted from the start, that are read behind a use
    std::vector<TreeEntry> parameters;  // without values
    std::map<int, std::vector<TreeNode>> arguments;  // of a start: a value for each parameter
    std::vector<std::vector<TreeEntry>> keys;        // of the items
    Names inputs;
  };

  int ItemAt(int place) const { return plan_.order[static_cast<size_t>(place)]; }
  const Item& At(int place) const { return network_.items()[static_cast<size_t>(ItemAt(place))]; }
  bool IsOutput(int place) const { return outputs_.contains(At(place).name); }
  const std::vector<Network::Input>& InputsAt(int place) const {
    return network_.InputsOf(static_cast<size_t>(ItemAt(place)));
  }

  // Returns whether `input` of an item within a use that begins at `start` comes from outside.
  bool IsOutside(const Network::Input& input, int start) const {
    if (!input.number.empty()) return false;
    return input.value.item < 0 || place_of_[static_cast<size_t>(input.value.item)] < start;
  }

  // The values that a use reads, in the order in which it reads them first.
  std::vector<NetworkValue> OutsideOf(int start, int length) const {
    std::vector<NetworkValue> values;
    std::set<std::string_view> seen;
    for (int place = start; place < start + length; ++place) {
      for (const Network::Input& input : InputsAt(place)) {
        if (IsOutside(input, start) && seen.insert(input.value.name).second) {
          values.push_back(input.value);
        }
      }
    }
    return values;
  }

  std::vector<int> ResultsOf(const RepeatedBlock& block) const {
    std::vector<int> results;
    for (int i = 0; i < block.length; ++i) {
      const bool is_read = std::ranges::any_of(block.starts, [&](int start) {
        const int last = last_read_[static_cast<size_t>(ItemAt(start + i))];
        return last >= start + block.length || IsOutput(start + i);
      });
      if (is_read) results.push_back(i);
    }
    return results;
  }

  void AddBlock(const RepeatedBlock& plan) {
    BlockText block;
    block.length = plan.length;
    block.results = ResultsOf(plan);
    if (block.results.empty()) return;
    if (!AddParameters(plan, block)) return;
    std::vector<int> starts = plan.starts;
    std::ranges::sort(starts);
    for (const int start : starts) {
      if (!block.uses.empty() && GoesOn(block, block.uses.back().starts.back(), start)) {
        block.uses.back().starts.push_back(start);
      } else {
        block.uses.push_back({{start}, "", ""});
      }
    }
    NameItems(plan, block);
    for (const int start : starts) {
      for (int i = 0; i < block.length; ++i) within_.insert(start + i);
    }
    blocks_.push_back(std::move(block));
  }

  // Returns whether the use at `next` is one more run of that at `start`: it reads its one result,
  // and all else is the same.
  bool GoesOn(const BlockText& block, int start, int next) const {
    if (next != start + block.length || block.results.size() != 1) return false;
    const int result = start + block.results[0];
    if (IsOutput(result) || !(block.arguments.at(start) == block.arguments.at(next))) return false;
    if (last_read_[static_cast<size_t>(ItemAt(result))] >= next + block.length) return false;
    std::vector<NetworkValue> before = OutsideOf(start, block.length);
    const std::vector<NetworkValue> after = OutsideOf(next, block.length);
    if (after.empty() || after[0].item != ItemAt(result)) return false;
    return std::ranges::equal(before.begin() + 1, before.end(), after.begin() + 1, after.end(), {},
                              &NetworkValue::name, &NetworkValue::name);
  }

  // Keys whose values differ become parameters; those that always have the same values share one.
  // Returns false where there would be too many.
  bool AddParameters(const RepeatedBlock& plan, BlockText& block) const {
    std::map<std::string, std::string> known;  // values of all uses → parameter
    ValueNames names;
    for (int i = 0; i < plan.length; ++i) {
      std::vector<TreeEntry> keys = At(plan.starts[0] + i).keys;
      for (size_t k = 0; k < keys.size(); ++k) {
        std::string all;
        bool differs = false;
        for (const int start : plan.starts) {
          const TreeNode& value = At(start + i).keys[k].value;
          differs |= !(value == keys[k].value);
          all += ToYaml(value) + "\n";
        }
        if (!differs) continue;
        const auto [name, is_new] = known.try_emplace(all, "");
        if (is_new) {
          name->second = names.Take(keys[k].key);
          block.parameters.push_back({name->second, {}, TreeNode()});
          for (const int start : plan.starts) {
            block.arguments[start].push_back(At(start + i).keys[k].value);
          }
        }
        keys[k].value = TreeNode::Scalar("${" + name->second + "}");
      }
      block.keys.push_back(std::move(keys));
    }
    for (const int start : plan.starts) block.arguments[start];
    return block.parameters.size() <= kMostParameters;
  }

  void NameItems(const RepeatedBlock& plan, BlockText& block) const {
    ValueNames names;
    const size_t inputs = OutsideOf(plan.starts[0], plan.length).size();
    for (size_t i = 0; i < inputs; ++i) block.inputs.push_back(names.Take("x"));
    for (int i = 0; i < plan.length; ++i) {
      Names given;
      for (const int start : plan.starts) given.push_back(At(start + i).name);
      const std::string end = CommonEnd(given);
      block.locals.push_back(names.Take(end.empty() ? At(plan.starts[0] + i).op : end));
    }
  }

  // Values keep their names, but for the first result of a use, which has the name of the use.
  void ReserveNames() {
    for (const NetworkValue& value : network_.placeholders()) names_.Reserve(value.name);
    for (size_t place = 0; place < plan_.order.size(); ++place) {
      const int at = static_cast<int>(place);
      if (!within_.contains(at) || IsOutput(at)) names_.Reserve(At(at).name);
    }
    for (const BlockText& block : blocks_) {
      for (const Use& use : block.uses) {
        for (size_t i = 1; i < block.results.size(); ++i) {
          names_.Reserve(At(use.starts[0] + block.results[i]).name);
        }
      }
    }
  }

  // Returns the front that the names of layers with weights share, or else those of all items.
  std::string FrontOf(const BlockText& block, const Use& use) const {
    Names layers, all;
    for (const int start : use.starts) {
      for (int i = 0; i < block.length; ++i) {
        const Item& item = At(start + i);
        all.push_back(item.name);
        if (!item.weights.empty() && item.op != "parameter") layers.push_back(item.name);
      }
    }
    std::string front = layers.size() > 1 ? CommonFront(layers) : "";
    return front.empty() ? CommonFront(all) : front;
  }

  void NameUses(BlockText& block) {
    for (Use& use : block.uses) {
      const int result = use.starts.back() + block.results[0];
      use.front = FrontOf(block, use);
      use.name = IsOutput(result) ? At(result).name
                                  : names_.Take(use.front.empty() ? kAnyName : use.front);
      value_names_[ItemAt(result)] = use.name;
      for (size_t run = 0; run < use.starts.size(); ++run) {
        const std::string label =
            use.starts.size() > 1 ? use.name + "[" + std::to_string(run) + "]" : use.name;
        for (int i = 0; i < block.length; ++i) {
          emitted_.labels[static_cast<size_t>(ItemAt(use.starts[run] + i))] =
              label + "." + block.locals[static_cast<size_t>(i)];
        }
      }
    }
  }

  // "layer" of "layer1_0" and "layer2_1".
  void NameBlocks() {
    ValueNames names;
    for (BlockText& block : blocks_) {
      std::string name = block.uses[0].front;
      for (const Use& use : block.uses) {
        name.resize(static_cast<size_t>(std::ranges::mismatch(name, use.front).in1 - name.begin()));
      }
      while (!name.empty() && (IsDigit(name.back()) || name.back() == '_')) name.pop_back();
      block.name = names.Take(name.empty() ? kAnyName : name);
      emitted_.blocks.push_back({block.name, {}, BodyOf(block)});
    }
  }

  TreeNode BodyOf(const BlockText& block) const {
    const int start = block.uses[0].starts[0];
    std::map<std::string_view, std::string> names;
    const std::vector<NetworkValue> outside = OutsideOf(start, block.length);
    for (size_t i = 0; i < outside.size(); ++i) names[outside[i].name] = block.inputs[i];
    std::vector<TreeNode> ops;
    std::string before;
    for (int i = 0; i < block.length; ++i) {
      const auto at = static_cast<size_t>(i);
      Names in;
      for (const Network::Input& input : InputsAt(start + i)) {
        in.push_back(input.number.empty() ? names.at(input.value.name) : input.number);
      }
      const std::string& local = block.locals[at];
      ops.push_back(ItemNode(local, At(start + i).op, in, block.keys[at], before));
      names[At(start + i).name] = before = local;
    }
    std::vector<TreeEntry> body;
    if (!block.parameters.empty()) body.push_back({"params", {}, TreeNode::Map(block.parameters)});
    body.push_back({"in", {}, NamesNode(block.inputs)});
    body.push_back({"ops", {}, TreeNode::Sequence(std::move(ops))});
    Names out;
    for (const int result : block.results) out.push_back(block.locals[static_cast<size_t>(result)]);
    if (out.size() > 1 || out[0] != block.locals.back())
      body.push_back({"out", {}, NamesNode(out)});
    return TreeNode::Map(std::move(body));
  }

  std::string ValueName(const NetworkValue& value) const {
    const auto known = value.item < 0 ? value_names_.end() : value_names_.find(value.item);
    return known == value_names_.end() ? value.name : known->second;
  }

  TreeNode UseNode(const BlockText& block, const Use& use, const std::string& before) const {
    Names in;
    for (const NetworkValue& value : OutsideOf(use.starts[0], block.length)) {
      in.push_back(ValueName(value));
    }
    std::vector<TreeEntry> keys = {KeyOf("block", block.name)};
    if (!in.empty() && (in.size() > 1 || in[0] != before))
      keys.push_back({"in", {}, NamesNode(in)});
    std::vector<TreeEntry> arguments = block.parameters;
    for (size_t i = 0; i < arguments.size(); ++i) {
      arguments[i].value = block.arguments.at(use.starts[0])[i];
    }
    if (!arguments.empty()) keys.push_back({"with", {}, TreeNode::Map(std::move(arguments))});
    if (use.starts.size() > 1) keys.push_back(KeyOf("repeat", std::ssize(use.starts)));
    if (block.results.size() > 1) {
      Names out;
      for (const int result : block.results) out.push_back(At(use.starts[0] + result).name);
      out[0] = use.name;  // the first result has the name of the item
      keys.push_back({"out", {}, NamesNode(out)});
    }
    return TreeNode::Map({{use.name, {}, TreeNode::Map(std::move(keys))}});
  }

  void AddOps() {
    std::map<int, std::pair<const BlockText*, const Use*>> uses;
    for (const BlockText& block : blocks_) {
      for (const Use& use : block.uses) uses[use.starts[0]] = {&block, &use};
    }
    std::string before;
    for (int place = 0; place < static_cast<int>(plan_.order.size());) {
      const auto found = uses.find(place);
      if (found != uses.end()) {
        const auto& [block, use] = found->second;
        emitted_.ops.push_back(UseNode(*block, *use, before));
        before = block->results.size() == 1 ? use->name : "";
        place += block->length * static_cast<int>(use->starts.size());
        continue;
      }
      const Item& item = At(place);
      Names in;
      for (const Network::Input& input : InputsAt(place)) {
        in.push_back(input.number.empty() ? ValueName(input.value) : input.number);
      }
      emitted_.ops.push_back(ItemNode(item.name, item.op, in, item.keys, before));
      emitted_.labels[static_cast<size_t>(ItemAt(place))] = item.name;
      before = item.name;
      ++place;
    }
  }

  const Network& network_;
  std::set<std::string_view> outputs_;
  BlockPlan plan_;
  std::vector<int> place_of_, last_read_;  // of items: places
  std::vector<BlockText> blocks_;
  std::set<int> within_;  // places in blocks
  ValueNames names_;
  std::map<int, std::string> value_names_;  // of items whose value has the name of a use
  EmittedItems emitted_;
};

}  // namespace

EmittedItems EmitItems(const Network& network, const std::vector<std::string>& outputs,
                       bool blocks) {
  return Emission(network, outputs, blocks).Run();
}

}  // namespace cgrun
