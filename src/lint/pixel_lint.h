// Warnings about pixels of another size than their readers are for.
#ifndef CGRUN_LINT_PIXEL_LINT_H_
#define CGRUN_LINT_PIXEL_LINT_H_

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Warns of `color_jitter` on images that are normalized already. `training` is the forward graph of
// a training step.
void WarnOfColours(const Graph& training, Diagnostics& diagnostics);

// Warns of images of uint8 whose pixels reach a layer with weights far from 0, as where `scale:
// 1/255` of `normalize` is missing. A model that begins with weights may want them so: it is not
// warned of.
void WarnOfPixels(const ModelSpec& model, const Graph& training, const Dataset& train,
                  Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_PIXEL_LINT_H_
