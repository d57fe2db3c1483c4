// Reads run.json of a run folder. Accepted settings are written out and must read back as the same.
#include "src/base/check.h"
#include "src/run/run_folder.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

const TempFolder& Folder() {
  static const TempFolder folder;
  return folder;
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const std::string file = Folder() / "run.json";
  WriteBytes(file, TextOf(input));
  RunSettings settings;
  try {
    settings = ReadRunSettings(Folder().path());
  } catch (const UserError& error) {
    CheckError(error, file);
    CGRUN_CHECK(!error.help().empty());
    return false;
  }
  CGRUN_CHECK(settings.threads > 0 && settings.limit_batches >= 0);
  WriteRunSettings(Folder().path(), settings);
  const RunSettings again = ReadRunSettings(Folder().path());
  CGRUN_CHECK(again.device == settings.device && again.mode == settings.mode &&
              again.threads == settings.threads && again.limit_batches == settings.limit_batches &&
              again.kept_files == settings.kept_files && again.parts == settings.parts);
  return true;
}

std::vector<std::string> GoodInputs() {
  return {R"({"device": "cpu", "mode": "graph", "threads": 2, "limit_batches": 0,)"
          R"( "kept_files": ["logits.npy"]})",
          R"({"device":"blas","mode":"eager","threads":1,"limit_batches":64})",
          R"({"device": "cpu", "mode": "graph", "threads": 1, "limit_batches": 0, "parts":)"
          R"( [{"date": "2026-05-04", "version": "0.1", "command": "cgrun train", "step": 8}]})"};
}

}  // namespace cgrun
