// Estimates of the time that convolutions by tiles take, to choose between kernels by. The numbers
// in them were fitted to measurements over shapes of many networks; what counts is their ratio to
// those of onednn/conv.cc.
#ifndef CGRUN_KERNELS_CPU_CONV_SECONDS_H_
#define CGRUN_KERNELS_CPU_CONV_SECONDS_H_

#include "src/kernels/cpu/conv_geometry.h"

namespace cgrun::cpu {

// Returns 1, or all threads if the convolution is worth them.
int ConvThreads(const ConvGeometry& geometry, int threads);

// These are estimates for vectors of `lanes` numbers.
double TiledConvSeconds(const NodeSignature& node, int64_t lanes, int threads);
double DirectConvSeconds(const NodeSignature& node, int64_t lanes, int threads);
double DepthwiseConvSeconds(const NodeSignature& node, int64_t lanes, int threads);
double TiledInputGradSeconds(const NodeSignature& node, int64_t lanes, int threads);
double TiledWeightGradSeconds(const NodeSignature& node, int64_t lanes, int threads);
// The first estimate includes a max_pool behind the convolution. The others include a max_pool_grad
// before the gradient.
double TiledConvMaxPoolSeconds(const NodeSignature& node, int64_t lanes, int threads);
double UnpooledInputGradSeconds(const NodeSignature& node, int64_t lanes, int threads);
double UnpooledWeightGradSeconds(const NodeSignature& node, int64_t lanes, int threads);
// Estimates the max_pool_grad alone that such a node begins with.
double UnpoolSeconds(const NodeSignature& node, int threads);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CONV_SECONDS_H_
