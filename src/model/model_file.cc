// Leads from a file to a ModelSpec, and back to a file as resolved.
#include "src/model/model_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "src/base/file_kind.h"
#include "src/base/printable.h"
#include "src/model/assignment.h"
#include "src/model/check_model.h"
#include "src/model/expand_blocks.h"
#include "src/model/expand_gan.h"
#include "src/model/incomplete.h"
#include "src/model/read_sections.h"
#include "src/model/schema.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// The error of a file that cannot be read, or "".
std::string ReadFile(const std::string& path, std::string& text) {
  std::error_code error;
  const auto cannot_open = [&](std::errc reason) {
    return "cannot open '" + path + "': " + std::make_error_code(reason).message();
  };
  if (!fs::exists(path, error)) return cannot_open(std::errc::no_such_file_or_directory);
  if (fs::is_directory(path, error)) return cannot_open(std::errc::is_a_directory);
  if (const std::string_view kind = SpecialKindOf(path); !kind.empty()) {
    return "'" + path + "' is " + std::string(kind) + ", not a file";
  }
  std::ifstream file(path, std::ios::binary);
  // One byte more than is allowed is enough to know that the file is too large. The text grows with
  // what is read: room for the largest file would be most of what a small run takes at its start.
  constexpr size_t kBlock = size_t{16} << 10;
  while (file && text.size() <= kMaxFileBytes) {
    const size_t before = text.size();
    text.resize(std::min(before + kBlock, kMaxFileBytes + 1));
    file.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<size_t>(file.gcount()));
  }
  if (file.bad() || (file.fail() && !file.eof())) return cannot_open(std::errc::io_error);
  text.shrink_to_fit();
  return "";
}

// Names of models that no file gives: the file's own, with what no name may hold replaced.
std::string StemOf(const std::string& file_name) {
  std::string stem = fs::path(file_name).stem().string();
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  std::erase_if(stem, continues);  // one `_` a character
  for (char& c : stem) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (!allowed) c = '_';
  }
  return stem.empty() || stem[0] == '.' || stem[0] == '-' ? "model" : stem;
}

// Puts the defaults of `doc` into every map that its place leads to.
void FillDefaults(TreeNode& node, std::string_view place, const MapDoc& doc) {
  if (!node.IsMap()) return;
  if (!place.empty()) {
    const size_t dot = std::min(place.find('.'), place.size());
    const std::string_view rest = place.substr(std::min(dot + 1, place.size()));
    for (TreeEntry& entry : node.entries) {
      const bool matches = place.substr(0, dot) == "*" || entry.key == place.substr(0, dot);
      if (matches) FillDefaults(entry.value, rest, doc);
    }
    return;
  }
  for (const KeyDoc& key : doc.keys) {
    if (key.fallback.empty() || key.fallback == kRequired) continue;
    TreeEntry* entry = node.Find(key.name);
    if (entry == nullptr) {
      node.entries.push_back({std::string(key.name), {}, {}});
      entry = &node.entries.back();
    }
    if (entry->value.IsNull()) entry->value = TreeNode::Scalar(std::string(key.fallback));
  }
}

// Says how the paths of a tree are written.
struct PathForm {
  std::string model_file;  // in whose folder they start
  std::string folder;      // in which relative ones start from then on; "": all become absolute
};

// The directory below the root that an absolute path leads through.
fs::path FirstDirectory(const fs::path& path) {
  const fs::path below = path.relative_path();
  return below.empty() ? fs::path() : *below.begin();
}

// The absolute path `path` as it is seen from `folder`; as it is where they have nothing in common
// but the root, and where a link on the way would make another one of it.
std::string PathSeenFrom(const std::string& folder, const std::string& path) {
  std::error_code error, error_of_new, error_of_old;
  const fs::path home = fs::absolute(folder, error).lexically_normal();
  if (error || FirstDirectory(home) != FirstDirectory(path)) return path;
  const fs::path relative = fs::path(path).lexically_relative(home);
  if (relative.empty()) return path;
  const fs::path by_new = fs::weakly_canonical(home / relative, error_of_new);
  const fs::path by_old = fs::weakly_canonical(path, error_of_old);
  return error_of_new || error_of_old || by_new != by_old ? path : relative.string();
}

