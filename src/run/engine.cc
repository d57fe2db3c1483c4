// This file wraps graph mode and eager mode as an Engine.
#include "src/run/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "src/base/check.h"
#include "src/base/finite.h"
#include "src/io/checksum.h"
#include "src/ir/op_def.h"
#include "src/program/build_image.h"
#include "src/run/debug_run.h"

namespace cgrun {

bool IsSound(const EngineState& state, std::span<const std::byte> elements, bool* nan) {
  bool is_nan = false;
  if (AllFinite(state.type.dtype, elements, &is_nan)) return true;
  if (nan != nullptr) *nan = is_nan;
  return state.may_be_infinite() && !is_nan;
}

int EngineModel::FindEntry(EntryKind kind, int64_t batch) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind == kind && entries[i].batch == batch) return static_cast<int>(i);
  }
  return -1;
}

size_t EngineModel::FindState(std::string_view name) const {
  const auto it = std::find_if(states.begin(), states.end(),
                               [&](const EngineState& state) { return state.name == name; });
  CGRUN_CHECK(it != states.end()) << "no state " << name;
  return static_cast<size_t>(it - states.begin());
}

void Engine::FetchNumbers(int entry, int result, std::span<std::byte> bytes,
                          std::span<double> numbers) const {
  const EnginePort& port =
      model_.entries[static_cast<size_t>(entry)].results[static_cast<size_t>(result)];
  CGRUN_CHECK(port.type.shape.Elements() == static_cast<int64_t>(numbers.size()))
      << port.name << " has another number of elements";
  const std::span<std::byte> fetched = bytes.first(static_cast<size_t>(port.bytes()));
  Fetch(entry, result, fetched);
  const auto size = static_cast<size_t>(SizeOf(port.type.dtype));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = NumberAt(port.type.dtype, &fetched[i * size]);
  }
}

size_t Engine::LargestCopiedState() const {
  int64_t largest = 0;
  for (size_t i = 0; i < model_.states.size(); ++i) {
    if (StateInPlace(i).empty()) largest = std::max(largest, ByteSize(model_.states[i].type));
  }
  return static_cast<size_t>(largest);
}

uint64_t Engine::StateHash() const {
  std::vector<std::byte> copy(LargestCopiedState());
  return StateHash(copy);
}

uint64_t Engine::StateHash(std::span<std::byte> copy) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < model_.states.size(); ++i) {
    const Role role = model_.states[i].role;
    if (role == Role::kParameter || role == Role::kRunningStatistic) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return model_.states[a].name < model_.states[b].name; });
  uint64_t hash = 0;
  for (size_t i : order) {
    const EngineState& state = model_.states[i];
    std::span<const std::byte> bytes = StateInPlace(i);
    if (bytes.empty()) {
      const auto plain = copy.first(static_cast<size_t>(ByteSize(state.type)));
      ReadState(i, plain);
      bytes = plain;
    }
    hash = HashBytes(std::as_bytes(std::span(state.name)), hash);
    hash = HashBytes(bytes, hash);
  }
  return hash;
}

namespace {

EngineOperator DescribeOperator(const KernelLibrary& library, const std::string& name,
                                const std::string& kernel, Phase phase, const std::string& source,
                                const NodeSignature& node) {
  EngineOperator described{.name = name,
                           .kernel = kernel,
                           .phase = phase,
                           .flops = CostOf(node).flops,
                           .fewer_operations = library.TraitsOf(kernel).fewer_operations,
                           .source = source};
  for (const TensorType& type : node.inputs) described.bytes += ByteSize(type);
  for (const TensorType& type : node.outputs) described.bytes += ByteSize(type);
  if (IsTransfer(node.op)) described.bytes = 0;  // they move beside the step
  const auto name_of = [](const FusedOperator& part) { return NameOf(part.op); };
  described.parts = fmt::format("{}", fmt::join(node.body | std::views::transform(name_of), ", "));
  return described;
}

class GraphEngine final : public Engine {
 public:
  GraphEngine(std::unique_ptr<Program> program, const KernelLibrary& library)
      : program_(std::move(program)), library_(library) {
    const ProgramImage& image = program_->image();
    model_.name = image.model;
    model_.device = image.device;
    model_.paths = image.paths;
    for (const ImageState& state : image.states) {
      model_.states.push_back({state.name, state.type, state.role});
    }
    for (const ImageEntry& entry : image.entries) {
      model_.entries.push_back(
          {entry.name, entry.kind, entry.batch, PortsOf(entry.feeds), PortsOf(entry.results)});
    }
  }

