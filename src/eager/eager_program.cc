// The loop over calls: take memory, run, give memory back.
#include "src/eager/eager_program.h"

#include <algorithm>
#include <utility>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/device/no_room.h"
#include "src/ir/op_def.h"
#include "src/ops/initializers.h"

namespace cgrun {

// One operator with all that does not change from step to step.
struct EagerProgram::Call {
  Instruction instruction;  // its function is null until it runs for the first time
  TapeCall tape;
  std::unique_ptr<Operand[]> operands;  // inputs, outputs, workspace
  std::shared_ptr<const void> parameters;
  int64_t workspace_bytes = 0;
  std::string workspace_name;
};

struct EagerProgram::Entry {
  // A tensor of the model, and where the model has it.
  struct OfModel {
    TensorId tensor;
    Block** block = nullptr;
  };
  struct Update {
    TapeUpdate tape;
    Block** state = nullptr;
    Block* next = nullptr;
  };

  EagerSource source;
  Tape tape;
  std::vector<Call> calls;
  std::vector<OfModel> of_model;
  std::vector<Update> updates;
  std::vector<TensorId> placeholders;  // that calls read, or results show
  IdVector<TensorId, Tensor> tensors;

  std::string_view NameOf(TensorId id) const {
    return source.graph.values[tape.tensors[id].value].name;
  }
};

namespace {

int MostThreads(const std::vector<EagerSource>& entries) {
  int threads = 1;
  for (const EagerSource& entry : entries) {
    for (const Node& node : entry.graph.nodes) {
      if (node.kernel) threads = std::max(threads, node.kernel->threads);
    }
  }
  return threads;
}

}  // namespace

EagerProgram::EagerProgram(std::vector<EagerSource> entries, Device& device,
                           const KernelLibrary& library, Communicator& communicator,
                           const EagerOptions& options)
    : device_(device),
      library_(library),
      options_(options),
      allocator_(device, CachingAllocatorOptions::For(device)) {
  context_.communicator = &communicator;
  context_.stream = device_.CreateStream();
  const int threads = MostThreads(entries);
  device_.UseThreads(threads);
  library_.WarmUp(threads, /*streams=*/false);
  for (Zone zone : {Zone::kForward, Zone::kGradient, Zone::kOptimizer}) {
    for (const EagerSource& source : entries) AddStates(source.graph, zone);
  }
  for (EagerSource& source : entries) AddEntry(std::move(source));
}

EagerProgram::~EagerProgram() = default;

int EagerProgram::entry_count() const { return static_cast<int>(entries_.size()); }

const EagerSource& EagerProgram::entry(int index) const {
  return entries_[static_cast<size_t>(index)]->source;
}

void EagerProgram::AddEntry(EagerSource source) {
  auto entry = std::make_unique<Entry>();
  entry->source = std::move(source);
  const Graph& graph = entry->source.graph;
  entry->tape = MakeTape(graph, entry->source.keep);
  entry->tensors.resize(entry->tape.tensors.size());
  for (TensorId id : entry->tape.tensors.ids()) {
    const TapeTensor& tensor = entry->tape.tensors[id];
    if (tensor.of_model) {
      entry->of_model.push_back({id, ModelBlock(graph, tensor.value)});
    } else if (!graph.values[tensor.value].producer.valid() && tensor.references > 0) {
      entry->placeholders.push_back(id);
    }
  }
  for (const TapeUpdate& update : entry->tape.updates) {
    entry->updates.push_back(
        {update, ModelBlock(graph, entry->tape.tensors[update.state].value), nullptr});
  }
  for (const TapeCall& tape : entry->tape.calls) entry->calls.push_back(MakeCall(graph, tape));
  entries_.push_back(std::move(entry));
}

EagerProgram::Call EagerProgram::MakeCall(const Graph& graph, const TapeCall& tape) const {
  Call call;
  call.tape = tape;
  if (tape.view) return call;
  const Node& node = graph.nodes[tape.node];
  const size_t tensors = tape.inputs.size() + tape.outputs.size();
  const size_t operands = tensors + (node.kernel->workspace_bytes > 0 ? 1 : 0);
  call.operands = std::make_unique<Operand[]>(operands);
  for (size_t i = tape.inputs.size(); i < operands; ++i) {
    call.operands[i].access = i < tensors ? Access::kWrite : Access::kScratch;
  }
  call.instruction = {nullptr, call.operands.get(), nullptr, static_cast<int32_t>(operands),
                      tape.node.index};
  call.workspace_bytes = node.kernel->workspace_bytes;
  call.workspace_name = node.name + ".workspace";
  const bool changes_state = !GetOpDef(node.op).updates.empty();
  if (options_.free == FreePolicy::kAfterStep && !changes_state) call.tape.in_place.clear();
  return call;
}

EagerProgram::Block** EagerProgram::ModelBlock(const Graph& graph, ValueId id) {
  return IsState(graph.values[id].role) ? AddState(graph, id) : AddConstant(graph, id);
}

void EagerProgram::AddStates(const Graph& graph, Zone zone) {
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    if (IsState(value.role) && value.zone == zone) AddState(graph, id);
  }
}

