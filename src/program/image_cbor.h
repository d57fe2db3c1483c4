// An image as CBOR (RFC 8949), and back: what lies behind the header of a .cgb file.
#ifndef CGRUN_PROGRAM_IMAGE_CBOR_H_
#define CGRUN_PROGRAM_IMAGE_CBOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

std::vector<uint8_t> ImageToCbor(const ProgramImage& image);
// Throws UserError with what is damaged. The image still has to be verified: see VerifyImage().
ProgramImage ImageFromCbor(const std::string& cbor);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_IMAGE_CBOR_H_
