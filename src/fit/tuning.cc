// JSON: {"cgrun_tuning": 1, "machine": …, "kernels": …, "seconds": {KEY: SECONDS, …}}.
#include "src/fit/tuning.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/device/device.h"
#include "src/fit/child_process.h"
#include "src/fit/run_shape.h"
#include "src/io/atomic_file.h"
#include "src/io/cache_folder.h"
#include "src/io/checksum.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionKey = "cgrun_tuning";
constexpr int kVersion = 1;
constexpr int64_t kMostBytes = 64 << 20;  // of a record's file

// "AMD EPYC …": the description of the device, without its threads, which keys name.
std::string MachineOf(const KernelLibrary& library) {
  const std::string text = OpenDevice(library.name())->Info().description;
  return text.substr(0, text.rfind(", "));
}

TuningRecord RecordOf(const nlohmann::json& seconds) {
  TuningRecord record;
  for (const auto& [key, value] : seconds.items()) {
    const double number = value.get<double>();
    if (!(number >= 0)) throw InputError("a time of " + JsonText(value) + " seconds");
    record.Add(key, number);
  }
  return record;
}

// Measures the kernels of all entry points, in both modes.
TuningRecord Measure(const ModelSpec& model, const KernelLibrary& library, CompileOptions options) {
  Diagnostics ignored;
  options.tuning = std::make_shared<TuningRecord>();
  options.measure_kernels = true;
  const std::vector<EntryRequest> entries = ShapeOfRun(model, ignored).entries;
  PrepareEager(model, entries, library, options, ignored);
  Compile(model, entries, library, options, ignored);
  return *options.tuning;
}

}  // namespace

bool DoesWithoutTuning() {
  const char* file = std::getenv("CGRUN_TUNING");
  return file != nullptr && std::string_view(file) == "none";
}

std::string TuningFile(const KernelLibrary& library) {
  if (DoesWithoutTuning()) return "";
  if (const char* file = std::getenv("CGRUN_TUNING"); file != nullptr && *file != '\0') return file;
  const std::string folder = CacheFolder();
  if (folder.empty()) return "";
  const std::string machine = MachineOf(library) + "\n" + library.fingerprint();
  return folder + "/tuning-" + std::string(library.name()) + "-" +
         HashText(HashBytes(std::as_bytes(std::span(machine)))) + ".json";
}

std::shared_ptr<TuningRecord> LoadTuning(const std::string& path, const KernelLibrary& library) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return nullptr;
  const std::string help = "`--tune` makes a new one; without the file, estimates choose kernels";
  nlohmann::json json;
  try {
    const std::string text = ReadTextFile(path, kMostBytes);
    CheckJsonRoom(path, text);
    json = ParseJson(text);
    if (json.at(kVersionKey) != kVersion) throw InputError("another version");
    const std::string kernels = json.at("kernels");
    if (kernels != library.fingerprint()) {
      throw InputError("it is of " + kernels + ", and here are " + library.fingerprint());
    }
    return std::make_shared<TuningRecord>(RecordOf(json.at("seconds")));
  } catch (const nlohmann::json::exception&) {
    throw InputError("'" + path + "' is no tuning record", help);
  } catch (const InputError& fault) {
    throw InputError("tuning record '" + path + "' cannot be used: " + fault.what(), help);
  }
}

void SaveTuning(const std::string& path, const TuningRecord& record, const KernelLibrary& library) {
  const nlohmann::ordered_json json = {{kVersionKey, kVersion},
                                       {"machine", MachineOf(library)},
                                       {"kernels", library.fingerprint()},
                                       {"seconds", record.seconds()}};
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error)
    throw UserError("cannot make the folder '" + folder.string() + "': " + error.message());
  AtomicFile file;
  file.Open(path);
  file.Write(JsonText(json, 1) + "\n");
  file.Commit();
}

int64_t TuneKernels(const ModelSpec& model, const KernelLibrary& library, CompileOptions& options) {
  const auto text = InChild(KindOfDevice(library.name()).on_host, [&] {
    return JsonText(nlohmann::json(Measure(model, library, options).seconds()));
  });
  const TuningRecord measured =
      text ? RecordOf(ParseJson(*text)) : Measure(model, library, options);
  if (!options.tuning) options.tuning = std::make_shared<TuningRecord>();
  for (const auto& [key, seconds] : measured.seconds()) options.tuning->Add(key, seconds);
  return static_cast<int64_t>(measured.seconds().size());
}

}  // namespace cgrun
