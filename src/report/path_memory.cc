// Finds the paths that touch a buffer, and the addresses that the buffers of a path cover. Entry
// point: SharingOf.
#include "src/report/path_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cgrun {
namespace {

using Paths = std::set<PathId>;
using AddressRange = std::pair<int64_t, int64_t>;  // [first, second)

// A repetition counts as the path that is repeated.
PathId Plain(const Graph& graph, PathId path) {
  const PathId first = graph.paths[path].first;
  return first.valid() ? first : path;
}

// Returns for each buffer of the layout the paths whose nodes read or write a value in it, or work
// in it.
std::vector<Paths> PathsOfBuffers(const Graph& graph, const MemoryLayout& layout, int entry) {
  const EntryLayout& placed = layout.entries[static_cast<size_t>(entry)];
  std::vector<Paths> touched(layout.buffers.size());
  const auto touch = [&](int buffer, PathId path) {
    if (buffer >= 0) touched[static_cast<size_t>(buffer)].insert(path);
  };
  for (NodeId id : graph.nodes.ids()) {
    const Node& node = graph.nodes[id];
    if (!node.path.valid()) continue;
    const PathId path = Plain(graph, node.path);
    for (ValueId value : node.inputs) touch(placed.buffer[value], path);
    for (ValueId value : node.outputs) touch(placed.buffer[value], path);
    touch(placed.workspace_buffer[id], path);
  }
  return touched;
}

// The addresses at which buffers lie, at whatever time.
class Addresses {
 public:
  void Add(const PlacedBuffer& buffer) {
    ranges_.emplace_back(buffer.offset, buffer.offset + buffer.bytes);
  }

  // Returns the same addresses as ranges that do not touch, in order.
  std::vector<AddressRange> Disjoint() const {
    std::vector<AddressRange> sorted = ranges_, disjoint;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [lower, upper] : sorted) {
      if (disjoint.empty() || lower > disjoint.back().second) disjoint.emplace_back(lower, lower);
      disjoint.back().second = std::max(disjoint.back().second, upper);
    }
    return disjoint;
  }

  int64_t Bytes() const {
    int64_t bytes = 0;
    for (const auto& [lower, upper] : Disjoint()) bytes += upper - lower;
    return bytes;
  }

 private:
  std::vector<AddressRange> ranges_;
};

// Bytes at which several paths have buffers: walks over the ends of all ranges in order, and counts
// the paths whose range is open.
int64_t BytesInSeveral(const std::map<PathId, Addresses>& by_path) {
  std::map<int64_t, int> opened;
  for (const auto& [path, addresses] : by_path) {
    for (const auto& [lower, upper] : addresses.Disjoint()) {
      ++opened[lower];
      --opened[upper];
    }
  }
  int64_t bytes = 0, since = 0;
  int open = 0;
  for (const auto& [address, change] : opened) {
    if (open > 1) bytes += address - since;
    open += change;
    since = address;
  }
  return bytes;
}

std::map<PathId, PathMemory> PlainPaths(const Graph& graph) {
  std::map<PathId, PathMemory> paths;
  for (PathId id : graph.paths.ids()) {
    const PathId plain = Plain(graph, id);
    const Path& path = graph.paths[id];
    PathMemory& memory = paths[plain];
    memory.repetitions = path.repetitions;
    if (path.repetition + 1 == path.repetitions) memory.name = path.name;  // as in the file
    if (id != plain) continue;
    for (ValueId value : path.trains) memory.parameter_bytes += graph.BytesOf(value);
  }
  return paths;
}

}  // namespace

PathSharing SharingOf(const Graph& graph, const MemoryLayout& layout, int entry) {
  PathSharing sharing;
  std::map<PathId, PathMemory> paths = PlainPaths(graph);
  if (paths.size() < 2) return sharing;
  const std::vector<Paths> touched = PathsOfBuffers(graph, layout, entry);
  std::map<PathId, Addresses> transient;
  for (size_t i = 0; i < touched.size(); ++i) {
    const PlacedBuffer& buffer = layout.buffers[i];
    if (buffer.arena != ArenaKind::kDevice) continue;
    for (PathId user : touched[i]) {
      if (buffer.persistent) paths[user].state_bytes += buffer.bytes;
      if (!buffer.persistent) transient[user].Add(buffer);
    }
    if (touched[i].size() > 1) {
      (buffer.persistent ? sharing.state_bytes : sharing.passed_bytes) += buffer.bytes;
    }
  }
  sharing.transient_bytes = BytesInSeveral(transient);
  for (auto& [path, memory] : paths) {
    memory.transient_bytes = transient[path].Bytes();
    sharing.paths.push_back(std::move(memory));
  }
  return sharing;
}

}  // namespace cgrun
