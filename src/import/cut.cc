// Looks up names of values and of nodes.
#include "src/import/cut.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/frontend/near_names.h"
#include "src/import/value_names.h"
#include "src/io/file_error.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

// Maps names to the values that they may mean. The first of a name counts.
class ValueTable {
 public:
  explicit ValueTable(const onnx::Graph& graph) {
    for (const onnx::ValueInfo& output : graph.outputs) values_.emplace(output.name, output);
    const auto add_all = [&](const auto& add) {
      for (const onnx::Node& node : graph.nodes) add(node);
    };
    add_all([&](const onnx::Node& node) {
      for (const std::string& output : node.outputs) Add(output, output);
    });
    add_all([&](const onnx::Node& node) {
      if (!node.outputs.empty()) Add(node.name, node.outputs[0]);
    });
    add_all([&](const onnx::Node& node) {
      if (node.outputs.empty()) return;
      if (!node.name.empty()) Add(CleanName(node.name), node.outputs[0]);
      Add(CleanName(node.outputs[0]), node.outputs[0]);
    });
  }

  const onnx::ValueInfo* Find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  void Add(const std::string& name, const std::string& value) {
    if (name.empty() || value.empty()) return;
    const auto declared = values_.find(value);
    onnx::ValueInfo info;
    info.name = value;
    values_.emplace(name, declared == values_.end() ? std::move(info) : declared->second);
  }

  std::map<std::string, onnx::ValueInfo> values_;
};

// Names of values that have `name` in them.
std::vector<std::string> RelatedNames(const std::string& name,
                                      const std::vector<std::string>& known) {
  std::vector<std::string> related;
  const std::string clean = CleanName(name);
  std::ranges::copy_if(known, std::back_inserter(related), [&](const std::string& value) {
    return CleanName(value).find(clean) != std::string::npos;
  });
  return related;
}

// Says which values there are: those that are near, or the last ones.
std::string HelpWithValue(const std::string& name, const onnx::Graph& graph) {
  std::vector<std::string> known;
  for (const onnx::Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) known.push_back(output);
    }
  }
  const std::string near = NearestName(name, known);
  if (!near.empty()) return "did you mean '" + onnx::Shown(near) + "'?";
  std::vector<std::string> shown = RelatedNames(name, known);
  const bool is_related = !shown.empty();
  if (!is_related) {
    const auto count = std::min<std::ptrdiff_t>(kMostListed, std::ssize(known));
    shown.assign(known.end() - count, known.end());
  } else if (shown.size() > kMostListed) {
    shown.resize(kMostListed);
  }
  for (std::string& value : shown) value = onnx::Shown(value);
  return (is_related ? "values with such names are " : "its last values are ") + ListOfNames(shown);
}

}  // namespace

std::vector<WantedOutput> WantedOutputs(const onnx::OnnxFile& file,
                                        const std::vector<std::string>& names) {
  const onnx::Graph& graph = *file.model().graph;
  std::vector<WantedOutput> wanted;
  if (names.empty()) {
    if (graph.outputs.empty()) ThrowFileError(file.path(), "has no output");
    for (const onnx::ValueInfo& output : graph.outputs) wanted.push_back({output, output.name});
    return wanted;
  }
  const ValueTable values(graph);
  for (const std::string& name : names) {
    const onnx::ValueInfo* value = values.Find(name);
    if (value == nullptr) {
      ThrowFileError(file.path(), "has no value '" + onnx::Shown(name) + "'",
                     HelpWithValue(name, graph));
    }
    wanted.push_back({*value, name});
  }
  return wanted;
}

}  // namespace cgrun
