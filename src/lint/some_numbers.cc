// Samples are read as a batch's are.
#include "src/lint/some_numbers.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "src/base/host_tensor.h"

namespace cgrun {

void VisitSomeNumbers(const Dataset& dataset, size_t field, int64_t most,
                      const std::function<void(double)>& visit) {
  std::vector<HostTensor> tensors;
  for (const DataField& each : dataset.fields()) tensors.emplace_back(each.dtype, each.shape);
  std::vector<std::span<std::byte>> spans;
  for (HostTensor& tensor : tensors) spans.push_back(tensor.bytes());
  const int64_t count = std::min(dataset.size(), most);
  for (int64_t i = 0; i < count; ++i) {
    try {
      dataset.Read(i * dataset.size() / count, spans);
    } catch (const UserError&) {
      continue;  // that is told elsewhere
    }
    const HostTensor& tensor = tensors[field];
    for (int64_t e = 0; e < tensor.elements(); ++e) visit(tensor.At(e));
  }
}

}  // namespace cgrun
