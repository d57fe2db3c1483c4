// Networks of a model file that are models of ONNX: they are imported while the file is read, and
// their weights are what training begins with.
#ifndef CGRUN_CLI_ONNX_NETWORKS_H_
#define CGRUN_CLI_ONNX_NETWORKS_H_

#include <optional>
#include <string>

#include "src/model/model_file.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Expands such networks: see OnnxNetworks::Expand().
TreeExpander OnnxNetworkExpander();

// Returns a safetensors file with the weights of all such networks of the model, as its parameters;
// "" where it has none. The file has no name and goes when the process ends. InputError where a
// file of ONNX cannot be read any more.
std::string NetworkWeights(const ModelSpec& model);

// Lets a run that begins take the weights of such networks. If the run has weights of its own and a
// file of ONNX is gone, these count alone.
void TakeNetworkWeights(ModelSpec& model, bool has_weights);

// "trunk.onnx", or several, whose weights NetworkWeights() has put into `file`; nothing for other
// files.
std::optional<std::string> FilesOfNetworkWeights(const std::string& file);

}  // namespace cgrun

#endif  // CGRUN_CLI_ONNX_NETWORKS_H_
