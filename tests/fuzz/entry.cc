// libFuzzer's entry points, and what the targets share: files in memory for the readers that want a
// path, and checks of errors.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "src/base/check.h"
#include "src/base/printable.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

// Writes the inputs as files of a corpus.
void WriteSeeds(const std::filesystem::path& folder, const std::string& name,
                const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::ofstream file(folder / (name + "-" + std::to_string(i)), std::ios::binary);
    file.write(inputs[i].data(), static_cast<std::streamsize>(inputs[i].size()));
  }
}

// Returns whether a place begins with `file`, and not with another whose name begins so:
// /proc/self/fd/3 is not /proc/self/fd/31.
bool IsIn(std::string_view place, std::string_view file) {
  const auto is_digit = [&](size_t i) {
    return i < place.size() && std::isdigit(static_cast<uint8_t>(place[i])) != 0;
  };
  return place.starts_with(file) && !(is_digit(file.size() - 1) && is_digit(file.size()));
}

}  // namespace

// A target that has such inputs replaces it.
__attribute__((weak)) std::vector<std::string> RefusedInputs() { return {}; }

void WithFile(std::span<const std::byte> input,
              const std::function<void(const std::string&)>& act) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  CGRUN_CHECK(file >= 0);
  const auto size = static_cast<ssize_t>(input.size());
  CGRUN_CHECK(write(file, input.data(), input.size()) == size);
  act("/proc/self/fd/" + std::to_string(file));
  close(file);
}

std::string TextOf(std::span<const std::byte> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

void CheckErrors(const Diagnostics& diagnostics, std::span<const std::string> files) {
  CGRUN_CHECK(diagnostics.has_errors());
  for (const Diagnostic& item : diagnostics.Sorted()) {
    CGRUN_CHECK(!item.message.empty());
    const std::string place = item.mark.ToString();
    const bool known =
        std::ranges::any_of(files, [&](const std::string& file) { return IsIn(place, file); });
    CGRUN_CHECK(known) << place << ": " << item.message;
  }
  const std::string text = diagnostics.ToString();
  CGRUN_CHECK(!text.empty());
  CGRUN_CHECK(PrintableLines(text) == text) << "an error with bytes that steer a terminal";
}

void CheckErrors(const Diagnostics& diagnostics, const std::string& file) {
  CheckErrors(diagnostics, std::span(&file, 1));
}

void CheckError(const UserError& error, std::string_view file) {
  const std::string_view text = error.what();
  const size_t at = text.find(file);
  CGRUN_CHECK(at != std::string_view::npos && IsIn(text.substr(at), file)) << text;
}

}  // namespace cgrun

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const char* folder = *count > 1 ? (*arguments)[1] : "";
  if (!std::filesystem::is_directory(folder)) return 0;
  cgrun::WriteSeeds(folder, "good", cgrun::GoodInputs());
  cgrun::WriteSeeds(folder, "refused", cgrun::RefusedInputs());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cgrun::TryInput(std::as_bytes(std::span(data, size)));
  return 0;
}
