// Finds operators and activations by name.
#include "src/frontend/op_lookup.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/base/name_notes.h"
#include "src/frontend/operator_synonyms.h"

namespace cgrun {
namespace {

constexpr size_t kLongestHelp = 400;  // characters; more names are found in a list sooner

template <class Predicate>
std::vector<std::string> NamesWhere(Predicate predicate) {
  std::vector<std::string> names;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (predicate(def)) names.push_back(def.name);
  }
  return names;
}

std::string_view KindOf(Usage usage) {
  switch (usage) {
    case Usage::kLoss:
      return "loss";
    case Usage::kMetric:
      return "metric";
    case Usage::kOptimizer:
      return "optimizer";
    default:
      return "operator";
  }
}

// Returns the place of operators of a usage in a model file; `%` is the operator's name.
std::string_view HomeOf(Usage usage) {
  switch (usage) {
    case Usage::kLoss:
      return "is a loss: `loss: {op: %, in: [OUTPUT, LABEL]}` of a path";
    case Usage::kMetric:
      return "is a metric: `metrics: {%: {in: [OUTPUT, LABEL]}}` of a path";
    case Usage::kOptimizer:
      return "is an optimizer: `train: {optimizer: {op: %, lr: …}}`";
    default:
      return "is an operator of `ops`";
  }
}

std::vector<std::string> NamesOf(Usage usage) {
  return NamesWhere([usage](const OpDef& def) { return def.usage == usage; });
}

// Explains an operator that belongs to another place: "'adam' is an optimizer: …". Returns "" for a
// name that no place takes.
std::string HelpWithOtherUsage(const std::string& name, Usage usage) {
  for (const Usage other : {Usage::kOptimizer, Usage::kLoss, Usage::kMetric, Usage::kOperator}) {
    const std::string same = other == usage ? "" : SameOperator(name, NamesOf(other));
    if (same.empty()) continue;
    std::string home(HomeOf(other));
    if (const size_t place = home.find('%'); place != std::string::npos) {
      home.replace(place, 1, same);
    }
    return "'" + same + "' " + home;
  }
  return "";
}

// Writes an operator that another program's call stands for: "{op: conv, filters: …}".
std::string WrittenAs(const OpDef& def) {
  std::string keys;
  for (const AttributeField& field : def.schema->fields()) {
    if (field.required) keys += ", " + field.name + ": …";
  }
  return "write `{op: " + def.name + keys + "}`; `cgrun ops " + def.name +
         "` says what its keys are";
}

constexpr std::string_view kIsRecurrent =
    "there is none: a `network` is a cell, and `unroll` uses it for each place of a sequence; "
    "`update` carries its state on. models/char-rnn.yaml is a gated recurrent unit, "
    "docs/reference/networks.md explains it";
constexpr std::string_view kIsAttention =
    "there is none: attention is written with `linear`, `matmul` and `softmax`, in a `block` to "
    "use it again; `layer_norm` and `add` are the rest of a transformer (`cgrun ops matmul`)";

constexpr std::string_view kIsSequence =
    "leave it out: the items of `ops` follow each other; a `block` gathers some to use them again";
constexpr std::string_view kIsConv1d =
    "there is none of one dimension: `conv` with `kernel: [1, 3]` reads sequences as images of "
    "height 1, [channels, 1, length] (`reshape` makes them of others)";
constexpr std::string_view kIsElu =
    "there is none: `elu`, `leaky_relu` and `gelu` are the activations that are next to it";
constexpr std::string_view kIsNorm =
    "there is none: `layer_norm` is over a sample's last axes, `batch_norm` over a channel of the "
    "batch";
constexpr std::string_view kIsDice =
    "there is none: `softmax_cross_entropy` is the loss of masks, its `class_weights` lift rare "
    "classes, and `per_class_accuracy` or `confusion_matrix` says how each is found";
constexpr std::string_view kIsActivation =
    "an activation is an operator by its own name, `- relu`, or a key of another: `activation: "
    "relu`";
constexpr std::string_view kIsEinsum =
    "there is none: `matmul`, `transpose`, `mul` and `reduce_sum` do what it says";

// Activations of other programs that are operators with keys here.
constexpr NameNote kOfActivations[] = {
    {"relu6", "", "it is an operator of its own, behind this one: `- {op: clip, min: 0, max: 6}`"},
    {"hardtanh", "",
     "it is an operator of its own, behind this one: `- {op: clip, min: -1, max: 1}`"},
    {"softmax", "",
     "before `softmax_cross_entropy`, which has it within, leave it out; else it is an operator of "
     "its own: `- softmax`"},
};

// Layers of other programs that are several operators here, or none.
constexpr NameNote kNotes[] = {
    {"relu6", "clip", "write `{op: clip, min: 0, max: 6}`"},
    {"hardtanh", "clip", "write `{op: clip, min: -1, max: 1}`"},
    {"sequential", "", kIsSequence},
    {"modulelist", "", kIsSequence},
    {"conv1d", "conv", kIsConv1d},
    {"conv3d", "conv", "there is none: convolutions have one or two dimensions (`cgrun ops conv`)"},
    {"swish", "silu", "write `{op: silu}`"},
    {"selu", "", kIsElu},
    {"celu", "", kIsElu},
    {"prelu", "", kIsElu},
    {"groupnorm", "", kIsNorm},
    {"instancenorm", "", kIsNorm},
    {"instancenorm2d", "", kIsNorm},
    {"activation", "", kIsActivation},
    {"dice", "", kIsDice},
    {"diceloss", "", kIsDice},
    {"iou", "", kIsDice},
    {"meaniou", "", kIsDice},
    {"jaccard", "", kIsDice},
    {"einsum", "", kIsEinsum},
    {"lstm", "", kIsRecurrent},
    {"lstmcell", "", kIsRecurrent},
    {"bilstm", "", kIsRecurrent},
    {"gru", "", kIsRecurrent},
    {"grucell", "", kIsRecurrent},
    {"rnn", "", kIsRecurrent},
    {"rnncell", "", kIsRecurrent},
    {"simplernn", "", kIsRecurrent},
    {"recurrent", "", kIsRecurrent},
    {"bidirectional", "", kIsRecurrent},
    {"attention", "", kIsAttention},
    {"selfattention", "", kIsAttention},
    {"multiheadattention", "", kIsAttention},
    {"mha", "", kIsAttention},
    {"transformer", "", kIsAttention},
    {"transformerencoder", "", kIsAttention},
    {"transformerencoderlayer", "", kIsAttention},
    {"transformerblock", "", kIsAttention},
};

std::string HelpWithUnknown(const std::string& name, Usage usage) {
  const std::vector<std::string> known = NamesOf(usage);
  const std::string same = SameOperator(name, known);
  if (const std::string note = NoteOn(BareName(name), known, kNotes); !note.empty()) return note;
  if (!same.empty() && BareName(name) != name) return WrittenAs(GetOpDef(*FindOp(same)));
  const std::string other = same.empty() ? HelpWithOtherUsage(name, usage) : "";
  if (!other.empty()) return other;
  const std::string help = SuggestOperator(name, known);
  return help.size() > kLongestHelp ? "`cgrun ops` lists them, with a line on each" : help;
}

}  // namespace

