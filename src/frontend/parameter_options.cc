// Initialisers as users write them: `he_normal`, `{normal: {mean: 0, deviation: 0.02}}`,
// `{constant: 0.1}`, or one of these for each tensor: `{weight: he_normal, bias: zeros}`; the other
// keys likewise: `0.1`, or `{weight: 0.1, bias: 0.2}`.
#include "src/frontend/parameter_options.h"

#include <algorithm>
#include <cstdio>

#include "src/base/synonyms.h"
#include "src/model/model_file.h"
#include "src/model/named_form.h"
#include "src/model/values.h"
#include "src/ops/initializers.h"

namespace cgrun {
namespace {

// These names belong to PyTorch, Keras and Caffe, as do those of the arguments.
constexpr Synonym kInitialisers[] = {
    {"xavier", "glorot_uniform"},
    {"xavieruniform", "glorot_uniform"},
    {"xaviernormal", "glorot_normal"},
    {"glorot", "glorot_uniform"},
    {"kaiming", "he_normal"},
    {"kaiminguniform", "he_uniform"},
    {"kaimingnormal", "he_normal"},
    {"msra", "he_normal"},
    {"he", "he_normal"},
    {"gaussian", "normal"},
    {"randomnormal", "normal"},
    {"randomuniform", "uniform"},
    {"truncnormal", "truncated_normal"},
    {"std", "deviation"},
    {"stddev", "deviation"},
    {"sigma", "deviation"},
    {"val", "value"},
    {"minval", "low"},
    {"maxval", "high"},
};

constexpr InitArgument kConstantArguments[] = {{"value", 0}};
constexpr InitArgument kOrthogonalArguments[] = {{"gain", 1}};
constexpr InitArgument kUniformArguments[] = {{"low", -0.05}, {"high", 0.05}};
constexpr InitArgument kNormalArguments[] = {{"mean", 0}, {"deviation", 0.01}};

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class InitReader {
 public:
  InitReader(Diagnostics& diagnostics, const std::string& model_file)
      : diagnostics_(diagnostics), model_file_(model_file) {}

  // A name, or a map of one name to its arguments.
  ParameterInfo Read(const TreeNode& node) {
    ParameterInfo info;
    if (const auto form = FindNamedForm(node)) {
      return Read(MendedForm(*form));
    }
    if (node.IsScalar()) {
      if (CheckName(node.scalar, node.mark) && node.scalar == "file") ReadFile({}, node, info);
      info.init = node.scalar;
    } else if (node.IsMap() && node.entries.size() == 1) {
      const TreeEntry& entry = node.entries[0];
      if (CheckName(entry.key, entry.key_mark)) {
        if (entry.key == "file") {
          ReadFile(entry.value, node, info);
        } else {
          ReadArguments(entry, info);
        }
      }
      info.init = entry.key;
    } else {
      diagnostics_.Error(node.mark,
                         "'init' must be the name of an initialiser, not " + Describe(node),
                         "for example `he_normal` or `{normal: {mean: 0, deviation: 0.02}}`");
    }
    return info;
  }

 private:
  // `{type: xavier}`, of which it tells, as `{glorot_uniform: {}}`.
  TreeNode MendedForm(const NamedForm& form) {
    const std::string& theirs = form.named_by.value.scalar;
    const std::string ours = OurInitializer(theirs);
    const std::string kind = ours.empty() ? theirs : ours;
    const SourceMark& mark = form.named_by.value.mark;
    std::vector<std::string> arguments;
    for (const InitArgument& argument : InitArguments(kind)) arguments.emplace_back(argument.name);
    const TreeNode rest = WithOurKeys(form.rest, arguments, kInitialisers);
    diagnostics_.Error(form.named_by.key_mark,
                       "an initialiser has no key '" + form.named_by.key + "'",
                       "write `init: " + WithKindAsKey(kind, rest) + "`");
    return TreeNode::Map({{kind, mark, rest}}, rest.mark);
  }

  bool CheckName(const std::string& name, const SourceMark& mark) {
    const std::vector<std::string> known = InitializerNames();
    if (Contains(known, name)) return true;
    diagnostics_.Error(mark, "there is no initialiser '" + name + "'",
                       SuggestSynonym(name, known, kInitialisers));
    return false;
  }

  // `w.npy`, or `{path: w.safetensors, name: fc1.weight}`. `init` is the whole initialiser.
  void ReadFile(const TreeNode& node, const TreeNode& init, ParameterInfo& info) {
    const TreeEntry* path = node.Find("path");
    const TreeEntry* name = node.Find("name");
    const TreeNode& file = path != nullptr ? path->value : node;
    static const std::vector<std::string> known = {"path", "name"};
    for (const TreeEntry& entry : node.entries) {
      if (Contains(known, entry.key)) continue;
      diagnostics_.Error(entry.key_mark, "'file' has no argument '" + entry.key + "'",
                         SuggestName(entry.key, known));
    }
    if (!file.IsScalar() || file.scalar.empty()) {
      diagnostics_.Error(
          node.IsNull() ? init.mark : node.mark, "'file' needs a path",
          "for example `{file: w.npy}` or `{file: {path: w.safetensors, name: fc1.weight}}`");
      return;
    }
    info.init_file = ResolvePath(model_file_, file.scalar);
    info.init_mark = file.mark;
    if (name == nullptr) return;
    if (const auto text = ReadText(name->value, "name", diagnostics_)) info.init_tensor = *text;
  }

  void ReadArguments(const TreeEntry& entry, ParameterInfo& info) {
    std::vector<std::string> names;
    info.init_args.clear();
    for (const InitArgument& argument : InitArguments(entry.key)) {
      names.emplace_back(argument.name);
      info.init_args.push_back(argument.fallback);
    }
    if (entry.value.IsNull()) return;
    if (entry.value.IsScalar() && names.size() == 1) {
      const auto value = ReadReal(entry.value, names[0], diagnostics_);
      if (value) info.init_args[0] = *value;
      return CheckRange(entry, info);
    }
    if (!entry.value.IsMap()) {
      diagnostics_.Error(
          entry.value.mark,
          "'" + entry.key + "' takes a map of its arguments, not " + Describe(entry.value));
      return;
    }
    for (const TreeEntry& argument : entry.value.entries) {
      const auto it = std::find(names.begin(), names.end(), argument.key);
      if (it == names.end()) {
        diagnostics_.Error(argument.key_mark,
                           "'" + entry.key + "' has no argument '" + argument.key + "'",
                           SuggestSynonym(argument.key, names, kInitialisers));
        continue;
      }
      const auto value = ReadReal(argument.value, argument.key, diagnostics_);
      if (value) info.init_args[static_cast<size_t>(it - names.begin())] = *value;
    }
    CheckRange(entry, info);
  }

  // The arguments lie where their distribution has values.
  void CheckRange(const TreeEntry& entry, const ParameterInfo& info) {
    if (entry.key == "orthogonal" && info.init_args[0] <= 0) {
      const TreeEntry* gain = entry.value.Find("gain");
      diagnostics_.Error(gain == nullptr ? entry.value.mark : gain->value.mark,
                         "'gain' must be above 0");
      return;
    }
    const bool normal = entry.key == "normal" || entry.key == "truncated_normal";
    const TreeEntry* second = entry.value.Find(normal ? "deviation" : "high");
    if (normal && info.init_args[1] < 0) {
      diagnostics_.Error(second->value.mark,
                         "'deviation' must not be negative, but is " + second->value.scalar);
    } else if (entry.key == "uniform" && info.init_args[0] > info.init_args[1]) {
      const TreeEntry* low = entry.value.Find("low");
      diagnostics_.Error(second != nullptr ? second->value.mark : low->value.mark,
                         "'low' must not be above 'high', but is " + NumberText(info.init_args[0]) +
                             " above " + NumberText(info.init_args[1]),
                         "without a value 'low' is -0.05 and 'high' 0.05");
    }
  }

  static std::string NumberText(double number) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", number);
    return text;
  }

