// libFuzzer's entry point, and files in memory for the readers that want a path.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "src/base/check.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {

void WithFile(std::span<const std::byte> input,
              const std::function<void(const std::string&)>& act) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  CGRUN_CHECK(file >= 0);
  const auto size = static_cast<ssize_t>(input.size());
  CGRUN_CHECK(write(file, input.data(), input.size()) == size);
  act("/proc/self/fd/" + std::to_string(file));
  close(file);
}

}  // namespace cgrun

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cgrun::TryInput(std::as_bytes(std::span(data, size)));
  return 0;
}