bool IsOf(const OpDef& def, Usage usage) {
  if (def.usage == usage) return true;
  return usage == Usage::kLoss && def.usage == Usage::kOperator && def.owned == nullptr &&
         !def.needs_step;
}

std::vector<std::string> ActivationNames() {
  return NamesWhere([](const OpDef& def) { return def.activation; });
}

const OpDef* FindDef(const OpSpec& op, Usage usage, Diagnostics& diagnostics) {
  const std::optional<OpId> id = FindOp(op.target.value);
  if (id && IsOf(GetOpDef(*id), usage)) return &GetOpDef(*id);
  // Without its rate the name alone would be the next error.
  const bool bare = usage == Usage::kOptimizer && op.attributes.empty() &&
                    BareName(op.target.value) == op.target.value;
  const std::string same = bare ? SameOperator(op.target.value, NamesOf(usage)) : "";
  diagnostics.Error(op.target.mark,
                    "there is no " + std::string(KindOf(usage)) + " '" + op.target.value + "'",
                    same.empty() ? HelpWithUnknown(op.target.value, usage)
                                 : "write `optimizer: {op: " + same + ", lr: …}`");
  return nullptr;
}

const OpDef* GuessDef(const OpSpec& op, Usage usage) {
  if (op.target.value.find('(') != std::string::npos) return nullptr;  // its keys are no keys
  const std::string name = GuessOperator(op.target.value, NamesOf(usage));
  return name.empty() ? nullptr : &GetOpDef(*FindOp(name));
}

std::string NoteOnLayer(const std::string& name) {
  return NoteOn(BareName(name), NamesOf(Usage::kOperator), kNotes);
}

OpId IdOf(const OpDef& def) { return *FindOp(def.name); }

bool ReadsNothing(const OpSpec& op) {
  const std::optional<OpId> id =
      op.kind == OpSpec::Kind::kOperator ? FindOp(op.target.value) : std::nullopt;
  if (!id) return false;
  const OpDef& def = GetOpDef(*id);
  // An operator that owns a tensor owns its last input.
  const size_t own = def.needs_step || def.owned != nullptr ? 1 : 0;
  return def.inputs.size() == own;
}

Activation FindActivation(const OpSpec& op, Diagnostics& diagnostics) {
  for (const Attribute& attribute : op.attributes) {
    if (attribute.key != "activation") continue;
    const std::vector<std::string> known = ActivationNames();
    const std::string& name = attribute.value.scalar;
    if (std::find(known.begin(), known.end(), name) != known.end()) return {FindOp(name), name};
    std::string note =
        OurName(name, known, {}).empty() ? NoteOn(BareName(name), {}, kOfActivations) : "";
    if (note.empty()) note = NoteOn(name, known, kNotes);
    diagnostics.Error(attribute.value.mark, "there is no activation " + Describe(attribute.value),
                      note.empty() ? SuggestOperator(name, known) : note);
  }
  return {};
}

}  // namespace cgrun
