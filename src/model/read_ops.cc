// Reading items of `ops:` in all the forms that a file may give them.
#include "src/model/read_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include "src/model/expression.h"
#include "src/model/named_form.h"
#include "src/model/types.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

constexpr std::string_view kFormHelp =
    "an item is `NAME: {op: OPERATOR, …}`, `{op: OPERATOR, …}`, `OPERATOR`, "
    "`{block: BLOCK, with: {…}}`, `{network: NETWORK, in: …}` or `{gradient: VALUE, in: …}`";

// An item while its keys are read.
struct Draft {
  OpSpec op;
  bool included = true;
};

using DraftKey = Key<Draft>;

// "Conv2d(3, 16, 3)", "nn.ReLU": what other programs write. Such a name goes through, so that the
// front end, which knows the operators, says what is written for it.
bool IsCall(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('('));
  const bool call = name.size() < text.size();  // in `{…}` a comma ends the text
  size_t parts = 0;
  for (size_t begin = 0; begin <= name.size(); ++parts) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (!IsIdentifier(name.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return call || parts > 1;
}

std::optional<MarkedText> ReadOperatorName(const TreeNode& node, const Reader& reader) {
  if (node.IsScalar() && IsCall(node.scalar)) return MarkedText{node.scalar, node.mark};
  return ReadName(node, "op", reader);
}

template <OpSpec::Kind kKind>
void ReadTarget(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  draft.op.kind = kKind;
  if (kKind == OpSpec::Kind::kOperator) {
    if (auto name = ReadOperatorName(entry.value, reader)) draft.op.target = std::move(*name);
    return;
  }
  if (auto name = ReadName(entry.value, entry.key, reader)) draft.op.target = std::move(*name);
}

void ReadDifferentiated(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  draft.op.kind = OpSpec::Kind::kGradient;
  if (auto name = ReadReference(entry.value, entry.key, reader)) draft.op.target = std::move(*name);
}

void ReadIn(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  draft.op.in = ReadInputs(entry.value, entry.key, reader);
}

void ReadWith(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  if (reader.CheckMap(entry.value, entry.key)) draft.op.arguments = entry.value.entries;
}

void ReadRepeat(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  constexpr int64_t kMost = 1'000'000;
  const auto count = ReadInteger(entry.value, entry.key, reader.diagnostics, 0, kMost);
  if (!count) return;
  draft.op.repeat = *count;
  draft.included = draft.included && *count > 0;
}

void ReadOut(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  draft.op.out = ReadNames(entry.value, entry.key, reader);
}

void ReadUnroll(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  const auto axis = ReadInteger(entry.value, entry.key, reader.diagnostics, 1);
  if (axis) draft.op.unroll = {*axis, entry.value.mark};
}

void ReadIf(const TreeEntry& entry, Draft& draft, const Reader& reader) {
  const auto condition = ReadBoolean(entry.value, entry.key, reader.diagnostics);
  draft.included = draft.included && condition.value_or(true);
}

constexpr DraftKey kOpKeys[] = {
    {{"op", kNameType, "", "the operator; `cgrun ops` lists them", "target"},
     ReadTarget<OpSpec::Kind::kOperator>},
    {{"block", kNameType, "", "a template, used here with fresh parameters", "target"},
     ReadTarget<OpSpec::Kind::kBlock>},
    {{"network", kNameType, "", "a network, used here with its own parameters", "target"},
     ReadTarget<OpSpec::Kind::kNetwork>},
    {{"gradient", kReferenceType, "",
      "a value: the derivative of the sum of its elements by each element of `in`", "target"},
     ReadDifferentiated},
    {{"in", kInputsType, "", "the inputs; without it the output before"}, ReadIn},
    {{"with", kMapType, "", "of a block: the values of its parameters"}, ReadWith},
    {{"repeat", kCountType, "1", "of a block: how often it is used in a row"}, ReadRepeat},
    {{"out", kOutputsType, "", "of a block or network: names for its outputs, in their order"},
     ReadOut},
    {{"unroll", kPositiveType, "",
      "of a network: the axis of its first input along which it is used once for every index"},
     ReadUnroll},
    {{"if", kBooleanType, "true", "in the body of a block: whether the item is there"}, ReadIf},
};

void TakeAttribute(const TreeEntry& entry, Draft& draft, const Reader&) {
  draft.op.attributes.push_back(entry);
}

// `name: c` of other programs names the output, so that what reads it is not reported too.
void TakeName(OpSpec& op, const Reader& reader) {
  const auto found = std::ranges::find(op.attributes, "name", &Attribute::key);
  if (found == op.attributes.end() || !IsIdentifier(found->value.scalar)) return;
  const std::string name = found->value.scalar;
  reader.diagnostics.Error(found->key_mark, "an operator has no key 'name'",
                           "its name stands before it: `" + name + ": {op: …}`");
  op.name = MarkedText{name, found->value.mark};
  op.attributes.erase(found);
}

bool HasTarget(const TreeNode& map) {
  return map.Find("op") || map.Find("block") || map.Find("network") || map.Find("gradient");
}

// Returns the kind of item that alone takes a key; "" for keys that every item takes.
std::string_view KindThatTakes(std::string_view key) {
  if (key == "with" || key == "repeat") return "block";
  if (key == "unroll") return "network";
  return key == "out" ? "block or network" : "";
}

// Attributes belong to operators; other keys to blocks, to networks, or to both.
void CheckKeysOfKind(const TreeNode& map, OpSpec& op, const Reader& reader) {
  std::string kind;
  for (const char* key : {"op", "block", "network", "gradient"}) {
    if (map.Find(key) == nullptr) continue;
    if (!kind.empty()) return;  // reported: they exclude each other
    kind = key;
  }
  const std::vector<KeyDoc> allowed = OpKeyDocs(kind);
  const TreeEntry* in = map.Find("in");
  const size_t loose =
      in == nullptr || op.in.empty() || !in->value.IsScalar()
          ? 0
          : CountLooseInputs(in->value.mark, std::span(in + 1, &map.entries.back() + 1));
  for (const TreeEntry& entry : map.entries) {
    const bool known = std::any_of(allowed.begin(), allowed.end(),
                                   [&](const KeyDoc& key) { return key.name == entry.key; });
    if (!kind.empty() && kind != "op") {
      if (known) continue;
      if (loose == 0 || &entry <= in || &entry > in + loose) {
        ReportUnknownKey(entry, kind, allowed, reader);
      } else if (&entry == in + 1) {
        ReportLooseInputs(op.in, std::span(in + 1, loose), reader.diagnostics);
        for (size_t i = 1; i <= loose; ++i) op.in.push_back({in[i].key, in[i].key_mark});
      }
    } else if (const std::string owner(KindThatTakes(entry.key)); !owner.empty()) {
      reader.diagnostics.Error(entry.key_mark, "'" + entry.key + "' belongs to a " + owner,
                               owner == "block or network"
                                   ? "an operator's output has the item's name"
                                   : "only `{" + owner + ": …}` takes it");
    }
  }
}

// The names of blocks and networks must be known before parameters are.
void CheckLiteralTarget(const TreeNode& map, const Reader& reader) {
  for (const char* key : {"block", "network"}) {
    const TreeEntry* entry = map.Find(key);
    if (entry == nullptr || !HasPlaceholder(entry->value)) continue;
    reader.diagnostics.Error(entry->value.mark, "'" + std::string(key) + "' cannot be a parameter",
                             "choose between two items with `if`");
  }
}

// Numbers take their type from the other inputs of an operator.
void CheckInputsOfUse(const OpSpec& op, const Reader& reader) {
  for (const MarkedText& input : op.in) {
    if (!ParseReal(input.value)) continue;
    reader.diagnostics.Error(input.mark, "only operators read numbers",
                             "a block can have a parameter for it");
  }
}

// The first of `out` is the item's name.
void NameOutputs(OpSpec& op, const Reader& reader) {
  if (op.out.empty()) return;
  if (!op.name) op.name = op.out.front();
  if (op.name->value == op.out.front().value) return;
  reader.diagnostics.Error(
      op.out.front().mark,
      "the first output has two names: '" + op.name->value + "' and '" + op.out.front().value + "'",
      "`out` begins with the item's name");
}

// Reads the inside of an item: a map with `op`, `block` or `network`.
Draft ReadBody(const TreeNode& map, std::string_view what, const Reader& reader) {
  Draft draft;
  draft.op.mark = map.mark;
  if (const TreeEntry* op = map.Find("op")) draft.op.target.mark = op->value.mark;
  ReadMap<Draft>(map, what, map.mark, kOpKeys, draft, reader, TakeAttribute);
  for (const char* key : {"op", "block", "network", "gradient"}) {
    const TreeEntry* entry = map.Find(key);
    if (entry == nullptr || !entry->value.IsNull()) continue;
    reader.diagnostics.Error(entry->key_mark, "'" + std::string(key) + "' has no value");
  }
  CheckKeysOfKind(map, draft.op, reader);
  CheckLiteralTarget(map, reader);
  if (draft.op.kind != OpSpec::Kind::kOperator) {
    draft.op.attributes.clear();
    CheckInputsOfUse(draft.op, reader);
  } else {
    TakeName(draft.op, reader);
  }
  return draft;
}

// `{type: conv, …}` as `{op: conv, …}`, of which it tells; nothing where that is not meant.
std::optional<TreeNode> WithOp(const TreeNode& map, bool may_be_name, const Reader& reader) {
  if (!map.IsMap() || HasTarget(map)) return std::nullopt;
  auto form = FindNamedForm(map, may_be_name);
  if (!form) return std::nullopt;
  TreeEntry& op = form->named_by;
  reader.diagnostics.Error(op.key_mark, "the operator stands behind 'op', not '" + op.key + "'",
                           "write `op: " + op.value.scalar + "`");
  op.key = "op";
  form->rest.entries.insert(form->rest.entries.begin(), op);
  return form->rest;
}

// Reports `{adam: {lr: 0.01}}` likewise and returns it as `{op: adam, lr: 0.01}`.
std::optional<TreeNode> WithOpOfKey(const TreeNode& map, std::string_view what,
                                    const Reader& reader) {
  if (!map.IsMap() || map.entries.size() != 1 || HasTarget(map)) return std::nullopt;
  const TreeEntry& entry = map.entries.front();
  if (entry.key == "in" || entry.key == "lr" || !IsIdentifier(entry.key)) return std::nullopt;
  TreeNode op = entry.value;
  if (!op.IsMap()) {
    op = TreeNode::Map({}, map.mark);
    const char* key = what == "optimizer" ? "lr" : "in";
    if (!entry.value.IsNull()) op.entries.push_back({key, entry.key_mark, entry.value});
  }
  op.entries.insert(op.entries.begin(),
                    {"op", entry.key_mark, TreeNode::Scalar(entry.key, entry.key_mark)});
  reader.diagnostics.Error(map.mark, "'" + std::string(what) + "' needs 'op'",
                           "write `" + std::string(what) + ": " + FlowText(op) + "`");
  return op;
}

Draft OperatorCalled(const TreeNode& scalar, const Reader& reader) {
  Draft draft;
  draft.op.mark = scalar.mark;
  if (reader.IsDeferred(scalar)) return draft;
  if (auto name = ReadOperatorName(scalar, reader)) draft.op.target = std::move(*name);
  return draft;
}

// `NAME:`, and the keys that should be inside of its map behind it.
bool IsUnderIndented(const TreeNode& map) {
  return map.entries.size() > 1 && map.entries.front().value.IsNull() &&
         map.entries.front().key != "op";
}

// Reports an error in a map that fits no form.
void ReportNoForm(const TreeNode& item, const Reader& reader) {
  const TreeEntry* first = item.entries.empty() ? nullptr : &item.entries.front();
  if (IsUnderIndented(item)) {
    reader.diagnostics.Error(first->key_mark, "'" + first->key + "' is empty",
                             "indent the keys behind it deeper than the name");
    return;
  }
  std::string help(kFormHelp);
  if (first != nullptr && first->value.IsMap() && HasTarget(first->value)) {
    help = "the keys of '" + first->key + "' stand inside of its map";
  }
  reader.diagnostics.Error(item.mark, "this item has no 'op', 'block' or 'network'", help);
}

// `NAME: …`
std::optional<Draft> ReadNamed(const TreeEntry& entry, const Reader& reader) {
  auto name = ReadNewName(entry, reader);
  const TreeNode& value = entry.value;
  const bool named = value.IsScalar() && (IsIdentifier(value.scalar) || IsCall(value.scalar) ||
                                          reader.IsDeferred(value));
  Draft draft;
  if (named) {
    draft = OperatorCalled(value, reader);
  } else if (value.IsMap() && HasTarget(value)) {
    draft = ReadBody(value, entry.key, reader);
  } else if (const auto mended = WithOp(value, false, reader)) {
    draft = ReadBody(*mended, entry.key, reader);
  } else {
    const bool lone = value.IsMap() && !value.entries.empty() && value.entries[0].value.IsNull() &&
                      IsIdentifier(value.entries[0].key);
    reader.diagnostics.Error(
        entry.key_mark, "'" + entry.key + "' has no 'op', 'block' or 'network'",
        lone ? "write `" + entry.key + ": {op: " + value.entries[0].key + ", …}`"
             : "if '" + entry.key + "' is the operator, write `{op: " + entry.key +
                   ", …}`; if it is the name of an output, `" + entry.key + ": {op: OPERATOR, …}`");
    return std::nullopt;
  }
  draft.op.mark = entry.key_mark;
  draft.op.name = std::move(name);
  return draft;
}

// `block: {op: …}`: a key of items where the name of an output is meant.
bool IsNamedAsKey(const TreeNode& item) {
  return item.IsMap() && item.entries.size() == 1 && HasTarget(item) &&
         item.entries.front().value.IsMap();
}

std::optional<Draft> ReadItem(const TreeNode& item, const Reader& reader) {
  if (item.IsScalar()) return OperatorCalled(item, reader);
  if (IsNamedAsKey(item)) {
    const TreeEntry& entry = item.entries.front();
    reader.diagnostics.Error(entry.key_mark, "no output can have the name '" + entry.key + "'",
                             "it is a key of items: choose another name");
    return std::nullopt;
  }
  if (item.IsMap() && HasTarget(item) && !IsUnderIndented(item)) return ReadBody(item, "", reader);
  if (item.IsMap() && item.entries.size() == 1) return ReadNamed(item.entries.front(), reader);
  if (const auto mended = WithOp(item, false, reader)) return ReadBody(*mended, "", reader);
  if (item.IsMap()) {
    ReportNoForm(item, reader);
  } else {
    reader.diagnostics.Error(item.mark, "an item of 'ops' cannot be " + Describe(item),
                             std::string(kFormHelp));
  }
  return std::nullopt;
}

// In the body of a block, items with `if` may share a name: one of them is there.
bool IsConditional(const TreeNode& item) {
  if (!item.IsMap()) return false;
  if (item.Find("if")) return true;
  return item.entries.size() == 1 && item.entries.front().value.Find("if");
}

// Returns an operator in place of an item that has no form, with the name that the item seems to
// have.
OpSpec Unread(const TreeNode& item) {
  OpSpec op;
  op.mark = item.mark;
  op.broken = true;
  const TreeEntry* first = item.entries.empty() ? nullptr : &item.entries.front();
  if (first != nullptr && IsIdentifier(first->key)) op.name = {first->key, first->key_mark};
  return op;
}

OpSpec ReadLoneOperator(const TreeNode& node, std::string_view what, const MarkedText* name,
                        const Reader& reader) {
  OpSpec none;
  none.mark = node.mark;
  if (node.IsScalar()) return OperatorCalled(node, reader).op;
  if (!node.IsMap()) {
    reader.diagnostics.Error(
        node.mark, "'" + std::string(what) + "' must be an operator, not " + Describe(node),
        "write `{op: OPERATOR, …}`");
    return none;
  }
  if (const auto mended = WithOp(node, name == nullptr, reader)) {
    return ReadBody(*mended, what, reader).op;
  }
  const auto mended = name == nullptr ? WithOpOfKey(node, what, reader) : std::nullopt;
  if (mended) return ReadBody(*mended, what, reader).op;
  OpSpec op = ReadBody(node, what, reader).op;
  if (op.kind != OpSpec::Kind::kOperator) {
    reader.diagnostics.Error(op.target.mark, "'" + std::string(what) + "' must be an operator",
                             "write `{op: OPERATOR, …}`");
    return none;
  }
  if (node.Find("op")) return op;
  if (name == nullptr) {
    reader.diagnostics.Error(node.mark, "'" + std::string(what) + "' needs 'op'",
                             "write `{op: OPERATOR, …}`");
    return op;
  }
  op.target = *name;
  return op;
}

}  // namespace