// Entry points share the states of one name.
EagerProgram::Block** EagerProgram::AddState(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].name != value.name) continue;
    CGRUN_CHECK(states_[i].type == value.type) << value.name << " differs between entry points";
    return &state_blocks_[i];
  }
  const auto info = graph.parameters.find(id);
  CGRUN_CHECK(info != graph.parameters.end()) << value.name << " has no initialiser";
  states_.push_back({value.name, value.type, value.role});
  state_blocks_.push_back(Allocate(value.name, ByteSize(value.type)));
  const HostTensor initial = InitialValue(value.name, value.type, info->second, graph.seed);
  CopyIn(state_blocks_.back(), initial.bytes());
  return &state_blocks_.back();
}

// And the constants that agree in name and bytes.
EagerProgram::Block** EagerProgram::AddConstant(const Graph& graph, ValueId id) {
  const std::string& name = graph.values[id].name;
  const HostTensor& tensor = graph.constants.at(id);
  for (Constant& constant : constants_) {
    if (constant.name == name && constant.tensor == tensor) return &constant.block;
  }
  constants_.push_back({name, tensor, Allocate(name, static_cast<int64_t>(tensor.bytes().size()))});
  CopyIn(constants_.back().block, tensor.bytes());
  return &constants_.back().block;
}

void EagerProgram::Feed(int index, ValueId placeholder, std::span<const std::byte> bytes) {
  ReleaseResults();
  Entry& entry = *entries_[static_cast<size_t>(index)];
  const TensorId id = entry.tape.tensor_of[placeholder];
  const TapeTensor& tape = entry.tape.tensors[id];
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == tape.bytes) << entry.NameOf(id);
  if (tape.references == 0) return;
  Tensor& tensor = entry.tensors[id];
  if (tensor.block == nullptr) tensor.block = Allocate(entry.NameOf(id), tape.bytes);
  tensor.references = tape.references;
  CopyIn(tensor.block, bytes);
}

bool EagerProgram::Run(int index, OperatorTimes* times, EagerOutputs* outputs,
                       const volatile std::sig_atomic_t* stop) {
  ReleaseResults();
  Entry& entry = *entries_[static_cast<size_t>(index)];
  Begin(entry);
  if (times != nullptr) times->Begin();
  for (Call& call : entry.calls) {
    if (stop != nullptr && *stop != 0) return false;
    Execute(entry, call, outputs);
    if (times != nullptr) times->Lap(index, static_cast<int>(call.tape.node.index));
  }
  if (times != nullptr) times->End();
  CommitUpdates(entry);
  finished_ = &entry;
  return true;
}

std::vector<bool> EagerProgram::Views(int index) const {
  const Entry& entry = *entries_[static_cast<size_t>(index)];
  std::vector<bool> views(entry.source.graph.nodes.size());
  for (const Call& call : entry.calls) {
    views[static_cast<size_t>(call.tape.node.index)] = call.tape.view;
  }
  return views;
}

void EagerProgram::Begin(Entry& entry) {
  for (const Entry::OfModel& item : entry.of_model) {
    entry.tensors[item.tensor] = {*item.block, entry.tape.tensors[item.tensor].references};
  }
  for (TensorId id : entry.placeholders) {
    CGRUN_CHECK(entry.tensors[id].block != nullptr) << entry.NameOf(id) << " was not fed";
  }
}

