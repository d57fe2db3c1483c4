// JPEG and PNG images, from their headers to samples.
#include "src/base/diagnostics.h"
#include "src/data/image_decoder.h"
#include "src/data/image_resample.h"
#include "tests/data/test_images.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {

bool TryInput(std::span<const std::byte> input) {
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
    return true;
  } catch (const ImageError&) {
    return false;
  }
}

std::vector<std::string> GoodInputs() {
  std::vector<std::string> inputs;
  for (int channels = 1; channels <= 4; ++channels) {
    const TestImage image = TestImage::Noise(20, 17, channels);
    inputs.push_back(EncodePng(image, ExifTiff(6, true)));
    if (channels % 2 == 1) inputs.push_back(EncodeJpeg(image, ExifTiff(8, false)));
  }
  return inputs;
}

}  // namespace cgrun
