// Elements depend on the name of their input alone.
#include "src/bench/random_samples.h"

#include <algorithm>
#include <cmath>

#include "src/base/random.h"

namespace cgrun {

HostTensor RandomElements(const InputSpec& input) {
  HostTensor tensor(input.type.value, input.shape.value);
  const bool is_bytes = tensor.dtype() == DType::kU8;
  const uint64_t key = RandomKey(0, "bench." + input.name.value);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double uniform = UniformFloat(RandomBits(key, 1, static_cast<uint64_t>(i)));
    const double whole = std::floor(uniform * (is_bytes ? 256 : 2));
    tensor.Set(i, IsFloat(tensor.dtype()) ? uniform : whole);
  }
  return tensor;
}

RandomSamples::RandomSamples(const ModelSpec& model) {
  for (const InputSpec& input : model.inputs) {
    if (!input.batch.value || IsCarried(model, input.name.value)) continue;
    fields_.push_back({input.name.value, input.type.value, input.shape.value});
    elements_.push_back(RandomElements(input));
  }
}

void RandomSamples::Read(int64_t /*index*/, std::span<const std::span<std::byte>> out) const {
  for (size_t i = 0; i < out.size(); ++i) {
    std::ranges::copy(elements_[i].bytes(), out[i].begin());
  }
}

int64_t RandomSamples::decoded_bytes() const {
  int64_t bytes = 0;
  for (const HostTensor& elements : elements_) bytes += std::ssize(elements.bytes());
  return bytes;
}

}  // namespace cgrun
