// JSON with the keys "cgrun_packing" (the version), "planner", "nodes", "peak", "lower_bound" and
// "offsets", the last three in bytes. The name of a file has two hashes of the build, the planner
// and the problem.
#include "src/fit/packing_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/io/atomic_file.h"
#include "src/io/cache_folder.h"
#include "src/io/checksum.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionKey = "cgrun_packing";
constexpr int kVersion = 1;
constexpr int64_t kMostBytes = 16 << 20;  // of a file

// The size of the program and the time at which it was linked, by a link that leads to it even
// where its file has been replaced meanwhile; "" where they are not known.
std::string BuildOfProgram() {
  constexpr const char* kProgram = "/proc/self/exe";
  std::error_code no_size, no_time;
  const auto bytes = fs::file_size(kProgram, no_size);
  const auto time = fs::last_write_time(kProgram, no_time).time_since_epoch().count();
  return no_size || no_time ? "" : std::to_string(bytes) + " " + std::to_string(time);
}

// All that a planner may look at, but for the names.
std::vector<int64_t> NumbersOf(const MemoryProblem& problem) {
  std::vector<int64_t> numbers = {problem.capacity.value_or(-1)};
  for (const Buffer& buffer : problem.buffers) {
    numbers.insert(numbers.end(), {buffer.bytes, buffer.lower, buffer.upper, buffer.alignment,
                                   buffer.offset.value_or(-1), buffer.zone});
  }
  return numbers;
}

}  // namespace

PackingFiles::PackingFiles(std::string folder, bool keeps)
    : folder_(std::move(folder)), build_(BuildOfProgram()), keeps_(keeps) {}

std::string PackingFiles::FileOf(const MemoryProblem& problem, std::string_view planner) const {
  const std::string text = build_ + "\n" + std::string(planner);
  const uint64_t seed = HashBytes(std::as_bytes(std::span(text)));
  const std::vector<int64_t> numbers = NumbersOf(problem);
  const auto bytes = std::as_bytes(std::span(numbers));
  return folder_ + "/packing-" + HashText(HashBytes(bytes, seed)) +
         HashText(HashBytes(bytes, seed + 1)) + ".json";
}

std::optional<MemoryPlan> PackingFiles::Find(const MemoryProblem& problem,
                                             std::string_view planner) {
  const std::string path = FileOf(problem, planner);
  std::error_code error;
  if (build_.empty() || !fs::exists(path, error)) return std::nullopt;
  try {
    const std::string text = ReadTextFile(path, kMostBytes);
    CheckJsonRoom(path, text);
    const auto json = ParseJson(text);
    if (json.at(kVersionKey) != kVersion) return std::nullopt;
    MemoryPlan plan;
    plan.planner = json.at("planner");
    plan.nodes = json.at("nodes");
    plan.peak_bytes = json.at("peak");
    plan.lower_bound_bytes = json.at("lower_bound");
    plan.offsets = json.at("offsets").get<std::vector<Bytes>>();
    plan.optimal = plan.peak_bytes == plan.lower_bound_bytes;
    // The oldest go first.
    if (keeps_) fs::last_write_time(path, fs::file_time_type::clock::now(), error);
    return plan;
  } catch (const nlohmann::json::exception&) {  // it is packed, and kept, anew
  } catch (const UserError&) {
  }
  return std::nullopt;
}

void PackingFiles::Keep(const MemoryProblem& problem, const MemoryPlan& plan) {
  if (build_.empty() || !keeps_) return;
  const nlohmann::ordered_json json = {{kVersionKey, kVersion},
                                       {"planner", plan.planner},
                                       {"nodes", plan.nodes},
                                       {"peak", plan.peak_bytes},
                                       {"lower_bound", plan.lower_bound_bytes},
                                       {"offsets", plan.offsets}};
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  try {
    const std::string text = JsonText(json) + "\n";
    WriteFileAtomically(FileOf(problem, plan.planner), std::as_bytes(std::span(text)));
  } catch (const UserError&) {
    return;
  }
  RemoveOldest();
}

// Other processes may add and remove files meanwhile.
void PackingFiles::RemoveOldest() const {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool is_packing = name.starts_with("packing-") && name.ends_with(".json");
    std::error_code gone;
    const auto time = fs::last_write_time(it->path(), gone);
    if (is_packing && !gone) files.emplace_back(time, it->path());
  }
  if (files.size() <= kMostPackingFiles) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kMostPackingFiles);
  for (const auto& [time, path] : files) fs::remove(path, error);
}

std::shared_ptr<PackingStore> PackingsOfMachine(bool keeps) {
  const std::string folder = CacheFolder();
  return folder.empty() ? nullptr : std::make_shared<PackingFiles>(folder + "/packings", keeps);
}

}  // namespace cgrun
