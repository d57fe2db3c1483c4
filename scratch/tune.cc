#include <cstdio>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include "src/compile/compile.h"
#include "src/eager/tape.h"
#include "src/eager/caching_allocator.h"
#include "src/model/model_file.h"
#include "src/device/cpu.h"
using namespace cgrun;
class FakeDevice final : public Device {
 public:
  DeviceInfo Info() const override { return {}; }
  DeviceCounters counters() const override { return {}; }
  void UseThreads(int) override {}
  std::byte* Allocate(ArenaKind, int64_t bytes) override {
    return (std::byte*)mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);
  }
  void Free(ArenaKind, std::byte*) override {}
  Stream CreateStream() override { return {}; }
  void Copy(CopyKind, std::byte*, const std::byte*, int64_t, Stream) override {}
  void Enqueue(Stream, void (*)(void*), void*) override {}
  Event Record(Stream) override { return {}; }
  void Wait(Stream, Event) override {}
  void Synchronize(Stream) override {}
};
using Block = CachingAllocator::Block;
void Simulate(const char* label, const Graph& g, const Tape& tape, CachingAllocatorOptions o, int steps=3) {
  FakeDevice d; CachingAllocator a(d, o);
  IdVector<TensorId, Block*> block(tape.tensors.size());
  IdVector<TensorId, int> refs(tape.tensors.size());
  for (TensorId id : tape.tensors.ids()) if (tape.tensors[id].of_model) block[id] = a.Allocate(tape.tensors[id].bytes);
  int64_t rec[3]; 
  for (int s = 0; s < steps; ++s) {
    for (TensorId id : tape.tensors.ids()) {
      auto& t = tape.tensors[id];
      if (t.of_model) refs[id] = t.references;
      else if (!g.values[t.value].producer.valid() && t.references) { block[id] = a.Allocate(t.bytes); refs[id] = t.references; }
    }
    auto release = [&](TensorId id) { if (--refs[id] == 0 && block[id]) { a.Free(block[id]); block[id] = nullptr; } };
    for (auto& c : tape.calls) {
      if (c.view) { release(c.inputs[0]); continue; }
      for (size_t i = 0; i < c.outputs.size(); ++i) {
        TensorId out = c.outputs[i]; block[out] = nullptr; refs[out] = tape.tensors[out].references;
        for (auto& p : c.in_place) if (p.output == (int)i) {
          TensorId in = c.inputs[p.input];
          if (block[in] && refs[in] == 1 + tape.tensors[in].changes) { block[out] = block[in]; block[in] = nullptr; break; }
        }
        if (!block[out]) block[out] = a.Allocate(tape.tensors[out].bytes);
      }
      int64_t ws = g.nodes[c.node].kernel->workspace_bytes;
      if (ws) a.Free(a.Allocate(ws));
      for (TensorId id : c.inputs) release(id);
      for (TensorId id : c.outputs) if (refs[id] == 0) { a.Free(block[id]); block[id] = nullptr; }
    }
    for (auto& u : tape.updates) { Block* n = block[u.next]; block[u.next] = nullptr; if (block[u.state]) a.Free(block[u.state]); block[u.state] = n; }
    for (TensorId id : tape.held) release(id);
    rec[s] = a.statistics().reserved_peak_bytes;
  }
  auto st = a.statistics();
  printf("%-28s live %8.2f MiB reserved %8.2f %8.2f %8.2f  ratio %.3f segments %lld\n", label, st.live_peak_bytes/1048576., rec[0]/1048576., rec[1]/1048576., rec[2]/1048576., double(st.reserved_peak_bytes)/st.live_peak_bytes, (long long)st.system_allocations);
}
int main(int argc, char** argv) {
  std::ifstream f(argv[1]); std::stringstream ss; ss << f.rdbuf();
  Diagnostics diag;
  std::vector<std::string> over(argv+4, argv+argc);
  auto m = ParseModel({argv[1], ss.str()}, over, diag);
  if (!m || diag.has_errors()) { puts(diag.ToString().c_str()); return 1; }
  int64_t batch = atoi(argv[3]);
  CompileOptions co; co.threads = 1;
  auto g = PrepareEager(*m, {{"train", EntryKind::kTrain, batch}}, *FindKernelLibrary(argv[2]), co, diag);
  if (!g) { puts(diag.ToString().c_str()); return 1; }
  const Graph& graph = (*g)[0].graph;
  Tape tape = MakeTape(graph);
  int dead = graph.nodes.size() - tape.calls.size();
  int reorders = 0; for (auto& n : graph.nodes) reorders += n.op == OpId::reorder;
  printf("%s: %zu nodes, %d left out, %d reorders\n", argv[1], graph.nodes.size(), dead, reorders);
  auto H = CachingAllocatorOptions::ForHost();
  Simulate("gpu", graph, tape, CachingAllocatorOptions::ForGpu());
  Simulate("host", graph, tape, H);
  for (int seg : {4, 8, 16, 32}) { auto o = H; o.large_segment = (int64_t)seg<<20; o.huge_limit = o.large_segment/2; char l[40]; sprintf(l, "large segment %d", seg); Simulate(l, graph, tape, o); }
  for (int lim : {64, 256, 512}) { auto o = H; o.small_limit = (int64_t)lim<<10; o.small_segment = 1<<20; o.huge_limit = o.small_limit; char l[40]; sprintf(l, "small limit %d KiB", lim); Simulate(l, graph, tape, o); }
  for (int r : {4, 16, 64, 256}) { auto o = H; o.segment_rounding = (int64_t)r<<10; char l[40]; sprintf(l, "rounding %d KiB", r); Simulate(l, graph, tape, o); }
}
