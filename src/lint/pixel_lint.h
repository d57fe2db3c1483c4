// Warnings of pixels that are not of the size that what reads them is for.
#ifndef CGRUN_LINT_PIXEL_LINT_H_
#define CGRUN_LINT_PIXEL_LINT_H_

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Of `color_jitter` on images that are normalized already; `training` is the forward graph of a
// training step.
void WarnOfColours(const Graph& training, Diagnostics& diagnostics);

// Of images of uint8 whose pixels reach a layer with weights far from 0, as where `scale: 1/255` of
// `normalize` is missing. Not of a model that begins with weights, which may want them so.
void WarnOfPixels(const ModelSpec& model, const Graph& training, const Dataset& train,
                  Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_PIXEL_LINT_H_
