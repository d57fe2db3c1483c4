// The expansion of blocks: arguments are bound, the body's tree is substituted and read again.
#include "src/model/expand_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <utility>

#include "src/model/expression.h"
#include "src/model/read_ops.h"

namespace cgrun {
namespace {

template <class Spec>
const Spec* FindNamed(const std::vector<Spec>& specs, const std::string& name) {
  const auto it = std::find_if(specs.begin(), specs.end(),
                               [&](const Spec& spec) { return spec.name.value == name; });
  return it == specs.end() ? nullptr : &*it;
}

// Uses that lead back to where they stand. A definition is called "block 'x'" or "network 'x'".
class RecursionCheck {
 public:
  RecursionCheck(const ModelSpec& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics) {}

  // Returns true if nothing uses itself.
  bool Run() {
    for (const BlockSpec& block : model_.blocks)
      Visit("block '" + block.name.value + "'", block.ops);
    for (const NetworkSpec& network : model_.networks) {
      Visit("network '" + network.name.value + "'", network.ops);
    }
    return !found_;
  }

 private:
  // Returns the levels of uses from `definition` down, with itself as the first.
  int Visit(const std::string& definition, const std::vector<OpSpec>& ops) {
    const auto known = height_.find(definition);
    if (known != height_.end()) return known->second;
    open_.push_back(definition);
    int height = 1;
    for (const OpSpec& op : ops) height = std::max(height, 1 + VisitUse(op));
    open_.pop_back();
    return height_[definition] = height;
  }

  int VisitUse(const OpSpec& op) {
    const bool is_use = op.kind == OpSpec::Kind::kBlock || op.kind == OpSpec::Kind::kNetwork;
    if (!is_use || too_deep_) return 0;
    const bool is_block = op.kind == OpSpec::Kind::kBlock;
    const std::string used = (is_block ? "block '" : "network '") + op.target.value + "'";
    if (std::find(open_.begin(), open_.end(), used) != open_.end()) {
      Report(op, used);
      return 0;
    }
    const BlockSpec* block = is_block ? FindNamed(model_.blocks, op.target.value) : nullptr;
    const NetworkSpec* network = is_block ? nullptr : FindNamed(model_.networks, op.target.value);
    int height = static_cast<int>(open_.size()) >= kMaxBlockDepth ? kMaxBlockDepth : 0;
    if (block && height == 0) height = Visit(used, block->ops);
    if (network && height == 0) height = Visit(used, network->ops);
    if (height >= kMaxBlockDepth && !too_deep_) {
      found_ = too_deep_ = true;
      diagnostics_.Error(op.target.mark, "blocks and networks are nested deeper than " +
                                             std::to_string(kMaxBlockDepth) + " levels");
    }
    return height;
  }

  void Report(const OpSpec& op, const std::string& used) {
    found_ = true;
    std::string chain = used;
    for (auto it = std::find(open_.begin(), open_.end(), used) + 1; it != open_.end(); ++it) {
      chain += (chain == used ? " uses " : ", which uses ") + *it;
    }
    diagnostics_.Error(op.target.mark, used + " uses itself",
                       chain == used ? "take this use out"
                                     : chain + ", which uses " + used + "; take one of these out");
  }

  const ModelSpec& model_;
  Diagnostics& diagnostics_;
  std::vector<std::string> open_;
  std::map<std::string, int> height_;
  bool found_ = false;
  bool too_deep_ = false;
};

class Expander {
 public:
  Expander(const ModelSpec& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics) {}

  // `repeats`: how often these items stand in the whole model.
  void Expand(std::vector<OpSpec>& ops, const std::shared_ptr<const BlockUse>& use,
              int64_t repeats);
  // Checks the uses in a template as far as that goes without values.
  void CheckTemplate(const BlockSpec& block);
  bool stopped() const { return stopped_; }

 private:
  // Returns false if the body could not be made.
  bool ExpandUse(OpSpec& op, const std::shared_ptr<const BlockUse>& outer, int64_t repeats);
  // Returns the arguments of a use with the defaults of the others; nothing after an error.
  std::optional<std::vector<ParameterSpec>> Bind(const BlockSpec& block, const OpSpec& op,
                                                 const BlockUse* outer);
  void CheckArguments(const BlockSpec& block, const OpSpec& op, const BlockUse* outer);
  const BlockSpec* FindBlock(const OpSpec& op, const BlockUse* outer);
  void CheckNetwork(const OpSpec& op, const BlockUse* outer);
  void CheckInputs(const OpSpec& op, const std::vector<MarkedText>& formal, const BlockUse* outer);
  bool Count(const OpSpec& op, int64_t repeats);
  void Error(const SourceMark& mark, const std::string& message, std::string help,
             const BlockUse* use);

