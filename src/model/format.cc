// Holds the table of the keys at the top of a model file, and the list of all tables.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/synonyms.h"
#include "src/model/fields.h"
#include "src/model/gradient_name.h"
#include "src/model/read_sections.h"
#include "src/model/types.h"

namespace cgrun {
namespace {

constexpr int64_t kFormatVersion = 1;

void ReadVersion(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const auto version = ReadInteger(entry.value, entry.key, reader.diagnostics);
  if (version && *version != kFormatVersion) {
    reader.diagnostics.Error(entry.value.mark,
                             "format version " + entry.value.scalar + " is not known",
                             "this program reads version " + std::to_string(kFormatVersion));
  }
  if (version) model.version = {*version, entry.value.mark};
}

// A model's name is a folder's name too.
void ReadModelName(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const auto name = ReadText(entry.value, entry.key, reader.diagnostics);
  if (!name) return;
  const auto allowed = [](char c) {
    return IsIdentifier(std::string{'_', c}) || c == '-' || c == '.';
  };
  const bool leads = (*name)[0] == '.' || (*name)[0] == '-';
  if (leads || !std::all_of(name->begin(), name->end(), allowed)) {
    reader.diagnostics.Error(entry.value.mark, "'" + *name + "' is no name of a model",
                             "letters, digits, '_', '-' and '.', the last two not in front");
  } else {
    model.name = {*name, entry.value.mark};
  }
}

// Returns whether a device's name says which of several it is: "cuda:1".
bool HasDeviceNumber(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return false;
  const std::vector<std::string> names = Choices(kDeviceType);
  return std::find(names.begin(), names.end(), std::string(name.substr(0, colon)) + ":N") !=
         names.end();
}

void ReadDevice(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const TreeNode& node = entry.value;
  if (node.IsScalar() && HasDeviceNumber(node.scalar)) {
    const size_t colon = node.scalar.find(':');
    const TreeNode index = TreeNode::Scalar(node.scalar.substr(colon + 1), node.mark);
    if (!ReadInteger(index, "the number of the device", reader.diagnostics, 0, 1023)) return;
    model.device = {node.scalar, node.mark};
    return;
  }
  if (node.IsScalar() && PlainName(node.scalar) == "gpu") {
    reader.diagnostics.Error(node.mark, "there is no device '" + node.scalar + "'",
                             "NVIDIA's are called 'cuda'");
    return;
  }
  std::vector<std::string> devices = Choices(kDeviceType);
  std::erase_if(devices, [](const std::string& name) { return HasDeviceNumber(name); });
  Put<&ModelSpec::device>(ReadChoice(node, entry.key, devices, reader.diagnostics), entry, model);
}

// `{h_next: h}`
void ReadUpdate(const TreeEntry& section, ModelSpec& model, const Reader& reader) {
  if (!reader.CheckMap(section.value, section.key)) return;
  for (const TreeEntry& entry : section.value.entries) {
    TreeEntry key = entry;
    key.value = TreeNode::Scalar(entry.key, entry.key_mark);
    const auto value = ReadReferences(key.value, section.key, reader);
    const auto state = ReadName(entry.value, entry.key, reader);
    if (!value.empty() && state) model.update.push_back({value[0], *state});
  }
}

// Takes values and parameters by name, and gradients as `grad(NAME)` and `PATH.grad(NAME)`.
void ReadKeep(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const auto add = [&](const TreeNode& node) {
    TreeNode inner = node;
    const auto gradient = node.IsScalar() ? ParseGradientName(node.scalar) : std::nullopt;
    if (gradient) inner.scalar = gradient->value;
    const auto names = ReadReferences(inner, entry.key, reader);
    if (!names.empty()) model.keep.push_back({node.scalar, node.mark});
  };
  if (!entry.value.IsSequence()) add(entry.value);
  for (const TreeNode& item : entry.value.items) add(item);
}

// `{"layer1.*.conv1.*": "block[*].conv.*"}`; no name, `~`, leaves tensors out.
void ReadRename(const TreeEntry& section, ModelSpec& model, const Reader& reader) {
  if (!reader.CheckMap(section.value, section.key)) return;
  for (const TreeEntry& entry : section.value.entries) {
    RenameRule rule{{entry.key, entry.key_mark}, std::nullopt};
    if (!entry.value.IsNull()) {
      const auto name = ReadText(entry.value, entry.key, reader.diagnostics);
      if (!name) continue;
      rule.name = {*name, entry.value.mark};
      if (std::ranges::count(*name, '*') > std::ranges::count(entry.key, '*')) {
        reader.diagnostics.Error(entry.value.mark,
                                 "'" + *name + "' has more `*` than '" + entry.key + "'",
                                 "each `*` takes the characters of the one at its place");
        continue;
      }
    }
    model.rename.push_back(std::move(rule));
  }
}

void ReadPlugins(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const auto add = [&](const TreeNode& node) {
    if (auto file = ReadText(node, entry.key, reader.diagnostics)) {
      model.plugins.push_back({*file, node.mark});
    }
  };
  if (!entry.value.IsSequence()) add(entry.value);
  for (const TreeNode& item : entry.value.items) add(item);
}

constexpr Key<ModelSpec> kModelKeys[] = {
    {{"cgrun", kVersionType, kRequired, "the version of the format"}, ReadVersion},
    {{"model", kModelNameType, "", "its name; without it the file's name"}, ReadModelName},
    {{"device", kDeviceType, "auto", "what it runs on"}, ReadDevice},
    {{"data", kMapType, "", "the data sets"}, ReadData},
    {{"inputs", kMapType, "", "the placeholders, by name"}, ReadInputs},
    {{"networks", kMapType, "", "sub-graphs that own their parameters, by name"}, ReadNetworks},
    {{"blocks", kMapType, "", "templates, by name"}, ReadBlocks},
    {{"paths", kMapType, "", "what is computed, by name"}, ReadPaths},
    {{"gan", kMapType, "", "a pair of networks that train against each other"}, ReadGan},
    {{"train", kMapType, "", "how it is trained"}, ReadTrain},
    {{"update", kStatesType, "", "value → the placeholder that it becomes after each step"},
     ReadUpdate},
    {{"keep", kKeptType, "", "values, parameters and `grad(NAME)` that are left as `.npy`"},
     ReadKeep},
    {{"zones", kZonesType, "shared", "whether transient zones share addresses"},
     ReadChoiceField<&ModelSpec::zones, kZonesType>},
    {{"inexact", kBooleanType, "false",
      "whether passes may make rewrites that round otherwise: the gradient of a bias under "
      "batch_norm, which is 0, is not computed"},
     ReadBooleanField<&ModelSpec::inexact>},
    {{"weights", kFileType, "", "parameters to begin with"}, ReadTextField<&ModelSpec::weights>},
    {{"rename", kRenameType, "",
      "name in a file of weights → name of the model; `*` stands for any characters"},
     ReadRename},
    {{"plugins", kFilesType, "", "libraries with further operators"}, ReadPlugins},
};

// `${…}` where no block is.
void RefusePlaceholders(const TreeNode& node, Diagnostics& diagnostics) {
  if (node.IsScalar() && node.scalar.find("${") != std::string::npos) {
    diagnostics.Error(node.mark, "`${…}` means something in the body of a block only");
  }
  for (const TreeNode& item : node.items) RefusePlaceholders(item, diagnostics);
  for (const TreeEntry& entry : node.entries) RefusePlaceholders(entry.value, diagnostics);
}

}  // namespace

void ReadModel(const TreeNode& root, ModelSpec& model, Diagnostics& diagnostics) {
  const Reader reader{diagnostics};
  SourceMark place = root.mark;
  place.length = 1;
  if (!root.IsMap()) {
    diagnostics.Error(place, "a model file must be a map, not " + Describe(root),
                      "it begins with `cgrun: 1`");
    return;
  }
  ReadMap<ModelSpec>(root, "", place, kModelKeys, model, reader);
  for (const TreeEntry& entry : root.entries) {
    if (entry.key != "blocks") RefusePlaceholders(entry.value, diagnostics);
  }
}

std::vector<MapDoc> FormatReference() {
  std::vector<MapDoc> docs = {{"", "The file.", Docs<ModelSpec>(kModelKeys)}};
  for (const auto& more : {DataDocs(), GraphDocs(), GanDocs(), TrainDocs()}) {
    docs.insert(docs.end(), more.begin(), more.end());
  }
  return docs;
}

}  // namespace cgrun
