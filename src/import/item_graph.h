// The items of a network with their readers, so that several can become one.
#ifndef CGRUN_IMPORT_ITEM_GRAPH_H_
#define CGRUN_IMPORT_ITEM_GRAPH_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/import/constant.h"
#include "src/import/network.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// Holds what an item reads: a value, or a number.
struct ItemOperand {
  int value = -1;  // the place of an item; below 0 for a placeholder; kNumber for a number
  double number = 0;
  std::string text;  // of the number

  static constexpr int kNumber = -(1 << 30);
  bool IsNumber() const { return value == kNumber; }
};

class ItemGraph {
 public:
  struct Node {
    Item item;
    std::vector<ItemOperand> in;
    std::multiset<int> readers;  // places of items, once for each operand
    bool is_output = false;
    bool is_dead = false;
    bool is_new = false;  // it takes the place of another item
  };

  // Items that compute the same from the same values become one. `outputs` are names.
  ItemGraph(const Network& network, const std::vector<std::string>& outputs);

  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& at(int place) const { return nodes_[static_cast<size_t>(place)]; }
  // Returns null for placeholders, and for items that are no `op`.
  const Node* Find(int value, std::string_view op) const;
  // The type of an item's or of a placeholder's value.
  const TensorType& TypeOf(int value) const;
  // The one reader of an item that is no output; -1 where there is none, or several.
  int OnlyReader(int place) const;
  // Returns whether an item is no output, and one operand alone reads it.
  bool IsUsedOnce(int place) const;
  // The constant that a `parameter` gives; null for other values.
  const Constant* ConstantAt(int value) const;

  // Puts an item in the place of another. Items that nothing reads any more are dead. The name is
  // a wish unless the place is an output, which keeps its own.
  void Replace(int place, Item item, std::vector<ItemOperand> in);

  // Returns whether any item has become another one, or is dead.
  bool IsChanged() const;
  // The network of the items that are not dead; nothing where an item cannot be inferred, or where
  // one has another type than before.
  std::optional<Network> Rebuilt() const;

 private:
  void MergeEqual();
  void AddReaders(int place);
  void DropReaders(int place, const std::vector<ItemOperand>& in);
  std::vector<Network::Input> InputsOf(const Node& node, const std::vector<NetworkValue>& items,
                                       const Network& made) const;

  const Network& network_;
  std::vector<Node> nodes_;
};

// "encoder_norm1" of "encoder_norm1_Add_1", the last of the nodes that are now one `op`.
std::string NameOfWhole(const std::string& name, const std::string& op);

// A key of an item; null where it is absent.
const TreeNode* KeyAt(const Item& item, std::string_view key);
// The integers of a key; nothing where it is no list of them.
std::optional<std::vector<int64_t>> ListAt(const Item& item, std::string_view key);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_ITEM_GRAPH_H_
