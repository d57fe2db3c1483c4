// Images as JSON, the document that a compiled program holds as CBOR.
#ifndef CGRUN_PROGRAM_IMAGE_JSON_H_
#define CGRUN_PROGRAM_IMAGE_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

// Throws the UserError of all readers below. Callers add the name of the file.
[[noreturn]] void Damaged(const std::string& what);

// Holds the items that an image has many of. As JSON, each takes several times its memory, so that
// it is read as soon as it is whole.
struct ImageItems {
  std::vector<ImageState> states;
  std::vector<ImageConstant> constants;
  std::vector<std::vector<ImageInstruction>> instructions;  // of each entry point
};

nlohmann::json ToJson(const ProgramImage& image);

ImageInstruction InstructionFrom(const nlohmann::json& json);
ImageState StateFrom(const nlohmann::json& json);
ImageConstant ConstantFrom(const nlohmann::json& json);
// Reads a document, from which `items` have been taken.
ProgramImage ImageFrom(const nlohmann::json& json, ImageItems items);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_IMAGE_JSON_H_
