// The tensors that operators own (parameters, running statistics): made at the first use, found
// again by the other uses of a network, and who uses which.
#ifndef CGRUN_FRONTEND_OWNED_TENSORS_H_
#define CGRUN_FRONTEND_OWNED_TENSORS_H_

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/frontend/place.h"
#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/model/model_spec.h"

namespace cgrun {

class OwnedTensors {
 public:
  // Adds to `builder`'s graph. All must outlive this.
  OwnedTensors(Builder& builder, const std::string& model_file, Diagnostics& diagnostics)
      : builder_(builder), model_file_(model_file), diagnostics_(diagnostics) {}

  // Appends to `inputs` what the operator at `place` owns. Returns false after an error.
  bool Add(const OpDef& def, const Attributes& attributes, const OpSpec& op, const Place& place,
           const std::string& label, std::vector<ValueId>& inputs);

  // Running statistics change in the forward pass of training: an edge for each.
  void UpdateStatistics(const OpDef& def, const std::vector<ValueId>& inputs,
                        const std::vector<ValueId>& outputs);

  // Returns the values that a path or network uses, in the order of first use.
  const std::vector<ValueId>& UsedBy(const std::string& user) { return used_by_[user]; }

 private:
  std::vector<OwnedTensor> Tensors(const OpDef& def, const Attributes& attributes,
                                   const std::vector<ValueId>& inputs) const;
  void Note(ValueId id, const Place& place);
  ValueId Current(ValueId state) const;

  Builder& builder_;
  const std::string& model_file_;
  Diagnostics& diagnostics_;
  std::map<std::string, ValueId> by_name_;
  std::map<std::string, std::vector<ValueId>> used_by_;
  std::set<std::pair<std::string, ValueId>> uses_;  // those of used_by_
  // The places of update edges in the graph, by what they update and by what that becomes.
  std::unordered_map<ValueId, size_t> edge_of_state_, edge_of_next_;
};

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_OWNED_TENSORS_H_