// Rewrites the paths in a scalar or list.
void WritePaths(TreeNode* node, const PathForm& form) {
  if (node == nullptr) return;
  for (TreeNode& item : node->items) WritePaths(&item, form);
  if (!node->IsScalar()) return;
  std::error_code error;
  const bool is_relative = fs::path(node->scalar).is_relative();
  const fs::path path = fs::absolute(ResolvePath(form.model_file, node->scalar), error);
  if (error) return;
  node->scalar = PathFrom("", path.string());
  if (is_relative && !form.folder.empty()) node->scalar = PathSeenFrom(form.folder, node->scalar);
}

void ApplyOverrides(TreeNode& tree, std::span<const std::string> overrides,
                    std::span<const std::string> typed, Diagnostics& diagnostics) {
  for (size_t i = 0; i < overrides.size(); ++i) {
    ApplyOverride(tree, overrides[i], diagnostics, i < typed.size() ? typed[i] : "");
  }
}

// Reads the model out of a tree, which with `duplicates` lacks what stood under a key for the
// second time. If there are more than `errors_before` errors then, what could be read goes to
// `partial`.
std::optional<ModelSpec> ReadTree(TreeNode tree, const std::string& file_name, bool duplicates,
                                  int errors_before, Diagnostics& diagnostics, ModelSpec* partial) {
  ModelSpec model;
  model.file_name = file_name;
  model.name.value = StemOf(file_name);
  model.tree = std::move(tree);
  model.incomplete = duplicates || IsIncomplete(model.tree);
  ReadModel(model.tree, model, diagnostics);
  ExpandGan(model, diagnostics);
  ExpandBlocks(model, diagnostics);
  CheckModel(model, diagnostics);
  if (diagnostics.error_count() == errors_before) return model;
  if (partial != nullptr) *partial = std::move(model);
  return std::nullopt;
}

// Parses a file, has `change` set values in its tree, and reads the model out of that.
template <class Change>
std::optional<ModelSpec> ReadChanged(SourceFile file, const Change& change,
                                     Diagnostics& diagnostics, ModelSpec* partial) {
  const int errors_before = diagnostics.error_count();
  const std::string name = file.name;
  bool duplicates = false;
  std::optional<TreeNode> tree = Parse(std::move(file), diagnostics, &duplicates);
  if (!tree) return std::nullopt;
  change(*tree);
  return ReadTree(*std::move(tree), name, duplicates, errors_before, diagnostics, partial);
}

void WriteDataPaths(TreeNode& tree, const PathForm& form) {
  TreeEntry* data = tree.Find("data");
  if (data == nullptr) return;
  for (TreeEntry& set : data->value.entries) {
    const TreeEntry* format = set.value.Find("format");
    const std::string name = format != nullptr ? format->value.scalar : "";
    for (TreeEntry& option : set.value.entries) {
      if (IsPathOption(name, option.key)) WritePaths(&option.value, form);
    }
  }
}

// Writes the paths of networks that are models of ONNX: of these, and of constants.
void WriteOnnxPaths(TreeNode& tree, const PathForm& form) {
  TreeEntry* networks = tree.Find("networks");
  if (networks == nullptr) return;
  for (TreeEntry& network : networks->value.entries) {
    if (TreeEntry* onnx = network.value.Find("onnx")) WritePaths(&onnx->value, form);
    TreeEntry* constants = network.value.Find("constants");
    if (constants == nullptr) continue;
    for (TreeEntry& constant : constants->value.entries) {
      if (constant.value.scalar.ends_with(".npy")) WritePaths(&constant.value, form);
    }
  }
}