  const ModelSpec& model_;
  Diagnostics& diagnostics_;
  SubstitutionBudget budget_;
  int64_t ops_ = 0;   // operators and uses of networks
  int64_t uses_ = 0;  // of blocks
  bool stopped_ = false;
};

void Expander::Error(const SourceMark& mark, const std::string& message, std::string help,
                     const BlockUse* use) {
  const std::string note = UseNote(use);
  if (!help.empty() && !note.empty()) help += "; ";
  diagnostics_.Error(mark, message, help + note);
}

bool Expander::Count(const OpSpec& op, int64_t repeats) {
  (op.kind == OpSpec::Kind::kBlock ? uses_ : ops_) += repeats;
  const bool is_small = ops_ <= kMaxExpandedOps && uses_ <= kMaxExpandedOps;
  if (is_small && !budget_.exceeded()) return true;
  if (!stopped_) {
    diagnostics_.Error(op.mark, "the blocks of this model grow too large here",
                       "at most " + std::to_string(kMaxExpandedOps) + " operators are allowed");
  }
  stopped_ = true;
  return false;
}

void Expander::Expand(std::vector<OpSpec>& ops, const std::shared_ptr<const BlockUse>& use,
                      int64_t repeats) {
  for (OpSpec& op : ops) {
    op.use = use;
    const int64_t uses = std::min(repeats * op.repeat, kMaxExpandedOps + 1);
    if (stopped_ || !Count(op, uses)) return;
    const int errors = diagnostics_.error_count();
    if (op.kind == OpSpec::Kind::kNetwork) {
      CheckNetwork(op, use.get());
      op.broken |= diagnostics_.error_count() > errors;
    }
    if (op.kind == OpSpec::Kind::kBlock) op.broken |= !ExpandUse(op, use, uses);
  }
  AssignLabels(ops);
}

bool Expander::ExpandUse(OpSpec& op, const std::shared_ptr<const BlockUse>& outer,
                         int64_t repeats) {
  const BlockSpec* block = FindBlock(op, outer.get());
  if (block == nullptr) return false;
  if (block->body.mark.file == nullptr) return false;  // that it has none is said where it stands
  const int errors_before = diagnostics_.error_count();
  CheckInputs(op, block->in, outer.get());
  const bool fits = diagnostics_.error_count() == errors_before;
  const auto parameters = Bind(*block, op, outer.get());
  if (!parameters) return false;
  std::vector<Binding> bindings;
  for (const ParameterSpec& p : *parameters) bindings.push_back({p.name.value, &*p.fallback});
  const auto use = std::make_shared<const BlockUse>(BlockUse{block->name.value, op.mark, outer});
  Diagnostics inner;
  const TreeNode body = Substitute(block->body, bindings, budget_, inner);
  if (!Count(op, 0)) return false;
  const bool substituted = !inner.has_errors();
  op.body = ReadOps(body, "ops", Reader{inner});
  for (const Diagnostic& d : inner.Sorted()) Error(d.mark, d.message, d.help, use.get());
  op.body_in = block->in;
  op.body_out = block->out;
  if (substituted) Expand(op.body, use, repeats);
  return fits && substituted && !stopped_;
}

std::optional<std::vector<ParameterSpec>> Expander::Bind(const BlockSpec& block, const OpSpec& op,
                                                         const BlockUse* outer) {
  const int errors_before = diagnostics_.error_count();
  CheckArguments(block, op, outer);
  std::vector<ParameterSpec> bound;
  std::vector<Binding> before;
  bound.reserve(block.params.size());  // `before` points into it
  for (const ParameterSpec& parameter : block.params) {
    const auto argument =
        std::find_if(op.arguments.begin(), op.arguments.end(),
                     [&](const Attribute& a) { return a.key == parameter.name.value; });
    TreeNode value;
    if (argument != op.arguments.end() && !argument->value.IsNull()) {
      value = argument->value;
    } else if (parameter.fallback) {
      value = Substitute(*parameter.fallback, before, budget_, diagnostics_);
    }
    bound.push_back({parameter.name, std::move(value)});
    before.push_back({parameter.name.value, &*bound.back().fallback});
  }
  if (diagnostics_.error_count() > errors_before) return std::nullopt;
  return bound;
}

void Expander::CheckArguments(const BlockSpec& block, const OpSpec& op, const BlockUse* outer) {
  const std::vector<std::string> names = NamesOf(block.params);
  for (const Attribute& argument : op.arguments) {
    if (std::find(names.begin(), names.end(), argument.key) != names.end()) continue;
    Error(argument.key_mark,
          "block '" + block.name.value + "' has no parameter '" + argument.key + "'",
          SuggestName(argument.key, names), outer);
  }
  for (const ParameterSpec& parameter : block.params) {
    const bool given = std::any_of(
        op.arguments.begin(), op.arguments.end(),
        [&](const Attribute& a) { return a.key == parameter.name.value && !a.value.IsNull(); });
    if (given || parameter.fallback) continue;
    Error(op.target.mark,
          "block '" + block.name.value + "' needs the parameter '" + parameter.name.value + "'",
          "give it in `with: {" + parameter.name.value + ": …}`", outer);
  }
}

const BlockSpec* Expander::FindBlock(const OpSpec& op, const BlockUse* outer) {
  const BlockSpec* block = FindNamed(model_.blocks, op.target.value);
  if (block == nullptr && !op.target.value.empty()) {
    Error(op.target.mark, "there is no block '" + op.target.value + "'",
          model_.blocks.empty() ? "the file has no 'blocks'"
                                : SuggestName(op.target.value, NamesOf(model_.blocks)),
          outer);
  }
  return block;
}

void Expander::CheckNetwork(const OpSpec& op, const BlockUse* outer) {
  const NetworkSpec* network = FindNamed(model_.networks, op.target.value);
  if (network != nullptr) return CheckInputs(op, network->in, outer);
  if (op.target.value.empty()) return;  // reported
  Error(op.target.mark, "there is no network '" + op.target.value + "'",
        model_.networks.empty() ? "the file has no 'networks'"
                                : SuggestName(op.target.value, NamesOf(model_.networks)),
        outer);
}

void Expander::CheckInputs(const OpSpec& op, const std::vector<MarkedText>& formal,
                           const BlockUse* outer) {
  const size_t given = op.in.empty() ? 1 : op.in.size();
  if (given == formal.size() || formal.empty()) return;
  const auto names = formal | std::views::transform(&MarkedText::value);
  Error(op.in.empty() ? op.target.mark : op.in[0].mark,
        "'" + op.target.value + "' takes " +
            CountText(static_cast<int64_t>(formal.size()), "input") + ", and " +
            (op.in.empty() ? "none is named"
                           : std::to_string(given) + (given == 1 ? " is given" : " are given")),
        fmt::format("its inputs are: {}", fmt::join(names, ", ")), outer);
}

void Expander::CheckTemplate(const BlockSpec& block) {
  for (const OpSpec& op : block.ops) {
    if (op.kind == OpSpec::Kind::kNetwork) CheckNetwork(op, nullptr);
    if (op.kind != OpSpec::Kind::kBlock) continue;
    if (const BlockSpec* used = FindBlock(op, nullptr)) CheckArguments(*used, op, nullptr);
  }
}

// Marks the uses that the front end must not follow, as they may have no end.
void BreakUses(std::vector<OpSpec>& ops) {
  for (OpSpec& op : ops) {
    if (op.kind == OpSpec::Kind::kOperator) continue;
    op.broken = true;
    BreakUses(op.body);
  }
}

void BreakAllUses(ModelSpec& model) {
  for (NetworkSpec& network : model.networks) BreakUses(network.ops);
  for (PathSpec& path : model.paths) BreakUses(path.ops);
}

}  // namespace

std::string UseNote(const BlockUse* use) {
  std::string note;
  for (; use != nullptr; use = use->outer.get()) {
    note += (note.empty() ? "" : ", ") + ("in block '" + use->block + "', used in ") +
            PlaceText(use->mark);
  }
  return note;
}

void ExpandBlocks(ModelSpec& model, Diagnostics& diagnostics) {
  Expander expander(model, diagnostics);
  for (const BlockSpec& block : model.blocks) expander.CheckTemplate(block);
  if (!RecursionCheck(model, diagnostics).Run()) return BreakAllUses(model);
  for (NetworkSpec& network : model.networks) expander.Expand(network.ops, nullptr, 1);
  for (PathSpec& path : model.paths) expander.Expand(path.ops, nullptr, 1);
  if (expander.stopped()) BreakAllUses(model);
}

}  // namespace cgrun