  Diagnostics& diagnostics_;
  const std::string& model_file_;
};

// Returns whether a value is a map that gives each tensor its own.
bool IsByTensor(const TreeNode& node, const std::vector<std::string>& tensors) {
  return node.IsMap() && !node.entries.empty() &&
         std::ranges::all_of(node.entries,
                             [&](const TreeEntry& entry) { return Contains(tensors, entry.key); });
}

void ReadInit(const TreeEntry& entry, const std::vector<std::string>& tensors,
              ParameterOptions& options, Diagnostics& diagnostics, const std::string& model_file) {
  InitReader reader(diagnostics, model_file);
  if (!IsByTensor(entry.value, tensors)) {
    options.init[""] = reader.Read(entry.value);
    return;
  }
  for (const TreeEntry& tensor : entry.value.entries) {
    options.init[tensor.key] = reader.Read(tensor.value);
  }
}

Regularization ReadTerms(const TreeNode& node, Diagnostics& diagnostics) {
  const std::vector<std::string> known = {"l1", "l2"};
  Regularization result;
  if (!node.IsMap()) {
    diagnostics.Error(node.mark, "'regularize' must be a map, not " + Describe(node),
                      "for example `{l2: 1.0e-4}`");
    return result;
  }
  for (const TreeEntry& term : node.entries) {
    if (!Contains(known, term.key)) {
      diagnostics.Error(term.key_mark, "'regularize' has no key '" + term.key + "'",
                        SuggestName(term.key, known));
      continue;
    }
    const auto value = ReadReal(term.value, term.key, diagnostics);
    if (!value) continue;
    if (*value < 0) diagnostics.Error(term.value.mark, "'" + term.key + "' must not be negative");
    (term.key == "l1" ? result.l1 : result.l2) = *value;
  }
  return result;
}

void ReadRegularize(const TreeEntry& entry, const std::vector<std::string>& tensors,
                    ParameterOptions& options, Diagnostics& diagnostics) {
  if (!IsByTensor(entry.value, tensors)) {
    options.regularization[""] = ReadTerms(entry.value, diagnostics);
    return;
  }
  for (const TreeEntry& tensor : entry.value.entries) {
    options.regularization[tensor.key] = ReadTerms(tensor.value, diagnostics);
  }
}

double ReadRate(const TreeNode& node, Diagnostics& diagnostics) {
  const double scale = ReadReal(node, "lr", diagnostics).value_or(1);
  if (scale < 0) {
    diagnostics.Error(node.mark, "'lr' must not be negative: it is a factor of the learning rate",
                      "`frozen: true` keeps a parameter as it is");
  }
  return scale;
}

bool ReadFrozen(const TreeNode& node, Diagnostics& diagnostics) {
  return ReadBoolean(node, "frozen", diagnostics).value_or(false);
}

// A value for all tensors, or a map of some tensors' own.
template <class T>
void ReadForTensors(const TreeEntry& entry, const std::vector<std::string>& tensors,
                    T (*read)(const TreeNode&, Diagnostics&), std::map<std::string, T>& values,
                    Diagnostics& diagnostics) {
  if (!entry.value.IsMap()) {
    values[""] = read(entry.value, diagnostics);
    return;
  }
  for (const TreeEntry& tensor : entry.value.entries) {
    if (Contains(tensors, tensor.key)) {
      values[tensor.key] = read(tensor.value, diagnostics);
    } else {
      diagnostics.Error(tensor.key_mark, "there is no parameter '" + tensor.key + "' here",
                        SuggestName(tensor.key, tensors));
    }
  }
}

}  // namespace

