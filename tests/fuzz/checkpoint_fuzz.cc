// Reads checkpoints of a tiny model, and weights for it. If a file is accepted, the state is just
// that of the file, and a run can go on from it.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "src/base/check.h"
#include "src/device/cpu.h"
#include "src/io/endian.h"
#include "src/kernels/reference/library.h"
#include "src/model/model_file.h"
#include "src/run/checkpoint.h"
#include "src/run/weights.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/safetensors_file.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::unique_ptr<Engine> MakeEngine() {
  static CpuDevice device("reference");
  static SingleProcess communicator;
  Diagnostics diagnostics;
  const auto model = LoadModelFile("tests/golden/tiny_mlp.yaml", {}, diagnostics);
  CGRUN_CHECK(model.has_value()) << diagnostics.ToString();
  auto engine = BuildEngine(*model, {{"train", EntryKind::kTrain, 2}}, Mode::kGraph, {},
                            {reference::Library(), device, communicator}, diagnostics);
  CGRUN_CHECK(engine != nullptr) << diagnostics.ToString();
  return engine;
}

Engine& TheEngine() {
  static const std::unique_ptr<Engine> engine = MakeEngine();
  return *engine;
}

RunState RunShape() {
  RunState shape;
  shape.totals.resize(2);
  shape.schedules.resize(1);
  return shape;
}

void CheckStates(const Engine& engine, const std::string& path) {
  const SafetensorsFile file = ReadSafetensors(path);
  for (size_t i = 0; i < engine.model().states.size(); ++i) {
    const EngineState& state = engine.model().states[i];
    HostTensor tensor(state.type.dtype, state.type.shape);
    engine.ReadState(i, tensor);
    const HostTensor* stored = file.Find(state.name);
    CGRUN_CHECK(stored != nullptr && std::ranges::equal(stored->bytes(), tensor.bytes()))
        << state.name;
  }
}

void CheckState(const RunState& state) {
  for (const int64_t count : {state.step, state.epoch, state.batch, state.samples,
                              state.kept.evaluations_since, state.stopping.evaluations_since}) {
    CGRUN_CHECK(count >= 0) << count;
  }
  CGRUN_CHECK(state.totals.size() == 2 && state.schedules.size() == 1);
}

bool Load(const std::string& path) {
  try {
    CheckState(LoadCheckpoint(TheEngine(), path, RunShape()));
  } catch (const UserError& error) {
    CheckError(error, path);
    return false;
  }
  CheckStates(TheEngine(), path);
  return true;
}

void LoadAsWeights(const std::string& path) {
  try {
    const WeightsReport report = LoadWeights(TheEngine(), path, WeightsScope::kRun);
    CGRUN_CHECK(report.loaded.size() + report.missing.size() + report.missing_run_state.size() +
                    report.mismatched.size() ==
                TheEngine().model().states.size());
  } catch (const UserError& error) {
    CheckError(error, path);
  }
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  bool accepted = false;
  WithFile(input, [&](const std::string& path) {
    accepted = Load(path);
    LoadAsWeights(path);
  });
  return accepted;
}

std::vector<std::string> GoodInputs() {
  const TempFolder folder;
  const std::string path = folder / "checkpoint-12.safetensors";
  TheEngine().InitializeStates();
  CheckpointWriter writer(TheEngine(), RunShape(), {{"classes.label", R"(["a", "b"])"}});
  RunState state = RunShape();
  state.step = 12;
  state.epoch = 1;
  writer.Write(path, state);
  // As earlier versions have written them, checkpoints have no checksum: what is damaged there can
  // be accepted.
  std::string with_checksum = ReadBytes(path), without = with_checksum;
  without.replace(without.find(kChecksumKey), std::size(kChecksumKey) - 1, "other:checksum");
  return {std::move(with_checksum), std::move(without)};
}

// Weights of other number types are no checkpoint, but can be loaded as weights.
std::vector<std::string> RefusedInputs() {
  std::vector<std::string> inputs;
  for (const auto& [type, size] : {std::pair("F16", 2), std::pair("F64", 8)}) {
    std::string header;
    int64_t end = 0;
    for (const EngineState& state : TheEngine().model().states) {
      const int64_t begin = end;
      end += state.type.shape.Elements() * size;
      header += (begin > 0 ? ",\"" : "\"") + state.name + R"(":{"dtype":")" + type +
                R"(","shape":)" + state.type.shape.ToString() + R"(,"data_offsets":[)" +
                std::to_string(begin) + "," + std::to_string(end) + "]}";
    }
    header = "{" + header + "}";
    std::string file(sizeof(uint64_t), '\0');
    StoreLittle<uint64_t>(header.size(), reinterpret_cast<std::byte*>(file.data()));
    inputs.push_back(file + header + std::string(static_cast<size_t>(end), '\x3c'));
  }
  return inputs;
}

}  // namespace cgrun
