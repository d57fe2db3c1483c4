// `inputs:`, `networks:`, `blocks:`, `paths:`: what is computed.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ranges>
#include <span>
#include <utility>

#include "src/model/expression.h"
#include "src/model/fields.h"
#include "src/model/onnx_source.h"
#include "src/model/read_sections.h"
#include "src/model/types.h"

namespace cgrun {
namespace {

// Reads a map of names to maps: one Spec for each, by `read`.
template <class Spec>
void ReadNamed(const TreeEntry& section, std::vector<Spec>& specs, const Reader& reader,
               void (*read)(const TreeEntry&, Spec&, const Reader&)) {
  if (!reader.CheckMap(section.value, section.key)) return;
  for (const TreeEntry& entry : section.value.entries) {
    Spec spec;
    spec.mark = entry.key_mark;
    const auto name = ReadNewName(entry, reader);
    if (name) spec.name = *name;
    read(entry, spec, reader);
    if (name) specs.push_back(std::move(spec));
  }
}

// ---- inputs

// Floats by another program's name may be meant for images, whose bytes become floats later.
void ReadInputType(const TreeEntry& entry, InputSpec& input, const Reader& reader) {
  const std::string ours = entry.value.IsScalar() ? OurNumberType(entry.value.scalar) : "";
  Diagnostics errors;
  const auto name = ReadChoice(entry.value, entry.key, Choices(kNumberTypeType), errors);
  if (name) input.type = {*DTypeFromName(*name), entry.value.mark};
  for (const Diagnostic& error : errors.Sorted()) {
    reader.diagnostics.Error(
        error.mark, error.message,
        ours.starts_with('f') ? HelpWithNumberType(entry.key, ours) : error.help);
  }
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Returns whether the first size is what other programs write for any number of samples.
bool BeginsWithBatch(const TreeNode& node) {
  constexpr std::string_view kBatch[] = {"-1", "n", "none", "null", "~", "?", "b", "batch"};
  if (!node.IsSequence() || node.items.empty()) return false;
  const TreeNode& first = node.items.front();
  if (first.IsNull()) return true;
  return first.IsScalar() && std::ranges::find(kBatch, Lower(first.scalar)) != std::end(kBatch);
}

// "logits, label": "…" stands for items that are no scalars.
std::string ScalarsText(std::span<const TreeNode> items) {
  const auto text = [](const TreeNode& item) { return item.IsScalar() ? item.scalar : "…"; };
  return fmt::format("{}", fmt::join(items | std::views::transform(text), ", "));
}

void ReadInputShape(const TreeEntry& entry, InputSpec& input, const Reader& reader) {
  if (BeginsWithBatch(entry.value)) {
    const std::string sizes = ScalarsText(std::span(entry.value.items).subspan(1));
    const SourceMark& first = entry.value.items.front().mark;
    reader.diagnostics.Error(first, "the batch is no part of 'shape'",
                             "a shape is that of one sample: write `shape: [" + sizes + "]`");
    return;
  }
  constexpr std::string_view kOne[] = {"1", "0", "()", "scalar", "none"};
  if (entry.value.IsScalar() &&
      std::ranges::find(kOne, Lower(entry.value.scalar)) != std::end(kOne)) {
    reader.diagnostics.Error(
        entry.value.mark, "'shape' must be a list of integers, not " + Describe(entry.value),
        "write `shape: []` for one number a sample, as labels are, or `[1]` for a list of one");
    return;
  }
  const auto sizes = ReadShape(entry.value, entry.key, reader.diagnostics);
  if (sizes) input.shape = {Shape::Of(*sizes), entry.value.mark};
}

constexpr Key<InputSpec> kInputKeys[] = {
    {{"type", kNumberTypeType, "f32", "of the elements"}, ReadInputType},
    {{"shape", kShapeType, kRequired,
      "of one sample, `[]` for a single number: the batch axis is implicit"},
     ReadInputShape},
    {{"batch", kBooleanType, "true",
      "whether there is one for each sample; else the shape is whole, and a run reads one"},
     ReadBooleanField<&InputSpec::batch>},
};

void ReadInput(const TreeEntry& entry, InputSpec& input, const Reader& reader) {
  const int errors = reader.diagnostics.error_count();
  ReadMap<InputSpec>(entry.value, entry.key, entry.key_mark, kInputKeys, input, reader);
  input.broken = reader.diagnostics.error_count() > errors;
}

// ---- networks

constexpr KeyDoc kOutDoc = {"out", kNamesType, "", "its outputs; without it the last output"};

// The keys of an ONNX model are read together: see ReadOnnxSource().
void ReadWithOnnx(const TreeEntry&, NetworkSpec&, const Reader&) {}

constexpr std::string_view kOnnxKey = "onnx";
constexpr Key<NetworkSpec> kNetworkKeys[] = {
    {{"in", kNamesType, "",
      "the names of its inputs; required without `onnx`, and with it their order"},
     ReadNamesField<&NetworkSpec::in>},
    {kOutDoc, ReadNamesField<&NetworkSpec::out>},
    {{"ops", kOpsType, "", "its operators; required without `onnx`"},
     ReadOpsField<&NetworkSpec::ops>},
    {{kOnnxKey, kFileType, "", "a model of ONNX: its operators, and initial values"}, ReadWithOnnx},
    {{"outputs", kTextsType, "", "values of the ONNX file; what they do not need is left out"},
     ReadWithOnnx},
    {{"dims", kSizesType, "", "named dimension of the ONNX file → its size"}, ReadWithOnnx},
    {{"constants", kMapType, "", "input of the ONNX file → its value: a number, a list, or a file"},
     ReadWithOnnx},
    {{"frozen", kPatternsType, "",
      "names of the ONNX file's operators or tensors that never change; `true`: all"},
     ReadWithOnnx},
    {{"train", kPatternsType, "", "names of those that learn, whatever else says"}, ReadWithOnnx},
};

// Without an ONNX model, a network states its inputs and operators.
void CheckOwnOperators(const TreeEntry& entry, const Reader& reader) {
  std::vector<KeyDoc> docs = Docs<NetworkSpec>(kNetworkKeys);
  for (KeyDoc& doc : docs) {
    if (doc.name != "in" && doc.name != "ops") continue;
    doc.fallback = kRequired;
    doc.doc = doc.doc.substr(0, doc.doc.find(';'));
  }
  CheckKeys(entry.value, entry.key, entry.key_mark, docs, reader);
}

// These keys belong to imported networks. The help says what another network has instead.
constexpr std::pair<std::string_view, std::string_view> kOnnxHelp[] = {
    {"outputs", "`out` names the outputs of such a network"},
    {"dims", "remove it"},
    {"constants", "remove it: `parameter` is an operator that gives a constant"},
    {"frozen",
     "`frozen` of its operators says which do not learn, and `trains` of a path which "
     "networks do"},
    {"train", "`trains` of a path names the networks that learn"},
};

void RefuseOnnxKeys(const TreeEntry& entry, bool has_onnx, const Reader& reader) {
  const TreeEntry* ops = entry.value.Find("ops");
  const bool has_ops = ops != nullptr && !ops->value.IsNull();
  for (const auto& [key, help] : kOnnxHelp) {
    const TreeEntry* found = entry.value.Find(key);
    const bool is_of_learning = key == "frozen" || key == "train";
    if (found == nullptr || (has_onnx && !(has_ops && is_of_learning))) continue;
    reader.diagnostics.Error(found->key_mark,
                             "'" + found->key +
                                 "' goes with `onnx`, and the operators of network '" + entry.key +
                                 "' stand in this file",
                             std::string(help));
  }
}

void ReadNetwork(const TreeEntry& entry, NetworkSpec& network, const Reader& reader) {
  ReadMap<NetworkSpec>(entry.value, entry.key, entry.key_mark, kNetworkKeys, network, reader);
  if (!entry.value.IsMap()) return;
  const TreeEntry* onnx = entry.value.Find(kOnnxKey);
  const bool has_onnx = onnx != nullptr && !onnx->value.IsNull();
  if (has_onnx) network.onnx = ReadOnnxSource(entry.value, reader.diagnostics);
  if (!has_onnx) CheckOwnOperators(entry, reader);
  RefuseOnnxKeys(entry, has_onnx, reader);
}

// ---- blocks

void ReadParameters(const TreeEntry& section, BlockSpec& block, const Reader& reader) {
  if (!reader.CheckMap(section.value, section.key)) return;
  for (const TreeEntry& entry : section.value.entries) {
    const auto name = ReadNewName(entry, reader);
    if (!name) continue;
    ParameterSpec parameter{*name, std::nullopt};
    if (!entry.value.IsNull()) parameter.fallback = entry.value;
    block.params.push_back(std::move(parameter));
  }
}

void ReadBlockOps(const TreeEntry& entry, BlockSpec& block, const Reader& reader) {
  Reader in_template = reader;
  in_template.in_template = true;
  block.body = entry.value;
  block.ops = ReadOps(entry.value, entry.key, in_template);
}

constexpr Key<BlockSpec> kBlockKeys[] = {
    {{"params", kParametersType, "",
      "its parameters and their defaults; one without must be given"},
     ReadParameters},
    {{"in", kNamesType, kRequired, "the names of its inputs"}, ReadNamesField<&BlockSpec::in>},
    {kOutDoc, ReadNamesField<&BlockSpec::out>},
    {{"ops", kOpsType, kRequired, "its operators, with `${…}` for what depends on parameters"},
     ReadBlockOps},
};

// Defaults may use the parameters before them; the body may use all.
void CheckBlockPlaceholders(const BlockSpec& block, const Reader& reader) {
  std::vector<Binding> known;
  for (const ParameterSpec& parameter : block.params) {
    if (parameter.fallback) CheckPlaceholders(*parameter.fallback, known, reader.diagnostics);
    known.push_back({parameter.name.value});
  }
  CheckPlaceholders(block.body, known, reader.diagnostics);
}

void ReadBlock(const TreeEntry& entry, BlockSpec& block, const Reader& reader) {
  ReadMap<BlockSpec>(entry.value, entry.key, entry.key_mark, kBlockKeys, block, reader);
  CheckBlockPlaceholders(block, reader);
}

// ---- paths

void ReadMode(const TreeEntry& entry, PathSpec& path, const Reader& reader) {
  constexpr std::string_view kVerbs[] = {"train", "training", "eval",     "evaluation",
                                         "test",  "predict",  "inference"};
  if (entry.value.IsScalar() &&
      std::ranges::find(kVerbs, Lower(entry.value.scalar)) != std::end(kVerbs)) {
    reader.diagnostics.Error(
        entry.value.mark,
        "'" + entry.key + "' must be forward or backprop, not " + Describe(entry.value),
        "leave it out: the verb decides, `cgrun train`, `eval` or `predict`; `mode: forward` is "
        "for a path that learns nothing");
    return;
  }
  const auto mode = ReadChoice(entry.value, entry.key, Choices(kModeType), reader.diagnostics);
  if (mode) path.backprop = {*mode == "backprop", entry.value.mark};
}

// Reads an operator that may have a `weight`.
void ReadOneLoss(const TreeNode& node, std::string_view what, PathSpec& path,
                 const Reader& reader) {
  LossSpec loss{ReadOperator(node, what, nullptr, reader)};
  std::vector<Attribute>& attributes = loss.op.attributes;
  const auto weight = std::ranges::find(attributes, "weight", &Attribute::key);
  if (weight != attributes.end()) {
    const auto value = ReadReal(weight->value, weight->key, reader.diagnostics);
    loss.weight = {value.value_or(1), weight->value.mark};
    attributes.erase(weight);
  }
  path.losses.push_back(std::move(loss));
}

void ReadLoss(const TreeEntry& entry, PathSpec& path, const Reader& reader) {
  if (!entry.value.IsSequence()) return ReadOneLoss(entry.value, entry.key, path, reader);
  for (const TreeNode& item : entry.value.items) ReadOneLoss(item, entry.key, path, reader);
}

void ReadPathOptimizer(const TreeEntry& entry, PathSpec& path, const Reader& reader) {
  path.optimizer = ReadOptimizer(entry, reader);
}

// Refuses `metrics: [accuracy]`, since a metric needs to be told what it reads. The named metrics
// are kept, marked as broken, so that the front end says whether they exist.
void RefuseList(const TreeEntry& section, PathSpec& path, const Reader& reader) {
  std::string first = "accuracy";
  const auto add = [&](const TreeNode& node) {
    if (!node.IsScalar() || !IsIdentifier(node.scalar)) return;
    if (path.metrics.empty()) first = node.scalar;
    OpSpec op;
    op.target = {node.scalar, node.mark};
    op.mark = node.mark;
    op.broken = true;
    path.metrics.push_back({op.target, std::move(op)});
  };
  if (!section.value.IsSequence()) add(section.value);
  for (const TreeNode& item : section.value.items) add(item);
  reader.diagnostics.Error(
      section.value.mark, "'metrics' must be a map, not " + Describe(section.value),
      "a metric needs to know what it reads: `metrics: {" + first + ": {in: [OUTPUT, LABEL]}}`");
}

// `accuracy: [logits, label]`: its inputs stand behind `in`.
void RefuseInputs(const TreeEntry& entry, const Reader& reader) {
  reader.diagnostics.Error(
      entry.value.mark, "'" + entry.key + "' must be a map, not a list",
      "write `" + entry.key + ": {in: [" + ScalarsText(entry.value.items) + "]}`");
}

void ReadMetrics(const TreeEntry& section, PathSpec& path, const Reader& reader) {
  if (!section.value.IsMap()) return RefuseList(section, path, reader);
  for (const TreeEntry& entry : section.value.entries) {
    const auto name = ReadNewName(entry, reader);
    if (!name) continue;
    OpSpec op;
    op.target = *name;
    op.mark = entry.key_mark;
    if (entry.value.IsNull()) {
      path.metrics.push_back({*name, std::move(op)});
    } else if (entry.value.IsSequence()) {
      RefuseInputs(entry, reader);
      op.broken = true;
      path.metrics.push_back({*name, std::move(op)});
    } else {
      path.metrics.push_back({*name, ReadOperator(entry.value, entry.key, &*name, reader)});
    }
  }
}

constexpr Key<PathSpec> kPathKeys[] = {
    {{"mode", kModeType, "backprop", "whether anything is learned"}, ReadMode},
    {{"ops", kOpsType, kRequired, "its operators"}, ReadOpsField<&PathSpec::ops>},
    {{"loss", kLossType, "",
      "what a backprop path makes small; of several losses the sum, each times its `weight`"},
     ReadLoss},
    {{"metrics", kMetricsType, "", "name → operator; the operator's name may be left out"},
     ReadMetrics},
    {{"optimizer", kOptimizerType, "", "instead of the one of `train`"}, ReadPathOptimizer},
    {{"clip_weights", kPositiveRealType, "",
      "the largest absolute value of a parameter that it trains, after each update"},
     ReadPositiveField<&PathSpec::clip_weights>},
    {{"trains", kNamesType, "",
      "the networks and paths whose parameters it changes; without it "
      "all that it uses"},
     ReadNamesField<&PathSpec::trains>},
    {{"out", kReferencesType, "", "its predictions; without it the last output"},
     ReadReferencesField<&PathSpec::out>},
};

// `classify: [conv, …]`: a path is a map. Its operators are read, so that their errors are told
// too.
void RefuseListOfOps(const TreeEntry& entry, PathSpec& path, const Reader& reader) {
  reader.diagnostics.Error(
      entry.value.mark, "'" + entry.key + "' must be a map, not " + Describe(entry.value),
      "its operators go under `ops`: `" + entry.key + ": {ops: […], loss: …}`");
  path.ops = ReadOps(entry.value, "ops", reader);
}

void ReadPath(const TreeEntry& entry, PathSpec& path, const Reader& reader) {
  if (entry.value.IsSequence()) return RefuseListOfOps(entry, path, reader);
  ReadMap<PathSpec>(entry.value, entry.key, entry.key_mark, kPathKeys, path, reader);
  if (!entry.value.IsMap()) return;
  const TreeEntry* loss = entry.value.Find("loss");
  const bool none = loss == nullptr || loss->value.IsNull() ||
                    (loss->value.IsSequence() && loss->value.items.empty());
  const TreeEntry* mode = entry.value.Find("mode");
  const bool is_known = mode == nullptr || mode->value.IsNull() ||
                        mode->value.scalar == (path.backprop.value ? "backprop" : "forward");
  const bool is_meant = IsMeant(entry.value, "loss", Docs<PathSpec>(kPathKeys));
  if (path.backprop.value && none && is_known && !is_meant) {
    reader.diagnostics.Error(entry.key_mark, "the backprop path '" + entry.key + "' needs 'loss'",
                             "for example `loss: {op: softmax_cross_entropy, in: [logits, label]}` "
                             "for classes, or `{op: squared_error, in: [y, target]}` for numbers; "
                             "or `mode: forward`, if nothing is learned here");
  }
  for (const char* key : {"optimizer", "trains", "clip_weights"}) {
    const TreeEntry* found = entry.value.Find(key);
    if (path.backprop.value || found == nullptr) continue;
    reader.diagnostics.Error(
        found->key_mark,
        "a forward path learns nothing: '" + std::string(key) + "' means nothing here",
        "remove it; or remove `mode: forward`, if the path is to learn");
  }
}

}  // namespace

OpSpec ReadOptimizer(const TreeEntry& entry, const Reader& reader) {
  OpSpec optimizer = ReadOperator(entry.value, entry.key, nullptr, reader);
  if (!optimizer.in.empty()) {
    reader.diagnostics.Error(optimizer.in[0].mark, "an optimizer takes no 'in'");
  }
  return optimizer;
}

void ReadInputs(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  ReadNamed(entry, model.inputs, reader, ReadInput);
}

void ReadNetworks(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  ReadNamed(entry, model.networks, reader, ReadNetwork);
}

void ReadBlocks(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  ReadNamed(entry, model.blocks, reader, ReadBlock);
}

namespace {

// Returns whether `entry` stands among the paths where it was to stand in one.
bool IsKeyOfPath(const TreeEntry& entry) {
  const bool is_key = std::ranges::any_of(
      kPathKeys, [&](const Key<PathSpec>& key) { return key.doc.name == entry.key; });
  return is_key && (!entry.value.IsMap() || entry.value.Find("ops") == nullptr);
}

// `paths: {ops: [...], loss: ...}`: the name was forgotten.
bool IsPathWithoutName(const TreeNode& paths) {
  const TreeEntry* ops = paths.Find("ops");
  return ops != nullptr && ops->value.IsSequence() && IsKeyOfPath(paths.entries.front());
}

// `paths` with the keys of a path that stand beside it put into it.
TreeEntry WithKeysInPaths(const TreeEntry& section, const Reader& reader) {
  TreeEntry paths = section;
  paths.value.entries.clear();
  bool unnamed = IsPathWithoutName(section.value);
  if (unnamed) {
    const SourceMark& mark = section.value.entries.front().key_mark;
    reader.diagnostics.Error(mark, "a path needs a name", "`paths: {NAME: {ops: …, loss: …}}`");
    paths.value.entries.push_back({"unnamed", mark, TreeNode::Map({}, mark)});
  }
  for (const TreeEntry& entry : section.value.entries) {
    TreeEntry* path = paths.value.entries.empty() ? nullptr : &paths.value.entries.back();
    if (path == nullptr || !path->value.IsMap() || !IsKeyOfPath(entry)) {
      paths.value.entries.push_back(entry);
      unnamed = false;
      continue;
    }
    if (unnamed) {
      path->value.entries.push_back(entry);
      continue;
    }
    reader.diagnostics.Error(entry.key_mark,
                             "'" + entry.key + "' is a key of a path, and stands among the paths",
                             "indent it deeper than '" + path->key + "'");
    path->value.entries.push_back(entry);
  }
  return paths;
}

}  // namespace

void ReadPaths(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const bool is_map = entry.value.IsMap();
  ReadNamed(is_map ? WithKeysInPaths(entry, reader) : entry, model.paths, reader, ReadPath);
}

std::vector<MapDoc> GraphDocs() {
  return {
      {"inputs.*", "A placeholder.", Docs<InputSpec>(kInputKeys)},
      {"networks.*", "A sub-graph that owns its parameters: every use shares them.",
       Docs<NetworkSpec>(kNetworkKeys)},
      {"blocks.*", "A template: every use gets fresh parameters.", Docs<BlockSpec>(kBlockKeys)},
      {"paths.*", "A sequence of operators with a mode.", Docs<PathSpec>(kPathKeys)},
      {"ops[]", "An item of `ops`. Further keys are attributes of the operator.", OpKeyDocs(),
       true},
  };
}

}  // namespace cgrun
