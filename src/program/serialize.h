// Saving and loading programs (.cgb): a short header with version and checksum, then the image as
// CBOR.
#ifndef CGRUN_PROGRAM_SERIALIZE_H_
#define CGRUN_PROGRAM_SERIALIZE_H_

#include <string>

#include "src/program/image.h"

namespace cgrun {

// The bytes of a .cgb file; equal images give equal bytes.
std::string SerializeImage(const ProgramImage& image);

// The image in `bytes`, not yet verified. Throws InputError, which names `file`, if the bytes are
// no program of this version, or damaged.
ProgramImage DeserializeImage(const std::string& bytes, const std::string& file);

// Whole files; SaveImage replaces the file atomically. Throw UserError.
void SaveImage(const ProgramImage& image, const std::string& path);
ProgramImage LoadImage(const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_SERIALIZE_H_