std::string OurInitializer(std::string_view name) {
  return OurName(name, InitializerNames(), kInitialisers);
}

std::span<const InitArgument> InitArguments(std::string_view initializer) {
  if (initializer == "constant") return kConstantArguments;
  if (initializer == "orthogonal") return kOrthogonalArguments;
  if (initializer == "uniform") return kUniformArguments;
  if (initializer == "normal" || initializer == "truncated_normal") return kNormalArguments;
  return {};
}

bool FreezesStatistics(const OpSpec& op) {
  Diagnostics ignored;  // ReadParameterOptions() reports what is wrong
  const auto is_frozen = [&](const TreeNode& node) { return ReadFrozen(node, ignored); };
  for (const Attribute& attribute : op.attributes) {
    if (attribute.key != "frozen") continue;
    if (!attribute.value.IsMap()) return is_frozen(attribute.value);
    return std::ranges::any_of(attribute.value.entries, [&](const TreeEntry& tensor) {
      return tensor.key.starts_with("running_") && is_frozen(tensor.value);
    });
  }
  return false;
}

ParameterOptions ReadParameterOptions(const OpSpec& op, const std::vector<std::string>& tensors,
                                      Diagnostics& diagnostics, const std::string& model_file) {
  ParameterOptions options;
  for (const Attribute& attribute : op.attributes) {
    const bool of_parameters = attribute.key == "init" || attribute.key == "regularize" ||
                               attribute.key == "frozen" || attribute.key == "lr";
    if (!of_parameters) continue;
    if (tensors.empty()) {
      diagnostics.Error(attribute.key_mark, "'" + op.target.value + "' has no parameters, so '" +
                                                attribute.key + "' says nothing");
    } else if (attribute.key == "init") {
      ReadInit(attribute, tensors, options, diagnostics, model_file);
    } else if (attribute.key == "regularize") {
      ReadRegularize(attribute, tensors, options, diagnostics);
    } else if (attribute.key == "frozen") {
      ReadForTensors(attribute, tensors, ReadFrozen, options.frozen, diagnostics);
    } else {
      ReadForTensors(attribute, tensors, ReadRate, options.learning_rate_scale, diagnostics);
    }
  }
  return options;
}

void CheckParameterOptions(const OpSpec& op, bool has_parameters, Diagnostics& diagnostics) {
  const std::vector<std::string> terms = {"l1", "l2"};
  OpSpec known = op;
  // A map may be one by tensor, unless its key says that it is none.
  std::erase_if(known.attributes, [&](const Attribute& attribute) {
    const TreeNode& value = attribute.value;
    if (!has_parameters || !value.IsMap()) return false;
    if (attribute.key == "regularize") {
      return std::ranges::none_of(value.entries,
                                  [&](const TreeEntry& e) { return Contains(terms, e.key); });
    }
    if (attribute.key != "init") return attribute.key == "frozen" || attribute.key == "lr";
    return value.entries.size() != 1 || !Contains(InitializerNames(), value.entries[0].key);
  });
  const std::vector<std::string> tensors(has_parameters ? 1 : 0, "weight");
  ReadParameterOptions(known, tensors, diagnostics);
}

}  // namespace cgrun
