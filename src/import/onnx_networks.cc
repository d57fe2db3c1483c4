// Expands networks in the tree of a model file.
#include "src/import/onnx_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/import/bind.h"
#include "src/import/network.h"
#include "src/import/trainable.h"
#include "src/io/npy_file.h"
#include "src/io/safetensors.h"
#include "src/model/model_file.h"
#include "src/model/onnx_source.h"

namespace cgrun {
namespace {

ImportOptions OptionsOf(const OnnxSource& source, const std::string& model_file) {
  ImportOptions options;
  options.needs_batch = true;
  options.blocks = false;
  for (const MarkedText& output : source.outputs) options.outputs.push_back(output.value);
  for (const auto& [name, size] : source.dims) options.dims[name.value] = size;
  for (const Attribute& constant : source.constants) {
    GivenConstant& given = options.constants[constant.key];
    given.text = FlowText(constant.value);
    if (!constant.value.scalar.ends_with(".npy")) continue;
    given.tensor = ReadNpy(ResolvePath(model_file, constant.value.scalar));
  }
  return options;
}

// The flags that messages of the importer name are keys here.
std::string WithKeys(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {{"`--const`", "`constants`"},
                                                                      {"`--dim`", "`dims`"}};
  for (const auto& [flag, key] : kFlags) {
    for (size_t at = text.find(flag); at != text.npos; at = text.find(flag, at + key.size())) {
      text.replace(at, flag.size(), key);
    }
  }
  return text;
}

const TreeNode& PathOf(const TreeNode& tree) {
  return tree.Find("paths")->value.Find(kImportedPath)->value;
}

std::vector<std::string> TextsOf(const TreeNode& node) {
  std::vector<std::string> texts;
  if (node.IsScalar()) texts.push_back(node.scalar);
  for (const TreeNode& item : node.items) texts.push_back(item.scalar);
  return texts;
}

// Returns the names of the model's inputs that an operator or an output reads.
std::vector<std::string> NeededInputs(const TreeNode& tree) {
  std::set<std::string> read;
  const TreeNode& path = PathOf(tree);
  for (const std::string& name : TextsOf(path.Find("out")->value)) read.insert(name);
  for (const TreeNode& item : path.Find("ops")->value.items) {
    const TreeEntry* in = item.entries[0].value.Find("in");
    if (in == nullptr) continue;
    for (const std::string& name : TextsOf(in->value)) read.insert(name);
  }
  std::vector<std::string> needed;
  for (const TreeEntry& input : tree.Find("inputs")->value.entries) {
    if (read.contains(input.key)) needed.push_back(input.key);
  }
  return needed;
}

std::vector<std::string> NamesOfEntries(const TreeNode& map) {
  std::vector<std::string> keys;
  for (const TreeEntry& entry : map.entries) keys.push_back(entry.key);
  return keys;
}

// The key `in` gives the inputs an order. It names all that are needed, and others of the file.
// Returns false after an error.
bool CheckOrder(const TreeEntry& in, const std::vector<std::string>& needed,
                const std::vector<std::string>& inputs, const std::string& file,
                Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const std::vector<std::string> given = TextsOf(in.value);
  for (const std::string& name : given) {
    if (std::ranges::find(inputs, name) != inputs.end()) continue;
    diagnostics.Error(in.value.mark, "'" + file + "' has no input '" + name + "'",
                      SuggestName(name, inputs));
  }
  for (const std::string& name : needed) {
    if (std::ranges::find(given, name) != given.end()) continue;
    diagnostics.Error(in.value.mark,
                      "'in' does not name the input '" + name + "' of '" + file + "'",
                      fmt::format("it needs {}", fmt::join(needed, ", ")));
  }
  return diagnostics.error_count() == errors;
}

TreeNode NameList(const std::vector<std::string>& names) {
  std::vector<TreeNode> items;
  for (const std::string& name : names) items.push_back(TreeNode::Scalar(name));
  return items.size() == 1 ? items[0] : TreeNode::Sequence(std::move(items));
}

void ExpandNetwork(TreeEntry& network, const OnnxSource& source, const ImportedModel& imported,
                   Diagnostics& diagnostics) {
  const std::vector<std::string> needed = NeededInputs(imported.tree);
  const std::vector<std::string> inputs = NamesOfEntries(imported.tree.Find("inputs")->value);
  std::vector<TreeEntry>& keys = network.value.entries;
  std::erase_if(keys, [](const TreeEntry& key) {
    return key.value.IsNull() && (key.key == "in" || key.key == "ops" || key.key == "out");
  });
  if (const TreeEntry* out = network.value.Find("out")) {
    diagnostics.Error(out->key_mark,
                      "the operators of network '" + network.key + "' stand in '" +
                          source.file.value + "', so 'out' names nothing here",
                      "`outputs` names its values");
    return;
  }
  const TreeEntry* in = network.value.Find("in");
  const std::string& file = source.file.value;
  if (in != nullptr && !CheckOrder(*in, needed, inputs, file, diagnostics)) return;
  TreeNode ops = PathOf(imported.tree).Find("ops")->value;
  FreezeOperators(ops, source, imported, diagnostics);
  const auto add = [&](const std::string& key, TreeNode value) {
    SetMarks(value, source.file.mark);
    keys.push_back({key, source.file.mark, std::move(value)});
  };
  if (in == nullptr) add("in", NameList(needed));
  std::erase_if(keys,
                [](const TreeEntry& key) { return key.key == "frozen" || key.key == "train"; });
  add("out", PathOf(imported.tree).Find("out")->value);
  add("ops", std::move(ops));
}

// Returns whether the operators are still those of the file.
bool IsUnexpanded(const TreeEntry& network) {
  const TreeEntry* ops = network.value.Find("ops");
  const TreeEntry* onnx = network.value.Find("onnx");
  return onnx != nullptr && !onnx->value.IsNull() && (ops == nullptr || ops->value.IsNull());
}

// Gives the tensors of several imported models, one after the other.
class NetworkWeights : public TensorSource {
 public:
  void Add(const std::string& network, const ImportedModel& model, onnx::OnnxFile& file) {
    constexpr std::string_view kPrefix = kImportedPath;
    for (const Weight& weight : model.weights) {
      tensors_.push_back({&weight, &file});
      specs_.push_back(
          {network + weight.name.substr(kPrefix.size()), weight.type.dtype, weight.type.shape});
    }
  }
  const std::vector<TensorSpec>& specs() const { return specs_; }