void EagerProgram::Execute(Entry& entry, Call& call, EagerOutputs* outputs) {
  if (call.tape.view) return Release(entry, call.tape.inputs[0]);
  if (call.instruction.run == nullptr) Prepare(entry, call);
  Operand* operand = call.operands.get();
  const auto place = [&](const Block* block) {
    (operand++)->offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(block->address));
  };
  for (TensorId id : call.tape.inputs) place(entry.tensors[id].block);
  for (size_t o = 0; o < call.tape.outputs.size(); ++o) {
    place(PlaceOutput(entry, call, static_cast<int>(o)));
  }
  Block* workspace = nullptr;
  if (call.workspace_bytes > 0) {
    workspace = Allocate(call.workspace_name, call.workspace_bytes);
    place(workspace);
  }
  if (options_.listener != nullptr) {
    options_.listener->OnRun(entry.source.graph.nodes[call.tape.node].name);
  }
  call.instruction.run(context_, call.instruction);
  if (outputs != nullptr) Show(entry, call, *outputs);
  if (workspace != nullptr) Free(call.workspace_name, workspace);
  for (TensorId id : call.tape.inputs) Release(entry, id);
  for (TensorId id : call.tape.outputs) {
    Tensor& tensor = entry.tensors[id];
    if (tensor.references == 0) Free(entry.NameOf(id), std::exchange(tensor.block, nullptr));
  }
}

void EagerProgram::Show(const Entry& entry, const Call& call, EagerOutputs& outputs) const {
  for (size_t o = 0; o < call.tape.outputs.size(); ++o) {
    const TensorId id = call.tape.outputs[o];
    std::vector<std::byte> bytes(static_cast<size_t>(entry.tape.tensors[id].bytes));
    CopyOut(entry.tensors[id].block, bytes);
    outputs.OnOutput(call.tape.node, o, bytes);
  }
}

void EagerProgram::Prepare(const Entry& entry, Call& call) {
  const Graph& graph = entry.source.graph;
  const Node& node = graph.nodes[call.tape.node];
  const NodeSignature signature = SignatureOf(graph, node);
  KernelRequest request{signature, {}, node.kernel->threads};
  for (ValueId id : node.inputs) request.operands.push_back({graph.values[id].layout, {}});
  for (ValueId id : node.outputs) request.operands.push_back({graph.values[id].layout, {}});
  PreparedKernel kernel = library_.Prepare(node.kernel->kernel, request);
  call.instruction.run = kernel.run;
  call.instruction.parameters = kernel.parameters.get();
  call.parameters = std::move(kernel.parameters);
}

EagerProgram::Block* EagerProgram::PlaceOutput(Entry& entry, const Call& call, int output) {
  const TensorId id = call.tape.outputs[static_cast<size_t>(output)];
  Tensor& tensor = entry.tensors[id];
  tensor.references = entry.tape.tensors[id].references;
  tensor.block = TakeOver(entry, call, output);
  if (tensor.block == nullptr) {
    tensor.block = Allocate(entry.NameOf(id), entry.tape.tensors[id].bytes);
  }
  return tensor.block;
}

// The memory of an input that this call is the last to want, but for the model, whose state it
// changes; null where there is none.
EagerProgram::Block* EagerProgram::TakeOver(Entry& entry, const Call& call, int output) {
  for (const InPlacePair& pair : call.tape.in_place) {
    if (pair.output != output) continue;
    const TensorId id = call.tape.inputs[static_cast<size_t>(pair.input)];
    Tensor& input = entry.tensors[id];
    const int32_t by_model = entry.tape.tensors[id].changes ? 1 : 0;
    if (input.block == nullptr || input.references != 1 + by_model) continue;
    return std::exchange(input.block, nullptr);
  }
  return nullptr;
}

void EagerProgram::Release(Entry& entry, TensorId id) {
  Tensor& tensor = entry.tensors[id];
  if (--tensor.references > 0 || tensor.block == nullptr) return;
  Free(entry.NameOf(id), std::exchange(tensor.block, nullptr));
}

