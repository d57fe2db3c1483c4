// A part that a path, network or block names counts as used, even if nothing uses the part that
// names it.
#include "src/frontend/unused_parts.h"

#include <set>
#include <string>
#include <vector>

#include "src/frontend/op_lookup.h"

namespace cgrun {
namespace {

class UsedNames {
 public:
  explicit UsedNames(const ModelSpec& model) {
    for (const PathSpec& path : model.paths) Add(path.ops);
    for (const NetworkSpec& network : model.networks) Add(network.ops);
    for (const BlockSpec& block : model.blocks) Add(block.ops);
  }

  bool HasNetwork(const std::string& name) const { return networks_.contains(name); }
  bool HasBlock(const std::string& name) const { return blocks_.contains(name); }

 private:
  void Add(const std::vector<OpSpec>& ops) {
    for (const OpSpec& op : ops) {
      if (op.kind == OpSpec::Kind::kNetwork) networks_.insert(op.target.value);
      if (op.kind == OpSpec::Kind::kBlock) blocks_.insert(op.target.value);
      Add(op.body);
    }
  }

  std::set<std::string> networks_, blocks_;
};

// Calls `see` with each part that nothing uses, and what kind of part it is.
template <class See>
void ForEachUnused(const ModelSpec& model, const See& see) {
  const UsedNames used(model);
  for (const NetworkSpec& network : model.networks) {
    if (!used.HasNetwork(network.name.value)) see(network, "network");
  }
  for (const BlockSpec& block : model.blocks) {
    if (!used.HasBlock(block.name.value)) see(block, "block");
  }
}

}  // namespace

void WarnOfUnusedParts(const ModelSpec& model, Diagnostics& diagnostics) {
  ForEachUnused(model, [&](const auto& part, const std::string& kind) {
    const std::string& name = part.name.value;
    diagnostics.Warning(part.name.mark, "nothing uses " + kind + " '" + name + "'",
                        "an item `{" + kind + ": " + name + "}` of a path does; else it can go");
  });
}

void CheckUnusedParts(const ModelSpec& model, Diagnostics& diagnostics) {
  ForEachUnused(model, [&](const auto& part, const std::string& /*kind*/) {
    for (const OpSpec& op : part.ops) {
      const std::string& name = op.target.value;
      const bool is_known = op.kind == OpSpec::Kind::kOperator && !op.broken && !name.empty() &&
                            name.find("${") == std::string::npos;
      if (is_known) FindDef(op, Usage::kOperator, diagnostics);
    }
  });
}

}  // namespace cgrun