  Mode mode() const override { return Mode::kGraph; }
  Program* program() override { return program_.get(); }
  EngineMemory memory() const override {
    EngineMemory memory;
    const auto& arenas = program_->image().arena_bytes;
    for (size_t kind = 0; kind < arenas.size(); ++kind) {
      if (kind == static_cast<size_t>(ArenaKind::kFile)) continue;
      memory.live_peak_bytes += arenas[kind];
      memory.requests += arenas[kind] > 0;
    }
    memory.reserved_peak_bytes = memory.live_peak_bytes;
    memory.system_requests = memory.requests;
    return memory;
  }
  void Feed(int entry, int feed, std::span<const std::byte> bytes) override {
    program_->Feed(entry, static_cast<size_t>(feed), bytes);
  }
  void Run(int entry) override {
    if (times_ == nullptr) {
      if (!program_->Run(entry, stop_)) throw RunStopped();
    } else {
      times_->Begin();
      program_->RunChecked(entry, [&](const Instruction& i) {
        times_->Lap(entry, i.node);
        if (stop_ != nullptr && *stop_ != 0) throw RunStopped();
      });
      times_->End();
    }
    program_->CheckTransfers();
  }
  int64_t RunChanged(int entry, std::span<const HostTensor> feeds,
                     const std::vector<bool>& changed) override {
    const std::vector<ImagePort>& ports = EntryOf(entry).feeds;
    if (!program_->CanRunChanged(entry)) {
      for (size_t i = 0; i < ports.size(); ++i) program_->Feed(entry, i, feeds[i].bytes());
      Run(entry);
      return static_cast<int64_t>(EntryOf(entry).instructions.size());
    }
    ReachSet reach = kEveryRun;
    for (size_t i = 0; i < ports.size(); ++i) reach |= changed[i] ? ports[i].reach : 0;
    for (size_t i = 0; i < ports.size(); ++i) {
      if ((ports[i].reach & reach) != 0) program_->Feed(entry, i, feeds[i].bytes());
    }
    if (times_ == nullptr) return program_->RunChanged(entry, reach);
    times_->Begin();
    const int64_t count = program_->RunChangedChecked(
        entry, reach, [&](const Instruction& i) { times_->Lap(entry, i.node); });
    times_->End();
    return count;
  }
  void RunChecked(int entry, RunChecker& checker) override {
    bool wanted = true;
    std::vector<std::byte> bytes;
    program_->RunChecked(entry, [&](const Instruction& i) {
      const ImageInstruction& image = EntryOf(entry).instructions[static_cast<size_t>(i.node)];
      if (IsTransfer(image.node.op)) return;  // a tensor on its way cannot be read yet
      for (size_t o = 0; o < image.node.outputs.size() && wanted; ++o) {
        const ImageOperand& operand = image.operands[image.node.inputs.size() + o];
        bytes.resize(static_cast<size_t>(operand.bytes));
        program_->Read(operand, bytes);
        wanted = checker.OnOutput(static_cast<size_t>(i.node), image.node.outputs[o].dtype, bytes);
      }
    });
    program_->CheckTransfers();
  }
  std::vector<EngineOperator> Operators(int entry) const override {
    std::vector<EngineOperator> operators;
    for (const ImageInstruction& i : EntryOf(entry).instructions) {
      operators.push_back(DescribeOperator(library_, i.name, i.kernel, i.phase, i.source, i.node));
      operators.back().share_for_less = i.again ? 1 : i.share_for_less;
    }
    return operators;
  }
  void Fetch(int entry, int result, std::span<std::byte> bytes) const override {
    program_->Fetch(entry, static_cast<size_t>(result), bytes);
  }
  void ReadState(size_t index, std::span<std::byte> plain) const override {
    program_->ReadState(index, plain);
  }
  std::span<const std::byte> StateInPlace(size_t index) const override {
    return program_->StateInPlace(index);
  }
  void WriteState(size_t index, const HostTensor& tensor) override {
    program_->WriteState(index, tensor);
  }
  void FillState(size_t index,
                 const std::function<void(std::span<std::byte> plain)>& fill) override {
    program_->FillState(index, fill);
  }
  void FreeArenas() override { program_->FreeArenas(); }
  void InitializeStates() override { program_->InitializeStates(); }
  std::unique_ptr<StreamClock> MakeClock(size_t marks) const override {
    return program_->MakeClock(marks);
  }