std::vector<OpSpec> ReadOps(const TreeNode& node, std::string_view what, const Reader& reader) {
  std::vector<OpSpec> ops;
  if (!reader.CheckSequence(node, what)) return ops;
  NameScope scope;
  for (const TreeNode& item : node.items) {
    const int errors = reader.diagnostics.error_count();
    std::optional<Draft> draft = ReadItem(item, reader);
    if (!draft) {
      ops.push_back(Unread(item));
      continue;
    }
    if (!draft->included) continue;
    NameOutputs(draft->op, reader);
    draft->op.broken = reader.diagnostics.error_count() > errors;
    const bool conditional = reader.in_template && IsConditional(item);
    for (const MarkedText& name : OutputNames(draft->op)) {
      if (!conditional) scope.Add(name, reader);
    }
    ops.push_back(std::move(draft->op));
  }
  return ops;
}

OpSpec ReadOperator(const TreeNode& node, std::string_view what, const MarkedText* name,
                    const Reader& reader) {
  const int errors = reader.diagnostics.error_count();
  OpSpec op = ReadLoneOperator(node, what, name, reader);
  op.broken = reader.diagnostics.error_count() > errors;
  return op;
}

size_t CountLooseInputs(SourceMark last, std::span<const TreeEntry> entries) {
  size_t count = 0;
  for (; count < entries.size() && entries[count].value.IsNull(); ++count) {
    const SourceMark& mark = entries[count].key_mark;
    const int gap = mark.column - last.column - last.length;
    if (mark.line != last.line || gap < 1 || gap > 2) break;  // "," or ", "
    last = mark;
  }
  return count;
}

