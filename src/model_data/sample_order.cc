// A random order is a list of all samples, and any other is computed.
#include "src/model_data/sample_order.h"

#include <algorithm>
#include <string>

#include "src/data/options.h"
#include "src/data/sampler.h"
#include "src/model_data/data_room.h"

namespace cgrun {

bool ShufflesSamples(const ModelSpec& model) {
  const bool is_given = model.train && model.train->shuffle;
  return is_given ? model.train->shuffle->value : model.update.empty();
}

void CheckOrder(const ModelSpec& model, const ModelData& data, Diagnostics& diagnostics) {
  if (!data.train || !ShufflesSamples(model)) return;
  const int64_t samples = data.train->size();
  const int64_t bytes = Sampler::OrderBytes(samples, /*shuffle=*/true);
  const MemoryLeft left = LeftUnder(model, CapOnHost(model), data.decoded_bytes);
  if (bytes <= left.bytes) return;
  const DataSpec& spec = *model.data->train;
  const auto count = std::ranges::find(spec.options, "samples", &Attribute::key);
  diagnostics.Error(count == spec.options.end() ? spec.mark : count->value.mark,
                    "the order of " + std::to_string(samples) + " samples takes " +
                        MemoryText(bytes) + ", more than " + left.Text(),
                    "fewer samples; `train.epochs` goes over them again; `shuffle: false` in "
                    "`train` needs no list of them");
}

}  // namespace cgrun
