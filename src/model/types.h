// The types of a model file's values, as the tables of keys name them. `#/definitions/…` stand in
// src/frontend/json_schema.cc.
#ifndef CGRUN_MODEL_TYPES_H_
#define CGRUN_MODEL_TYPES_H_

#include "src/model/schema.h"

namespace cgrun {

inline constexpr ValueType kVersionType{"1", R"({"const":1})"};
inline constexpr ValueType kTextType{"text", R"({"$ref":"#/definitions/text"})"};
inline constexpr ValueType kFileType{"file", R"({"$ref":"#/definitions/text"})"};
inline constexpr ValueType kSwapType{"folder, or `host`", R"({"$ref":"#/definitions/text"})"};
inline constexpr ValueType kFilesType{"file or list of files", R"({"$ref":"#/definitions/texts"})"};
inline constexpr ValueType kModelNameType{
    "letters, digits, '_', '-', '.'",
    R"({"type":["string","number","boolean"],"pattern":"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"})"};
inline constexpr ValueType kNameType{"name", R"({"$ref":"#/definitions/name"})"};
inline constexpr ValueType kNamesType{"name or list of names", R"({"$ref":"#/definitions/names"})"};
// These are types of an item's keys. In the body of a block a placeholder may stand for each value.
inline constexpr ValueType kOutputsType{"name or list of names",
                                        R"({"$ref":"#/definitions/outputs"})"};
inline constexpr ValueType kReferencesType{"value or list of values",
                                           R"({"$ref":"#/definitions/references"})"};
inline constexpr ValueType kReferenceType{"value", R"({"$ref":"#/definitions/reference"})"};
inline constexpr ValueType kKeptType{"value or list of values", R"({"$ref":"#/definitions/kept"})"};
inline constexpr ValueType kInputsType{"value or number, or a list of them",
                                       R"({"$ref":"#/definitions/operands"})"};
inline constexpr ValueType kBooleanType{"true or false", R"({"type":"boolean"})"};
inline constexpr ValueType kPositiveType{"integer, at least 1",
                                         R"({"type":"integer","minimum":1})"};
inline constexpr ValueType kCountType{"integer, at least 0", R"({"type":"integer","minimum":0})"};
inline constexpr ValueType kBatchType{
    "integer, at least 1, or `auto`",
    R"({"anyOf":[{"type":"integer","minimum":1},{"const":"auto"}]})"};
inline constexpr ValueType kFractionType{"number between 0 and 1",
                                         R"({"$ref":"#/definitions/fraction"})"};
inline constexpr ValueType kPositiveRealType{"number above 0",
                                             R"({"$ref":"#/definitions/positive"})"};
inline constexpr ValueType kBytesType{"bytes, such as 1.5GiB", R"({"$ref":"#/definitions/bytes"})"};
inline constexpr ValueType kDurationType{"seconds, or such as 1h30m",
                                         R"({"$ref":"#/definitions/duration"})"};
inline constexpr ValueType kShapeType{"list of positive integers",
                                      R"({"type":"array","items":{"type":"integer","minimum":1}})"};
inline constexpr ValueType kNumberTypeType{
    "f64, f32, bf16, f16, int64, int32, int16, int8, uint64, uint32, uint16, uint8, bool",
    R"({"enum":["f64","f32","bf16","f16","int64","int32","int16","int8","uint64","uint32",)"
    R"("uint16","uint8","bool"]})"};
inline constexpr ValueType kDeviceType{
#define HOST_DEVICE(name) #name ", "
#define NUMBERED_DEVICE(name, Name) #name ", " #name ":N, "
#include "src/base/device_list.inc"
#undef NUMBERED_DEVICE
#undef HOST_DEVICE
    "auto", R"({"type":"string","pattern":"^()"
#define HOST_DEVICE(name) #name "|"
#define NUMBERED_DEVICE(name, Name) #name "(:[0-9]+)?|"
#include "src/base/device_list.inc"
#undef NUMBERED_DEVICE
#undef HOST_DEVICE
            R"(auto)$"})"};
inline constexpr ValueType kZonesType{"shared, separate", R"({"enum":["shared","separate"]})"};
inline constexpr ValueType kModeType{"forward, backprop", R"({"enum":["forward","backprop"]})"};
inline constexpr ValueType kPrecisionType{"f32, f64, bf16, f16, tf32",
                                          R"({"enum":["f32","f64","bf16","f16","tf32"]})"};
inline constexpr ValueType kOrderType{"serial, bfs, dfs, least_peak, memory",
                                      R"({"enum":["serial","bfs","dfs","least_peak","memory"]})"};
inline constexpr ValueType kMapType{"map", R"({"type":"object"})"};
inline constexpr ValueType kParametersType{"map", R"({"$ref":"#/definitions/named"})"};
inline constexpr ValueType kStatesType{"map", R"({"$ref":"#/definitions/states"})"};
inline constexpr ValueType kRenameType{
    "map", R"({"type":"object","additionalProperties":{"type":["string","null"]}})"};
inline constexpr ValueType kTextsType{"text or list of texts", R"({"$ref":"#/definitions/texts"})"};
inline constexpr ValueType kSizesType{
    "map", R"({"type":"object","additionalProperties":{"type":"integer","minimum":1}})"};
inline constexpr ValueType kPatternsType{
    "text or list of texts, or true",
    R"({"anyOf":[{"type":"boolean"},{"$ref":"#/definitions/texts"}]})"};
inline constexpr ValueType kOpsType{"list of operators",
                                    R"({"type":"array","items":{"$ref":"#/definitions/item"}})"};
inline constexpr ValueType kOperatorType{"operator", R"({"$ref":"#/definitions/operator"})"};
inline constexpr ValueType kOptimizerType{"operator", R"({"$ref":"#/definitions/optimizer"})"};
inline constexpr ValueType kMetricsType{"map", R"({"$ref":"#/definitions/metrics"})"};
inline constexpr ValueType kLossType{"operator, or a list of operators",
                                     R"({"$ref":"#/definitions/losses"})"};
inline constexpr ValueType kGanLossType{
    "non_saturating, least_squares, wasserstein",
    R"({"enum":["non_saturating","least_squares","wasserstein"]})"};
inline constexpr ValueType kGanOptimizerType{
    "operator, or {discriminator: operator, generator: operator}",
    R"({"$ref":"#/definitions/optimizers"})"};
inline constexpr ValueType kSequenceType{"list of paths, or of {path: count}",
                                         R"({"$ref":"#/definitions/sequence"})"};

}  // namespace cgrun

#endif  // CGRUN_MODEL_TYPES_H_
