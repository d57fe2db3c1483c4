// --swap on the command line: where tensors wait under a cap, and how fast that is.
#ifndef CGRUN_CLI_SWAP_PLACE_H_
#define CGRUN_CLI_SWAP_PLACE_H_

#include "src/base/diagnostics.h"
#include "src/cli/model_flags.h"

namespace cgrun {

// Returns whether the model's device has memory of its own, and so swaps to that of the host.
bool SwapsToHost(const ModelSpec& model);

// Returns whether the kernels of the model's device can swap.
bool CanSwapHere(const ModelSpec& model);

// Returns whether tensors that lie in the host's memory are to go there, which is an error then.
bool RefuseSwapToHost(const ModelSpec& model, Diagnostics& diagnostics);

// Warns of --swap where nothing is swapped.
void WarnOfNoSwaps(const ModelSpec& model, Diagnostics& diagnostics);

// Notes in `options` the folder that the model names for a swap file, or that it swaps to the
// host's memory, once the speed of that is measured. Prints what is wrong with it; false then.
bool NoteSwapFolder(const ModelSpec& model, CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_CLI_SWAP_PLACE_H_
