// The network as far as it is imported: items of the model file, with the types of their values.
#ifndef CGRUN_IMPORT_NETWORK_H_
#define CGRUN_IMPORT_NETWORK_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/import/items.h"
#include "src/import/value_names.h"
#include "src/ir/builder.h"
#include "src/ir/graph.h"

namespace cgrun {

// An imported model has this path alone.
inline constexpr char kImportedPath[] = "predict";

// A value of the network: a placeholder, or what an item gives.
struct NetworkValue {
  std::string name;
  ValueId id;     // of the graph that infers types
  int item = -1;  // its place in items(); -1 of a placeholder
};

class Network {
 public:
  // An input of an item is a value or a number.
  struct Input {
    NetworkValue value;
    std::string number;  // "" for a value
  };

  // The number type that a model file means where it names none.
  explicit Network(DType precision = DType::kF32) : precision_(precision) {}

  NetworkValue AddInput(std::string_view wish, const TensorType& type);
  // Adds an item whose first output is the result. The item's `in` is set from `inputs`, and its
  // name, a wish, is cleaned and made unique unless it is `reserved`. UserError says what is wrong
  // with types or keys.
  NetworkValue Add(Item item, const std::vector<Input>& inputs, bool reserved = false);
  // Puts `item`, which has a name, in the place of the one that gives `value`. Nothing may have
  // read that.
  NetworkValue Replace(const NetworkValue& value, Item item);

  ValueNames& names() { return names_; }
  const TensorType& TypeOf(const NetworkValue& value) const {
    return graph().values[value.id].type;
  }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<NetworkValue>& placeholders() const { return placeholders_; }
  // Returns what the item at a place reads, and what it gives.
  const std::vector<Input>& InputsOf(size_t place) const { return inputs_[place]; }
  NetworkValue ValueAt(int place) const {
    return {items_[static_cast<size_t>(place)].name, ids_[static_cast<size_t>(place)], place};
  }
  DType precision() const { return precision_; }
  // The graph that infers types.
  const Graph& graph() const { return typed_->graph; }
  // The weight that a source of the graph is; null for a placeholder.
  const Weight* WeightOf(ValueId source) const;
  // The item that gives a value; null for a placeholder.
  const Item* ItemOf(const NetworkValue& value) const {
    return value.item < 0 ? nullptr : &items_[static_cast<size_t>(value.item)];
  }

 private:
  struct Typed {
    Graph graph;
    Builder builder{graph};
  };

  // Infers the output's type of the item that will be at `place`, and sets those of its weights.
  ValueId Infer(Item& item, size_t place, const std::vector<Input>& inputs);

  DType precision_;
  std::unique_ptr<Typed> typed_ = std::make_unique<Typed>();  // stays where it is
  std::map<ValueId, std::pair<size_t, size_t>> weights_;  // places in items_ and in their weights
  ValueNames names_;
  std::vector<NetworkValue> placeholders_;
  std::vector<Item> items_;
  std::vector<std::vector<Input>> inputs_;  // of items_
  std::vector<ValueId> ids_;                // of items_
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_NETWORK_H_
