// The safetensors names of our number types, shared by its reader and its writer.
#ifndef CGRUN_IO_SAFETENSORS_DTYPE_H_
#define CGRUN_IO_SAFETENSORS_DTYPE_H_

#include <string_view>
#include <utility>

#include "src/base/dtype.h"

namespace cgrun {

// The types are in the order in which the reference writer lays tensors out: wider types first.
inline constexpr std::pair<DType, std::string_view> kSafetensorsTypes[] = {
    {DType::kI64, "I64"},  {DType::kU64, "U64"}, {DType::kF64, "F64"},   {DType::kF32, "F32"},
    {DType::kI32, "I32"},  {DType::kU32, "U32"}, {DType::kBF16, "BF16"}, {DType::kF16, "F16"},
    {DType::kI16, "I16"},  {DType::kU16, "U16"}, {DType::kI8, "I8"},     {DType::kU8, "U8"},
    {DType::kBool, "BOOL"}};

inline constexpr std::string_view kSafetensorsMetadataKey = "__metadata__";

}  // namespace cgrun

#endif  // CGRUN_IO_SAFETENSORS_DTYPE_H_