// Writes the paths of the initialiser `file`, wherever it stands.
void WriteInitPaths(TreeNode& tree, const PathForm& form, bool in_init) {
  for (TreeNode& item : tree.items) WriteInitPaths(item, form, in_init);
  for (TreeEntry& entry : tree.entries) {
    if (in_init && entry.key == "file") {
      TreeEntry* path = entry.value.Find("path");
      WritePaths(path != nullptr ? &path->value : &entry.value, form);
    } else if (entry.key != "data") {
      WriteInitPaths(entry.value, form, in_init || entry.key == "init");
    }
  }
}

}  // namespace

std::optional<ModelSpec> LoadModelFile(const std::string& path,
                                       std::span<const std::string> overrides,
                                       Diagnostics& diagnostics, std::span<const std::string> typed,
                                       ModelSpec* partial, const TreeExpander& expand) {
  SourceFile file{path, ""};
  const std::string error = ReadFile(path, file.text);
  if (error.empty()) {
    return ParseModel(std::move(file), overrides, diagnostics, typed, partial, expand);
  }
  diagnostics.Error({}, error);
  return std::nullopt;
}

std::optional<ModelSpec> ParseModel(SourceFile file, std::span<const std::string> overrides,
                                    Diagnostics& diagnostics, std::span<const std::string> typed,
                                    ModelSpec* partial, const TreeExpander& expand) {
  const auto change = [&, name = file.name](TreeNode& tree) {
    ApplyOverrides(tree, overrides, typed, diagnostics);
    if (expand) expand(tree, name, diagnostics);
  };
  return ReadChanged(std::move(file), change, diagnostics, partial);
}

std::optional<ModelSpec> ModelOfTree(TreeNode tree, const std::string& file_name,
                                     std::span<const std::string> overrides,
                                     Diagnostics& diagnostics, std::span<const std::string> typed,
                                     ModelSpec* partial) {
  const int errors_before = diagnostics.error_count();
  ApplyOverrides(tree, overrides, typed, diagnostics);
  return ReadTree(std::move(tree), file_name, false, errors_before, diagnostics, partial);
}

std::optional<ModelSpec> LoadAssignedModel(const std::string& path,
                                           std::span<const Assignment> assignments,
                                           Diagnostics& diagnostics, const TreeExpander& expand) {
  SourceFile file{path, ""};
  const std::string error = ReadFile(path, file.text);
  if (!error.empty()) {
    diagnostics.Error({}, error);
    return std::nullopt;
  }
  const auto change = [&](TreeNode& tree) {
    for (const Assignment& assignment : assignments) Assign(tree, assignment, diagnostics);
    if (expand) expand(tree, path, diagnostics);
  };
  return ReadChanged(std::move(file), change, diagnostics, nullptr);
}

std::string ResolvePath(std::string_view model_file, std::string_view path) {
  return PathFrom(fs::path(model_file).parent_path().string(), path);
}

bool IsPathOption(std::string_view format, std::string_view key) {
  constexpr std::array<std::string_view, 9> kKeys = {
      "images", "labels", "masks", "file", "files", "folder", "path", "paths", "vocabulary"};
  if (format == "npy") return key != "format" && key != "split";
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

TreeNode ResolvedTree(const ModelSpec& model, const std::string& folder) {
  const PathForm form = {model.file_name, folder};
  TreeNode tree = model.tree;
  if (tree.Find("model") == nullptr) {
    tree.entries.push_back({"model", {}, TreeNode::Scalar(model.name.value)});
  }
  for (const MapDoc& doc : FormatReference()) FillDefaults(tree, doc.place, doc);
  WriteDataPaths(tree, form);
  WriteInitPaths(tree, form, false);
  WriteOnnxPaths(tree, form);
  for (const char* key : {"weights", "plugins"}) {
    TreeEntry* entry = tree.Find(key);
    if (entry != nullptr) WritePaths(&entry->value, form);
  }
  if (TreeEntry* train = tree.Find("train")) {
    TreeEntry* swap = train->value.Find("swap");
    if (swap != nullptr && swap->value.scalar != kSwapToHost) WritePaths(&swap->value, form);
  }
  return tree;
}

}  // namespace cgrun
