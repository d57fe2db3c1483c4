// Numbers among inputs: their constants.
#include "src/frontend/numbers.h"

#include "src/base/check.h"
#include "src/base/host_tensor.h"
#include "src/model/values.h"

namespace cgrun {

bool IsNumber(const MarkedText& input) { return ParseReal(input.value).has_value(); }

std::optional<ValueId> Numbers::Constant(const MarkedText& number, DType dtype) {
  const auto key = std::make_pair(dtype, number.value);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const std::optional<double> value = ParseReal(number.value);
  CGRUN_CHECK(value.has_value()) << number.value;
  HostTensor tensor(dtype, Shape());
  const std::string type(Name(dtype));
  if (dtype != DType::kF16) tensor.Set(0, *value);
  if (dtype == DType::kF16 || (!IsFloat(dtype) && tensor.At(0) != *value)) {
    diagnostics_.Error(number.mark, "the number " + number.value + " is no " + type,
                       "a number has the type of the operator's other inputs; `cast` changes it");
    return std::nullopt;
  }
  const ValueId constant =
      builder_.AddConstant(std::move(tensor), type + "(" + number.value + ")", number.mark);
  return known_[key] = constant;
}

}  // namespace cgrun