 private:
  static std::vector<EnginePort> PortsOf(const std::vector<ImagePort>& ports) {
    std::vector<EnginePort> result;
    for (const ImagePort& port : ports) {
      result.push_back({port.name, port.type, port.kind, port.path, port.metric});
    }
    return result;
  }
  const ImageEntry& EntryOf(int entry) const {
    return program_->image().entries[static_cast<size_t>(entry)];
  }

  std::unique_ptr<Program> program_;
  const KernelLibrary& library_;
};

class EagerEngine final : public Engine {
 public:
  EagerEngine(std::vector<EagerGraph> entries, Device& device, const KernelLibrary& library,
              Communicator& communicator, const EagerOptions& options)
      : program_(SourcesOf(std::move(entries)), device, library, communicator, options),
        library_(library) {
    model_.name = program_.entry(0).graph.name;
    model_.device = library.name();
    for (const EagerState& state : program_.states()) {
      model_.states.push_back({state.name, state.type, state.role});
    }
    for (int i = 0; i < program_.entry_count(); ++i) AddEntry(program_.entry(i));
  }

  Mode mode() const override { return Mode::kEager; }
  EngineMemory memory() const override {
    const AllocatorStatistics& statistics = program_.statistics();
    return {statistics.live_peak_bytes, statistics.reserved_peak_bytes, statistics.allocations,
            statistics.system_allocations};
  }
  void Feed(int entry, int feed, std::span<const std::byte> bytes) override {
    program_.Feed(entry, ports_[static_cast<size_t>(entry)].feeds[static_cast<size_t>(feed)],
                  bytes);
  }
  void Run(int entry) override {
    if (!program_.Run(entry, times_, nullptr, stop_)) throw RunStopped();
  }
  int64_t RunChanged(int entry, std::span<const HostTensor> feeds,
                     const std::vector<bool>&) override {
    for (size_t i = 0; i < feeds.size(); ++i) Feed(entry, static_cast<int>(i), feeds[i].bytes());
    Run(entry);
    return static_cast<int64_t>(program_.entry(entry).graph.nodes.size());
  }
  void RunChecked(int entry, RunChecker& checker) override {
    Shown shown(program_.entry(entry).graph, checker);
    program_.Run(entry, times_, &shown);
  }
  std::vector<EngineOperator> Operators(int entry) const override {
    const Graph& graph = program_.entry(entry).graph;
    const std::vector<bool> views = program_.Views(entry);
    std::vector<EngineOperator> operators;
    for (const Node& node : graph.nodes) {
      const bool view = views[operators.size()];
      const std::string kernel = node.kernel ? node.kernel->kernel : "";
      operators.push_back(DescribeOperator(library_, node.name, kernel, node.phase,
                                           node.mark.ToString(), SignatureOf(graph, node)));
      if (view) operators.back().flops = operators.back().bytes = 0;
    }
    return operators;
  }
  void Fetch(int entry, int result, std::span<std::byte> bytes) const override {
    program_.Fetch(entry, ports_[static_cast<size_t>(entry)].results[static_cast<size_t>(result)],
                   bytes);
  }
  void ReadState(size_t index, std::span<std::byte> plain) const override {
    program_.ReadState(index, plain);
  }
  std::span<const std::byte> StateInPlace(size_t index) const override {
    return program_.StateInPlace(index);
  }
  void WriteState(size_t index, const HostTensor& tensor) override {
    program_.WriteState(index, tensor);
  }
  void FillState(size_t index,
                 const std::function<void(std::span<std::byte> plain)>& fill) override {
    HostTensor tensor(model_.states[index].type.dtype, model_.states[index].type.shape);
    fill(tensor.bytes());
    program_.WriteState(index, tensor);
  }
  void InitializeStates() override { program_.InitializeStates(); }
  std::unique_ptr<StreamClock> MakeClock(size_t marks) const override {
    return program_.MakeClock(marks);
  }

 private:
  // Passes on what operators write, as long as it is wanted.
  class Shown final : public EagerOutputs {
   public:
    Shown(const Graph& graph, RunChecker& checker) : graph_(graph), checker_(checker) {}
    void OnOutput(NodeId node, size_t output, std::span<const std::byte> bytes) override {
      if (!wanted_) return;
      const ValueId value = graph_.nodes[node].outputs[output];
      wanted_ = checker_.OnOutput(static_cast<size_t>(node.index), graph_.values[value].type.dtype,
                                  bytes);
    }

   private:
    const Graph& graph_;
    RunChecker& checker_;
    bool wanted_ = true;
  };

  struct Ports {
    std::vector<ValueId> feeds;
    std::vector<ValueId> results;
  };