void ReportLooseInputs(const std::vector<MarkedText>& in, std::span<const TreeEntry> loose,
                       Diagnostics& diagnostics) {
  const auto inputs = in | std::views::transform(&MarkedText::value);
  std::string list = fmt::format("{}", fmt::join(inputs, ", "));
  for (const TreeEntry& entry : loose) list += ", " + entry.key;
  diagnostics.Error(loose.front().key_mark,
                    "a comma ends a value: 'in' is " + in.back().value + " here, and '" +
                        loose.front().key + "' a key",
                    "write `in: [" + list + "]`");
}

void AssignLabels(std::vector<OpSpec>& ops) {
  std::set<std::string> taken;
  for (const OpSpec& op : ops) {
    for (const MarkedText& name : OutputNames(op)) taken.insert(name.value);
  }
  std::map<std::string, int64_t> counts;
  for (OpSpec& op : ops) {
    op.labels.clear();
    if (op.name && op.repeat == 1) op.labels.push_back(op.name->value);
    const bool gradient = op.kind == OpSpec::Kind::kGradient;
    const std::string stem = op.name ? op.name->value : gradient ? "gradient" : op.target.value;
    while (static_cast<int64_t>(op.labels.size()) < op.repeat) {
      const std::string label = stem + "[" + std::to_string(counts[stem]++) + "]";
      if (taken.insert(label).second) op.labels.push_back(label);
    }
  }
}

std::vector<KeyDoc> OpKeyDocs() { return Docs<Draft>(kOpKeys); }

std::vector<KeyDoc> OpKeyDocs(std::string_view kind) {
  std::vector<KeyDoc> allowed;
  for (const KeyDoc& key : OpKeyDocs()) {
    const std::string_view owner = KindThatTakes(key.name);
    const bool of_other = !key.group.empty() && key.name != kind;
    const bool owned = owner.empty() || (!kind.empty() && owner.find(kind) != owner.npos);
    if (!of_other && owned) allowed.push_back(key);
  }
  return allowed;
}

}  // namespace cgrun
