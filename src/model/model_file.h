// Converts a model file to a ModelSpec: LoadModelFile() is the entry point.
#ifndef CGRUN_MODEL_MODEL_FILE_H_
#define CGRUN_MODEL_MODEL_FILE_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Changes the tree of a model file before it is read, and reports what is wrong with it: see
// OnnxNetworks::Expand(). `model_file` is the name of the file.
using TreeExpander =
    std::function<void(TreeNode& tree, const std::string& model_file, Diagnostics& diagnostics)>;

// Reads and checks a model file. `overrides` are assignments as of `--set` (see ApplyOverride).
// `typed`, which may be shorter, are the flags that the user typed for them, or "".
//
// Reports all errors of the file; if the file is not YAML, only the first. Returns nothing after an
// error. If there are errors, `partial` takes all that could be read, so that the front end can
// find further errors in it. If the file is not YAML, `partial` has no tree.
//
// `expand`, which may be empty, sees the tree with the overrides. Without it, networks that are
// models of ONNX have no operators.
std::optional<ModelSpec> LoadModelFile(const std::string& path,
                                       std::span<const std::string> overrides,
                                       Diagnostics& diagnostics,
                                       std::span<const std::string> typed = {},
                                       ModelSpec* partial = nullptr,
                                       const TreeExpander& expand = {});

// Does the same for a text in memory.
std::optional<ModelSpec> ParseModel(SourceFile file, std::span<const std::string> overrides,
                                    Diagnostics& diagnostics,
                                    std::span<const std::string> typed = {},
                                    ModelSpec* partial = nullptr, const TreeExpander& expand = {});

// Does the same for a file that is parsed, and whose marks may be of several files.
std::optional<ModelSpec> ModelOfTree(TreeNode tree, const std::string& file_name,
                                     std::span<const std::string> overrides,
                                     Diagnostics& diagnostics,
                                     std::span<const std::string> typed = {},
                                     ModelSpec* partial = nullptr);

// A path of a model file, which is relative to that file's folder.
std::string ResolvePath(std::string_view model_file, std::string_view path);

// Returns whether an option of a data set names files or folders: images, labels, masks, file,
// files, folder, path, paths, vocabulary (formats call theirs so), and every option of the format
// npy.
bool IsPathOption(std::string_view format, std::string_view key);

// Returns the file with every default of the format put in and the paths of files made absolute.
// With ToYaml(), it is the `model.yaml` of a run. Defaults of operators' attributes are not the
// format's. With `folder`, relative paths of the file become relative to that instead, unless the
// two have nothing in common but the root.
TreeNode ResolvedTree(const ModelSpec& model, const std::string& folder = "");

}  // namespace cgrun

#endif  // CGRUN_MODEL_MODEL_FILE_H_
