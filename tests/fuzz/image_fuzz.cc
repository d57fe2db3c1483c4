// JPEG and PNG images, from their headers to samples, and PNG masks to labels.
// An accepted image is decoded within the memory that its header asks for.
#include "src/base/diagnostics.h"
#include "src/data/image_decoder.h"
#include "src/data/image_resample.h"
#include "src/io/checksum.h"
#include "src/io/endian.h"
#include "tests/data/test_images.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

// A PNG file with the right checksums, so that damage reaches the decoder.
std::string WithChecksums(std::span<const std::byte> input) {
  std::string file(reinterpret_cast<const char*>(input.data()), input.size());
  for (size_t at = 8; file.starts_with("\x89PNG") && file.size() >= at + 12;) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
    const size_t length = LoadBig<uint32_t>(&bytes[at]);
    if (length > file.size() - at - 12) break;
    const uint32_t crc = Crc32(bytes.subspan(at + 4, length + 4));
    for (size_t i = 0; i < 4; ++i)
      file[at + 8 + length + i] = static_cast<char>(crc >> (24 - 8 * i));
    at += 12 + length;
  }
  return file;
}

// Masks are not of JPEG, nor of colours.
void TryMask(const ImageHeader& header, std::span<const std::byte> input, ScratchArena& arena) {
  if (header.format != ImageHeader::Format::kPng || header.channels != 1 || header.bits > 8) return;
  arena.Reset();
  std::vector<std::byte> file(input.begin(), input.end());
  const DecodedImage numbers = DecodeNumbers(header, file, arena);
  std::vector<uint8_t> labels(8 * 9);
  ResampleNumbers(numbers, header.orientation, {1, 8, 9, ImageFit::kContain}, labels);
}

bool TryImage(std::span<const std::byte> input) {
  constexpr int64_t kLimit = 16 << 20;
  const ImageTarget target{3, 8, 9, ImageFit::kCover};
  try {
    int64_t wanted = 0;
    const auto file_bytes = static_cast<int64_t>(input.size());
    const auto header = ParseImageHeader(input, file_bytes, &wanted);
    if (!header || header->decoder_bytes > kLimit) return false;
    ScratchArena arena(static_cast<size_t>(header->decoder_bytes +
                                           ResampleBytes(header->width, header->height, target)));
    const DecodedImage image = DecodeImage(*header, input, arena);
    std::vector<uint8_t> sample(static_cast<size_t>(target.bytes()));
    ResampleImage(image, header->orientation, target, arena, sample);
    TryMask(*header, input, arena);
    return true;
  } catch (const ImageError&) {
    return false;
  }
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const std::string repaired = WithChecksums(input);
  return TryImage(input) | TryImage(std::as_bytes(std::span(repaired)));
}

std::vector<std::string> GoodInputs() {
  std::vector<std::string> inputs;
  for (int channels = 1; channels <= 4; ++channels) {
    const TestImage image = TestImage::Noise(20, 17, channels);
    inputs.push_back(EncodePng(image, ExifTiff(6, true)));
    if (channels % 2 == 1) inputs.push_back(EncodeJpeg(image, ExifTiff(8, false)));
  }
  inputs.push_back(PngHeader(4, 2, 2, 3) + PngChunk("PLTE", "abcdefghi") + PngChunk("tRNS", "a") +
                   PngChunk("IDAT", Deflated(std::string("\0\x1A\0\x94", 4))) +
                   PngChunk("IEND", ""));
  // Texts in an image's own words may be in any encoding.
  const std::string text("M\xFCller \x1B[31m", 12);
  inputs.push_back(PngHeader(1, 1, 8, 0) + PngChunk("tEXt", std::string("Author\0", 7) + text) +
                   PngChunk("IDAT", Deflated(std::string("\0\x1A", 2))) + PngChunk("IEND", ""));
  inputs.push_back(EncodeJpeg(TestImage::Noise(20, 17, 3)));
  inputs.back().insert(2, std::string("\xFF\xFE\0\x0E", 4) + text);  // a comment
  return inputs;
}

// A critical chunk whose name is no text; an image of 64 million pixels in some kB.
std::vector<std::string> RefusedInputs() {
  return {PngHeader(8000, 8000, 1, 0) + PngChunk("IDAT", Deflated(std::string(8000 * 1001, '\0'))) +
              PngChunk("IEND", ""),
          PngHeader(1, 1, 8, 0) + PngChunk("\xC3\xFF\x1B[", "") +
              PngChunk("IDAT", Deflated(std::string("\0\x1A", 2))) + PngChunk("IEND", "")};
}

}  // namespace cgrun
