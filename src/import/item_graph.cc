// Keeps readers while items become others, and makes a network of what is left.
#include "src/import/item_graph.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

namespace cgrun {
namespace {

// Two items with the same key compute the same. It is "" where an item may not be merged.
std::string KeyOfNode(const ItemGraph::Node& node) {
  if (node.is_output || !node.item.weights.empty() || node.in.empty()) return "";
  std::string key = node.item.op + FlowText(TreeNode::Map(node.item.keys));
  for (const ItemOperand& operand : node.in) {
    key += operand.IsNumber() ? " =" + operand.text : " " + std::to_string(operand.value);
  }
  return key;
}

}  // namespace

std::string NameOfWhole(const std::string& name, const std::string& op) {
  std::string_view rest = name;
  while (!rest.empty() && rest.back() >= '0' && rest.back() <= '9') rest.remove_suffix(1);
  if (rest.ends_with('_')) rest.remove_suffix(1);
  for (const std::string_view part : {"Add", "Div", "Mul", "Sub"}) {
    if (rest == part) return op;
    if (rest.ends_with("_" + std::string(part))) {
      return std::string(rest.substr(0, rest.size() - part.size() - 1));
    }
  }
  return name;
}

const TreeNode* KeyAt(const Item& item, std::string_view key) {
  const auto found = std::ranges::find(item.keys, key, &TreeEntry::key);
  return found == item.keys.end() ? nullptr : &found->value;
}

std::optional<std::vector<int64_t>> ListAt(const Item& item, std::string_view key) {
  const TreeNode* const node = KeyAt(item, key);
  if (node == nullptr || !node->IsSequence()) return std::nullopt;
  std::vector<int64_t> list;
  for (const TreeNode& entry : node->items) {
    const char* const end = entry.scalar.data() + entry.scalar.size();
    int64_t value = 0;
    if (std::from_chars(entry.scalar.data(), end, value).ptr != end) return std::nullopt;
    list.push_back(value);
  }
  return list;
}

ItemGraph::ItemGraph(const Network& network, const std::vector<std::string>& outputs)
    : network_(network) {
  const std::set<std::string_view> given(outputs.begin(), outputs.end());
  std::map<std::string_view, int> placeholders;
  for (const NetworkValue& value : network.placeholders()) {
    placeholders.emplace(value.name, -1 - static_cast<int>(placeholders.size()));
  }
  for (const Item& item : network.items()) {
    Node node{.item = item, .in = {}, .readers = {}, .is_output = given.contains(item.name)};
    for (const Network::Input& input : network.InputsOf(nodes_.size())) {
      if (!input.number.empty()) {
        const double number = std::strtod(input.number.c_str(), nullptr);
        node.in.push_back({ItemOperand::kNumber, number, input.number});
      } else {
        const int place = input.value.item;
        node.in.push_back({place >= 0 ? place : placeholders.at(input.value.name), 0, ""});
      }
    }
    nodes_.push_back(std::move(node));
  }
  MergeEqual();
  for (int place = 0; place < size(); ++place) {
    if (!at(place).is_dead) AddReaders(place);
  }
}

void ItemGraph::MergeEqual() {
  std::map<std::string, int> known;
  std::vector<int> same(nodes_.size());
  for (int place = 0; place < size(); ++place) {
    Node& node = nodes_[static_cast<size_t>(place)];
    for (ItemOperand& operand : node.in) {
      if (operand.value >= 0) operand.value = same[static_cast<size_t>(operand.value)];
    }
    const std::string key = KeyOfNode(node);
    const int first = key.empty() ? place : known.try_emplace(key, place).first->second;
    same[static_cast<size_t>(place)] = first;
    node.is_dead = first != place;
  }
}

void ItemGraph::AddReaders(int place) {
  for (const ItemOperand& operand : at(place).in) {
    if (operand.value >= 0) nodes_[static_cast<size_t>(operand.value)].readers.insert(place);
  }
}

// An item without readers leaves the graph, so it stops to read its operands.
void ItemGraph::DropReaders(int place, const std::vector<ItemOperand>& in) {
  for (const ItemOperand& operand : in) {
    if (operand.value < 0) continue;
    Node& read = nodes_[static_cast<size_t>(operand.value)];
    read.readers.erase(read.readers.find(place));
  }
}

const ItemGraph::Node* ItemGraph::Find(int value, std::string_view op) const {
  return value >= 0 && at(value).item.op == op ? &at(value) : nullptr;
}

const TensorType& ItemGraph::TypeOf(int value) const {
  return network_.TypeOf(value >= 0 ? network_.ValueAt(value)
                                    : network_.placeholders()[static_cast<size_t>(-1 - value)]);
}

bool ItemGraph::IsUsedOnce(int place) const {
  return !at(place).is_output && at(place).readers.size() == 1;
}

int ItemGraph::OnlyReader(int place) const {
  return IsUsedOnce(place) ? *at(place).readers.begin() : -1;
}

const Constant* ItemGraph::ConstantAt(int value) const {
  const Node* const node = Find(value, "parameter");
  return node == nullptr || node->item.weights.empty() ? nullptr : &node->item.weights[0].source;
}

void ItemGraph::Replace(int place, Item item, std::vector<ItemOperand> in) {
  Node& node = nodes_[static_cast<size_t>(place)];
  const std::vector<ItemOperand> before = std::exchange(node.in, std::move(in));
  AddReaders(place);  // first, so that what is read before and after stays
  std::vector<std::pair<int, std::vector<ItemOperand>>> dropped = {{place, before}};
  while (!dropped.empty()) {
    const auto [reader, operands] = std::move(dropped.back());
    dropped.pop_back();
    DropReaders(reader, operands);
    for (const ItemOperand& operand : operands) {
      if (operand.value < 0) continue;
      Node& read = nodes_[static_cast<size_t>(operand.value)];
      if (read.is_dead || read.is_output || !read.readers.empty()) continue;
      read.is_dead = true;
      dropped.emplace_back(operand.value, read.in);
    }
  }
  if (node.is_output) item.name = node.item.name;
  node.item = std::move(item);
  node.item.in.clear();
  node.is_new = true;
}

bool ItemGraph::IsChanged() const {
  return std::ranges::any_of(nodes_, [](const Node& node) { return node.is_new || node.is_dead; });
}

std::vector<Network::Input> ItemGraph::InputsOf(const Node& node,
                                                const std::vector<NetworkValue>& items,
                                                const Network& made) const {
  std::vector<Network::Input> inputs;
  for (const ItemOperand& operand : node.in) {
    if (operand.IsNumber()) {
      inputs.push_back({{}, operand.text});
    } else if (operand.value >= 0) {
      inputs.push_back({items[static_cast<size_t>(operand.value)], ""});
    } else {
      inputs.push_back({made.placeholders()[static_cast<size_t>(-1 - operand.value)], ""});
    }
  }
  return inputs;
}

std::optional<Network> ItemGraph::Rebuilt() const {
  Network made(network_.precision());
  std::vector<NetworkValue> items(nodes_.size());
  for (const NetworkValue& value : network_.placeholders()) {
    made.AddInput(value.name, network_.TypeOf(value));
  }
  const auto keeps_name = [](const Node& node) { return !node.is_new || node.is_output; };
  for (const Node& node : nodes_) {
    if (!node.is_dead && keeps_name(node)) made.names().Reserve(node.item.name);
  }
  for (int place = 0; place < size(); ++place) {
    if (at(place).is_dead) continue;
    Item item = at(place).item;
    item.in.clear();
    try {
      NetworkValue& value = items[static_cast<size_t>(place)];
      value = made.Add(std::move(item), InputsOf(at(place), items, made), keeps_name(at(place)));
      if (made.TypeOf(value) != TypeOf(place)) return std::nullopt;
    } catch (const UserError&) {
      return std::nullopt;
    }
  }
  return made;
}

}  // namespace cgrun