// All new values are there before the first old one goes.
void EagerProgram::CommitUpdates(Entry& entry) {
  for (Entry::Update& update : entry.updates) {
    Tensor& next = entry.tensors[update.tape.next];
    const int64_t bytes = entry.tape.tensors[update.tape.next].bytes;
    if (update.tape.copies) {
      update.next = Allocate(entry.NameOf(update.tape.state), bytes);
      device_.Copy(CopyKind::kDeviceToDevice, update.next->address, next.block->address, bytes,
                   context_.stream);
    } else {
      update.next = std::exchange(next.block, nullptr);
    }
  }
  for (const Entry::Update& update : entry.updates) {
    Release(entry, update.tape.state);
    Release(entry, update.tape.next);
    *update.state = update.next;
  }
}

void EagerProgram::Fetch(int index, ValueId value, std::span<std::byte> bytes) const {
  const Entry& entry = *entries_[static_cast<size_t>(index)];
  const TensorId id = entry.tape.tensor_of[value];
  CGRUN_CHECK(finished_ == &entry && entry.tensors[id].block != nullptr)
      << entry.source.graph.values[value].name << " is not held";
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == entry.tape.tensors[id].bytes);
  CopyOut(entry.tensors[id].block, bytes);
}

void EagerProgram::ReadState(size_t index, std::span<std::byte> plain) const {
  CopyOut(state_blocks_[index], plain);
}

std::span<const std::byte> EagerProgram::StateInPlace(size_t index) const {
  if (!KindOfDevice(library_.name()).on_host) return {};
  return {state_blocks_[index]->address, static_cast<size_t>(ByteSize(states_[index].type))};
}

void EagerProgram::WriteState(size_t index, const HostTensor& tensor) {
  const TensorType& type = states_[index].type;
  CGRUN_CHECK(tensor.dtype() == type.dtype && tensor.shape() == type.shape) << states_[index].name;
  CopyIn(state_blocks_[index], tensor.bytes());
}

void EagerProgram::InitializeStates() {
  for (size_t i = 0; i < states_.size(); ++i) {
    for (const std::unique_ptr<Entry>& entry : entries_) {
      const Graph& graph = entry->source.graph;
      const ValueId id = graph.FindValue(states_[i].name);
      if (!id.valid()) continue;
      WriteState(
          i, InitialValue(states_[i].name, states_[i].type, graph.parameters.at(id), graph.seed));
      break;
    }
  }
}

void EagerProgram::ReleaseResults() {
  if (finished_ == nullptr) return;
  for (TensorId id : finished_->tape.held) Release(*finished_, id);
  finished_ = nullptr;
  for (const Deferred& item : deferred_) GiveBack(item.name, item.block);
  deferred_.clear();
}

EagerProgram::Block* EagerProgram::Allocate(std::string_view name, int64_t bytes) {
  Block* block = nullptr;
  try {
    block = allocator_.Allocate(bytes);
  } catch (const UserError& error) {
    throw NoRoom("no memory for " + std::string(name) + ": " + error.what(),
                 "graph mode plans its memory before the first step, and needs less of it");
  }
  if (options_.listener != nullptr) options_.listener->OnAllocate(name, bytes);
  return block;
}

void EagerProgram::Free(std::string_view name, Block* block) {
  if (options_.free == FreePolicy::kAfterStep) {
    deferred_.push_back({name, block});
  } else {
    GiveBack(name, block);
  }
}

void EagerProgram::GiveBack(std::string_view name, Block* block) {
  if (options_.listener != nullptr) options_.listener->OnFree(name);
  allocator_.Free(block);
}

void EagerProgram::CopyIn(Block* block, std::span<const std::byte> bytes) {
  device_.Copy(CopyKind::kHostToDevice, block->address, bytes.data(),
               static_cast<int64_t>(bytes.size()), context_.stream);
}

void EagerProgram::CopyOut(const Block* block, std::span<std::byte> bytes) const {
  device_.Copy(CopyKind::kDeviceToHost, bytes.data(), block->address,
               static_cast<int64_t>(bytes.size()), context_.stream);
  device_.Synchronize(context_.stream);
}

}  // namespace cgrun
