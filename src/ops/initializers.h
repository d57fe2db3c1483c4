// Declares the initial values of state.
#ifndef CGRUN_OPS_INITIALIZERS_H_
#define CGRUN_OPS_INITIALIZERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// Returns the value that a state starts with: a pure function of the seed, its name and its
// initialiser. `type` is bound; `info.init` is one of InitializerNames().
HostTensor InitialValue(const std::string& name, const TensorType& type, const ParameterInfo& info,
                        uint64_t seed);
// Writes the same to `plain`, the bytes of the state, row by row.
void FillInitialValue(const std::string& name, const TensorType& type, const ParameterInfo& info,
                      uint64_t seed, std::span<std::byte> plain);
// The most bytes of the host's memory that FillInitialValue() takes meanwhile.
int64_t InitialValueBytes(const TensorType& type, const ParameterInfo& info);

// "glorot_uniform", "he_normal", …
std::vector<std::string> InitializerNames();

}  // namespace cgrun

#endif  // CGRUN_OPS_INITIALIZERS_H_