  static std::vector<EagerSource> SourcesOf(std::vector<EagerGraph> entries) {
    std::vector<EagerSource> sources;
    for (EagerGraph& entry : entries) {
      const EntryRequest& request = entry.request;
      sources.push_back({request.name, request.kind, request.batch, std::move(entry.graph), {}});
    }
    return sources;
  }

  void AddEntry(const EagerSource& source) {
    const Graph& graph = source.graph;
    EngineEntry entry{source.name, source.kind, source.batch, {}, {}};
    Ports ports;
    const std::vector<int> paths = AddPaths(graph, model_.paths);
    for (ValueId id : graph.values.ids()) {
      const Value& value = graph.values[id];
      if (value.role != Role::kPlaceholder) continue;
      entry.feeds.push_back({value.name, value.type, OutputKind::kPrediction, -1});
      ports.feeds.push_back(id);
    }
    for (const Output& output : graph.outputs) {
      entry.results.push_back({output.name, graph.values[output.value].type, output.kind,
                               output.path.valid() ? paths[Index(output.path)] : -1,
                               output.metric});
      ports.results.push_back(output.value);
    }
    model_.entries.push_back(std::move(entry));
    ports_.push_back(std::move(ports));
  }

  static size_t Index(PathId id) { return static_cast<size_t>(id.index); }

  EagerProgram program_;
  const KernelLibrary& library_;
  std::vector<Ports> ports_;  // of the entry points
};

}  // namespace

std::unique_ptr<OperatorTimes> MakeTimes(const Engine& engine, bool traced) {
  std::vector<size_t> operators;
  for (size_t e = 0; e < engine.model().entries.size(); ++e) {
    operators.push_back(engine.Operators(static_cast<int>(e)).size());
  }
  return std::make_unique<OperatorTimes>(operators, traced ? kTracedRuns : 0,
                                         engine.MakeClock(OperatorTimes::MarksOf(operators)));
}

std::optional<double> SlowdownOf(const Engine& engine, const OperatorTimes& times) {
  double once = 0, for_less = 0;  // nanoseconds
  for (size_t e = 0; e < engine.model().entries.size(); ++e) {
    if (engine.model().entries[e].kind != EntryKind::kTrain) continue;
    const std::vector<EngineOperator> operators = engine.Operators(static_cast<int>(e));
    const std::span<const OperatorTime> of_entry = times.Entry(static_cast<int>(e));
    for (size_t i = 0; i < operators.size(); ++i) {
      const auto nanoseconds = static_cast<double>(of_entry[i].nanoseconds);
      for_less += operators[i].share_for_less * nanoseconds;
      once += (1 - operators[i].share_for_less) * nanoseconds;
    }
  }
  if (once == 0) return std::nullopt;
  return for_less / once;
}

std::unique_ptr<Engine> MakeGraphEngine(std::unique_ptr<Program> program,
                                        const KernelLibrary& library) {
  return std::make_unique<GraphEngine>(std::move(program), library);
}

std::unique_ptr<Engine> MakeEagerEngine(std::vector<EagerGraph> entries, Device& device,
                                        const KernelLibrary& library, Communicator& communicator,
                                        const EagerOptions& options) {
  return std::make_unique<EagerEngine>(std::move(entries), device, library, communicator, options);
}

std::unique_ptr<Engine> MakeImageEngine(ProgramImage image, const EnginePlace& place,
                                        const std::string& swap_folder) {
  const bool in_step = place.debug != nullptr && place.debug->waits();
  auto program =
      std::make_unique<Program>(std::move(image), place.device, place.library, place.communicator,
                                swap_folder, in_step, place.before_arenas);
  auto engine = MakeGraphEngine(std::move(program), place.library);
  if (place.debug == nullptr) return engine;
  return place.debug->Wrap(std::move(engine), place.device);
}

std::unique_ptr<Engine> BuildEngine(const ModelSpec& model,
                                    const std::vector<EntryRequest>& requests, Mode mode,
                                    const CompileOptions& options, const EnginePlace& place,
                                    Diagnostics& diagnostics, const EagerOptions& eager) {
  if (mode == Mode::kEager) {
    auto graphs = PrepareEager(model, requests, place.library, options, diagnostics);
    if (!graphs) return nullptr;
    return MakeEagerEngine(std::move(*graphs), place.device, place.library, place.communicator,
                           eager);
  }
  auto compiled = Compile(model, requests, place.library, options, diagnostics);
  if (!compiled) return nullptr;
  return MakeImageEngine(std::move(compiled->image), place, options.swap ? options.swap->path : "");
}

}  // namespace cgrun
