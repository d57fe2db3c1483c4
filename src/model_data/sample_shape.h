// Checks whether samples go into an input as they lie, and suggests what helps where they do not.
#ifndef CGRUN_MODEL_DATA_SAMPLE_SHAPE_H_
#define CGRUN_MODEL_DATA_SAMPLE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// "uint8[3, 32, 32]"
std::string TypeText(DType dtype, const Shape& shape);
std::string TypeText(const DataField& field);

// Returns whether a sample of sizes `data` is one of sizes `input` as it lies in memory: they are
// the same but for axes of size 1, or as many elements where one of the two has a single axis.
bool ShapesAgree(std::span<const int64_t> data, std::span<const int64_t> input);

// Returns whether `last` has the axes of `first`, [channels, height, width], with the channels at
// the end. An image of [height, width] has one channel.
bool HasChannelsLast(std::span<const int64_t> last, std::span<const int64_t> first);

// The axes in the order in which a transposition takes them to make sizes `to` of sizes `from`,
// those of equal size in their order; nothing where none does.
std::optional<std::vector<int64_t>> FindTransposition(std::span<const int64_t> from,
                                                      std::span<const int64_t> to);

// "2, 0, 1"; `behind` the axis of the batch, "0, 3, 1, 2".
std::string TranspositionText(std::span<const int64_t> perm, bool behind);

// Says how to mend the input of a model file that a field does not fit, with a line that it may be:
// "a shape is that of one sample, without the batch: write `x: {type: f32, shape: [2]}`".
std::string MisfitHelp(const DataField& input, const DataField& field);

// The line of an input that takes a field: an image without an axis of channels gets one.
std::string InputText(const std::string& name, const DataField& field);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_SAMPLE_SHAPE_H_
