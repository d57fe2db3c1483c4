// docs/model-format.md: its tables are those of the program, and its examples are good models.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "src/model/schema.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

constexpr char kDoc[] = "docs/model-format.md";
const std::string kBegin = "<!-- keys: begin -->\n";
const std::string kEnd = "<!-- keys: end -->\n";

std::string Cell(std::string_view fallback) {
  if (fallback == kRequired) return "required";
  return fallback.empty() ? "" : "`" + std::string(fallback) + "`";
}

std::string Tables() {
  std::string out;
  for (const MapDoc& map : FormatReference()) {
    const std::string title = map.place.empty() ? "The file" : "`" + std::string(map.place) + "`";
    out += "### " + title + "\n\n" + std::string(map.doc) + "\n\n";
    out += "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
    for (const KeyDoc& key : map.keys) {
      out += "| `" + std::string(key.name) + "` | " + std::string(key.type.text) + " | " +
             Cell(key.fallback) + " | " + std::string(key.doc) + " |\n";
    }
    out += "\n";
  }
  return out;
}

TEST(ModelFormatDocTest, TablesAreTheProgramsOwn) {
  std::string doc = ReadText(kDoc);
  const size_t begin = doc.find(kBegin) + kBegin.size(), end = doc.find(kEnd);
  ASSERT_LT(begin, doc.size());
  ASSERT_LT(end, doc.size());
  if (GoldenRoot().empty()) {
    EXPECT_EQ(doc.substr(begin, end - begin), "\n" + Tables());
  } else {
    doc.replace(begin, end - begin, "\n" + Tables());
    std::ofstream(std::filesystem::path(GoldenRoot()) / kDoc, std::ios::binary) << doc;
  }
}

// The text of the n-th ```yaml example.
std::string Example(int n) {
  const std::string doc = ReadText(kDoc), fence = "```yaml\n";
  size_t at = 0;
  for (int i = 0; i <= n; ++i) at = doc.find(fence, at) + fence.size();
  return doc.substr(at, doc.find("```", at) - at);
}

TEST(ModelFormatDocTest, TheFirstExampleIsAModel) { EXPECT_EQ(ModelErrors(Example(0)), ""); }

TEST(ModelFormatDocTest, TheItemsAndTheBlockFitTogether) {
  std::string items = Example(1);
  for (size_t at = 0; (at = items.find("- ", at)) != std::string::npos; at += 8)
    items.insert(at, "      ");
  const std::string model = "cgrun: 1\ninputs: {x: {shape: [4, 4, 4]}}\n" + Example(2) +
                            "networks: {encoder: {in: z, ops: [relu]}}\n"
                            "paths:\n  p:\n    mode: forward\n    ops:\n" +
                            items;
  EXPECT_EQ(ModelErrors(model), "");
}

}  // namespace
}  // namespace cgrun