  std::span<const std::byte> BytesOf(size_t index) override {
    bytes_ = onnx::TensorBytes(onnx::ByteSpan());  // so that no two tensors are in memory
    bytes_ = cgrun::BytesOf(*tensors_[index].first, *tensors_[index].second);
    return bytes_.bytes();
  }

 private:
  std::vector<std::pair<const Weight*, onnx::OnnxFile*>> tensors_;
  std::vector<TensorSpec> specs_;
  onnx::TensorBytes bytes_{onnx::ByteSpan()};
};

}  // namespace

OnnxNetworks::Imported& OnnxNetworks::ImportedAs(const OnnxSource& source,
                                                 const std::string& model_file) {
  const std::string path = ResolvePath(model_file, source.file.value);
  std::string key = path;
  for (const MarkedText& output : source.outputs) key += "\noutput " + output.value;
  for (const auto& [name, size] : source.dims) key += fmt::format("\ndim {} {}", name.value, size);
  for (const Attribute& constant : source.constants) {
    key += "\nconstant " + constant.key + " " + FlowText(constant.value);
  }
  std::unique_ptr<Imported>& imported = imported_[key];
  if (imported == nullptr) {
    imported = std::make_unique<Imported>(path, OptionsOf(source, model_file));
  }
  return *imported;
}

void OnnxNetworks::Expand(TreeNode& tree, const std::string& model_file, Diagnostics& diagnostics) {
  TreeEntry* networks = tree.Find("networks");
  if (networks == nullptr) return;
  for (TreeEntry& network : networks->value.entries) {
    if (!IsUnexpanded(network)) continue;
    Diagnostics of_keys;  // the model's reader reports them
    const auto source = ReadOnnxSource(network.value, of_keys);
    if (!source || of_keys.has_errors()) continue;
    try {
      ExpandNetwork(network, *source, ImportedAs(*source, model_file).model, diagnostics);
    } catch (const UnboundDimensions& error) {
      diagnostics.Error(source->file.mark, error.what(),
                        "the key `dims` gives each a size: `dims: {NAME: N}`");
    } catch (const UserError& error) {
      diagnostics.Error(source->file.mark, WithKeys(error.what()), WithKeys(error.help()));
    }
  }
}

void OnnxNetworks::WriteWeights(const ModelSpec& model, const std::string& path) {
  NetworkWeights weights;
  std::vector<const onnx::OnnxFile*> files;
  for (const NetworkSpec& network : model.networks) {
    if (!network.onnx) continue;
    Imported& imported = ImportedAs(*network.onnx, model.file_name);
    weights.Add(network.name.value, imported.model, imported.file);
    files.push_back(&imported.file);
  }
  SafetensorsWriter(weights.specs())
      .WriteWithChecksum(path, weights, {{kChecksumKey, std::string(16, '0')}});
  for (const onnx::OnnxFile* file : files) file->CheckWhole();
}

}  // namespace cgrun
