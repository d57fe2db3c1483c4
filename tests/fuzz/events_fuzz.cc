// Reads event files of a run that goes on from step 5. The kept bytes begin the file. They stay
// where the run goes on from there once more. If nothing of a file can be kept, it begins anew, and
// counts as refused.
#include "src/base/check.h"
#include "src/io/event_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr int64_t kStep = 5;

const TempFolder& Folder() {
  static const TempFolder folder;
  return folder;
}

// Returns the rest of a file that a writer keeps when it goes on with it.
std::string Kept(const std::string& text) {
  const std::string file = Folder() / "events";
  WriteBytes(file, text);
  EventFileWriter writer(file, kStep);
  return ReadBytes(file);
}

std::string Written(std::initializer_list<int64_t> steps) {
  const std::string file = Folder() / "good";
  EventFileWriter writer(file);
  for (int64_t step : steps) {
    writer.Begin(step, 0.5 * static_cast<double>(step));
    writer.Add("train/loss", 0.25);
    writer.End();
  }
  return ReadBytes(file);
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const std::string text = TextOf(input), kept = Kept(text);
  CGRUN_CHECK(Kept(kept) == kept);
  if (text.starts_with(kept)) return true;
  CGRUN_CHECK(kept == Written({})) << "neither of the file nor a new one";
  return false;
}

std::vector<std::string> GoodInputs() { return {Written({}), Written({1, 3, 5, 6})}; }

}  // namespace cgrun
