// Finds the tensor in the file, checks it and converts it.
#include "src/ops/initial_file.h"

#include "src/io/file_error.h"
#include "src/io/npy_file.h"
#include "src/io/safetensors.h"

namespace cgrun {
namespace {

bool IsSafetensors(const std::string& path) { return path.ends_with(".safetensors"); }

HostTensor ReadNamed(const std::string& path, const std::string& name) {
  SafetensorsReader reader(path);
  std::vector<std::string> names;
  for (const TensorSpec& tensor : reader.tensors()) {
    if (tensor.name == name) return reader.Read();
    names.push_back(tensor.name);
    reader.Skip();
  }
  if (name.empty()) {
    throw UserError("a safetensors file needs the 'name' of a tensor", SuggestName("", names));
  }
  throw UserError("there is no tensor '" + name + "' in " + path, SuggestName(name, names));
}

// The widest elements that a file may have for the parameter, and its header.
int64_t ByteLimit(const TensorType& type) { return type.shape.Elements() * 8 + (1 << 16); }

}  // namespace

HostTensor ReadInitialFile(const ParameterInfo& info, const TensorType& type) {
  CheckPathInModel(info.init_file);
  if (!IsSafetensors(info.init_file) && !info.init_tensor.empty()) {
    throw UserError("'name' goes with a .safetensors file, not with " + info.init_file);
  }
  HostTensor given = IsSafetensors(info.init_file) ? ReadNamed(info.init_file, info.init_tensor)
                                                   : ReadNpy(info.init_file, ByteLimit(type));
  const TensorType found{given.dtype(), given.shape()};
  if (found == type) return given;
  if (found.shape != type.shape || !IsFloat(found.dtype)) {
    throw UserError(info.init_file + " holds " + found.ToString() + ", the parameter is " +
                    type.ToString());
  }
  HostTensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.Set(i, given.At(i));
  return tensor;
}

void CheckInitialFiles(const Graph& graph, Diagnostics& diagnostics) {
  for (const auto& [id, info] : graph.parameters) {
    if (info.init != "file") continue;
    try {
      ReadInitialFile(info, graph.values[id].type);
    } catch (const UserError& error) {
      diagnostics.Error(info.init_mark, error.what(), error.help());
    }
  }
}

}  // namespace cgrun
