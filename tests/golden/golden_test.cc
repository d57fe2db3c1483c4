// Golden listings of three tiny models: the graph before the passes and after each that changed it,
// the memory plan, the byte code. After a wanted change:
//   CGRUN_UPDATE_GOLDEN=$PWD/tests/golden bazel run //tests/golden:golden_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "src/compile/compile.h"
#include "src/model/model_file.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Compare(const std::string& name, const std::string& text) {
  const char* update = std::getenv("CGRUN_UPDATE_GOLDEN");
  if (update != nullptr) {
    std::ofstream(std::string(update) + "/" + name) << text;
    return;
  }
  EXPECT_EQ(text, ReadText("tests/golden/" + name)) << "tests/golden/" << name << " differs";
}

std::string LayoutText(const CompiledModel& compiled) {
  const MemoryLayout& layout = compiled.layout;
  std::string out = "arena " + std::to_string(layout.arena_bytes) + " bytes, bound " +
                    std::to_string(layout.lower_bound_bytes) + ", persistent " +
                    std::to_string(layout.persistent_bytes) + "\n";
  TextTable table({Align::kRight, Align::kRight, Align::kLeft, Align::kLeft, Align::kLeft});
  table.Add({"offset", "bytes", "zone", "steps", "values"});
  for (const PlacedBuffer& buffer : layout.buffers) {
    const std::string steps = buffer.persistent
                                  ? "always"
                                  : "[" + std::to_string(buffer.lifespan.lower) + ", " +
                                        std::to_string(buffer.lifespan.upper) + ")";
    std::string values = buffer.values.empty() ? buffer.name : "";
    for (const std::string& value : buffer.values) values += (values.empty() ? "" : " = ") + value;
    table.Add({std::to_string(buffer.offset), std::to_string(buffer.bytes),
               std::string(Name(buffer.zone)), steps, values});
  }
  return out + table.ToString();
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ListingsAreAsExpected) {
  const std::string name = GetParam();
  Diagnostics diagnostics;
  const std::string file = "tests/golden/" + name + ".yaml";
  const auto model = LoadModelFile(file, {}, diagnostics);
  ASSERT_TRUE(model.has_value()) << diagnostics.ToString();
  const KernelLibrary& library = *FindKernelLibrary("reference");
  CompileOptions options;
  options.order = "serial";
  std::string graphs, previous;
  options.passes.observe = [&](std::string_view pass, const Graph& graph) {
    const std::string text = ToString(graph);
    if (text == previous) return;
    graphs += "=== " + (pass.empty() ? "before the passes" : "after " + std::string(pass)) + "\n" +
              text + "\n";
    previous = text;
  };
  const int64_t batch = model->train->batch.value.size;
  const auto compiled =
      Compile(*model, {{"train", EntryKind::kTrain, batch}}, library, options, diagnostics);
  ASSERT_TRUE(compiled.has_value()) << diagnostics.ToString();
  Compare(name + ".graph.txt", graphs);
  Compare(name + ".plan.txt", LayoutText(*compiled));
  Compare(name + ".code.txt", Disassemble(compiled->image));
}

INSTANTIATE_TEST_SUITE_P(TinyModels, Golden,
                         testing::Values("tiny_mlp", "tiny_conv", "tiny_paths"));

}  // namespace
}  // namespace cgrun
