// The program of a session: the one that was given, or a new one.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/device/no_room.h"
#include "src/fit/run_memory.h"
#include "src/fit/run_shape.h"
#include "src/model/model_file.h"
#include "src/session/session_parts.h"

namespace cgrun {
namespace {

// The settings that byte code depends on: the resolved file without data, length of the run and the
// folder of a swap file.
std::string CodeSettings(const ModelSpec& model) {
  TreeNode tree = ResolvedTree(model);
  const auto drop = [](TreeNode& map, std::initializer_list<std::string_view> keys) {
    std::erase_if(map.entries, [&](const TreeEntry& entry) {
      return std::find(keys.begin(), keys.end(), entry.key) != keys.end();
    });
  };
  drop(tree, {"data", "weights"});
  if (TreeEntry* train = tree.Find("train")) {
    drop(train->value, {"epochs", "steps", "time", "swap"});
  }
  return ToYaml(tree);
}

// Returns whether a program was compiled from these settings.
bool SameSettings(const ProgramImage& image, const ModelSpec& model,
                  const CompileOptions& options) {
  const CompileOptions defaults;
  if (options.layout.planner != defaults.layout.planner || !options.passes.disabled.empty() ||
      !options.passes.stop_after.empty()) {
    return false;
  }
  const EntryKind keeps = PredictsAlone(model) ? EntryKind::kPredict : defaults.keeps;
  if (!model.keep.empty() && options.keeps != keeps) return false;
  Diagnostics diagnostics;
  const auto embedded = ParseModel({image.model_path, image.model_text}, {}, diagnostics);
  return embedded && CodeSettings(*embedded) == CodeSettings(model);
}

int64_t SwapBytes(const ProgramImage& image) {
  return image.arena_bytes[static_cast<size_t>(ArenaKind::kFile)];
}

// Says why a program that swaps nothing is compiled a second time if it may swap.
std::string LacksSwaps(const SwapFolder& swap) {
  return swap.path == kSwapToHost ? "it swaps nothing to the host's memory, as it now may"
                                  : "it swaps nothing to a file, and there is a folder for one";
}

// Says what to do if there is no data for an evaluation: take the data that there is.
std::string HelpWithoutData(const ModelData& data, const std::string& wanted) {
  std::string there;
  if (data.valid) there = "`--split valid`";
  if (data.train) there += (there.empty() ? "" : " or ") + std::string("`--split train`");
  if (there.empty()) {
    return "give `data: {" + wanted + ": {format: idx, images: FILE, labels: FILE}}`";
  }
  return there + " takes data that are there; or give `data: {" + wanted +
         ": …}` with the keys of `train` and other files";
}

// The numbers of samples of the sets of a name: those of all groups, where there are groups.
std::vector<int64_t> SizesOf(const Split& split, const GroupTable* groups) {
  if (groups == nullptr) return {split.dataset->size()};
  return split.name == "train"   ? groups->train_sizes()
         : split.name == "valid" ? groups->valid_sizes()
                                 : groups->test_sizes();
}

// The entry points that the sets need.
std::vector<EntryRequest> RequestsOf(const SessionParts& session) {
  const SessionData& data = session.data;
  const GroupTable* const groups = data.sets.groups.get();
  std::vector<int64_t> train_sizes, evaluation_sizes;
  if (data.train) train_sizes = SizesOf(*data.train, groups);
  for (const Split& split : data.evaluations) {
    std::ranges::copy(SizesOf(split, groups), std::back_inserter(evaluation_sizes));
  }
  const int64_t accumulate = data.train ? session.model.train->accumulate.value : 1;
  std::vector<EntryRequest> requests =
      TrainingEntries(session.batch, train_sizes, evaluation_sizes, accumulate);
  if (requests.empty()) {
    throw InputError(session.model.file_name + " has no '" + session.options.evaluate[0] + "' data",
                     HelpWithoutData(data.sets, session.options.evaluate[0]));
  }
  return requests;
}

// The compiled program that was given, if it is for this device and these batches; else a new one.
std::optional<ProgramImage> MakeImage(SessionParts& session, const KernelLibrary& library,
                                      Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  const SessionOptions& options = session.options;
  std::string& recompiled = session.run.recompiled;
  const std::vector<EntryRequest> requests = RequestsOf(session);
  if (options.image != nullptr) {
    const ProgramImage& given = *options.image;
    const bool complete =
        std::all_of(requests.begin(), requests.end(), [&](const EntryRequest& request) {
          return given.Find(request.kind, request.batch) != nullptr;
        });
    const std::string fingerprint = FingerprintOf(library, options.compile);
    if (given.device != library.name() || given.fingerprint != fingerprint) {
      recompiled = DescribeDifference(given, library.name(), fingerprint);
    } else if (!SameSettings(given, model, options.compile)) {
      recompiled = "the settings are not those that it was compiled with";
    } else if (options.compile.swap && SwapBytes(given) == 0) {
      recompiled = LacksSwaps(*options.compile.swap);
    } else if (!complete) {
      recompiled = "it has no entry point for these batch sizes";
    } else {
      return given;
    }
  }
  auto compiled = Compile(model, requests, library, options.compile, diagnostics);
  if (!compiled) return std::nullopt;
  session.run.layout = std::move(compiled->layout);
  return std::move(compiled->image);
}

// Makes the engine of a program from a file, which errors of memory name.
std::unique_ptr<Engine> MakeGivenEngine(ProgramImage image, const EnginePlace& place,
                                        const std::string& swap_folder, const std::string& file) {
  try {
    return MakeImageEngine(std::move(image), place, swap_folder);
  } catch (const NoRoom& error) {
    throw NoRoom(file + ": " + error.what(), error.help());
  }
}

}  // namespace

bool MakeEngine(SessionParts& session, Diagnostics& diagnostics) {
  const SessionOptions& options = session.options;
  SessionEngine& run = session.run;
  MemoryUse& memory = session.memory;
  const KernelLibrary* library = FindKernelLibrary(options.device);
  CGRUN_CHECK(library != nullptr) << "no kernels for " << options.device;
  const EnginePlace place = {*library, *run.device, run.communicator, options.debug,
                             [&](const ProgramImage& image) { PlanMemoryOf(image, session); }};
  memory.mode = options.mode;
  if (options.mode == Mode::kEager) {
    run.engine = BuildEngine(session.model, RequestsOf(session), options.mode, options.compile,
                             place, diagnostics);
    return run.engine != nullptr;
  }
  std::optional<ProgramImage> image = MakeImage(session, *library, diagnostics);
  if (!image) return false;
  ReleaseFreeMemory();  // memory of the compile must not lie beside that of kernels
  const std::string swap_folder =
      options.compile.swap ? options.compile.swap->path : SwapFolderOf(session.model);
  const bool is_given = options.image != nullptr && run.recompiled.empty();
  run.engine = is_given
                   ? MakeGivenEngine(std::move(*image), place, swap_folder, session.model.file_name)
                   : MakeImageEngine(std::move(*image), place, swap_folder);
  run.program = run.engine->program();
  memory.swap_space = SwapBytes(run.program->image());
  memory.swaps_to_host = !KindOfDevice(options.device).on_host;
  return true;
}

}  // namespace cgrun
