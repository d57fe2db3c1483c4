// The pages of docs/reference about model files: their tables are those of the program, and their
// examples are good models. Set CGRUN_UPDATE_GOLDEN to the root of the project to write the tables
// anew.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/frontend/frontend.h"
#include "src/frontend/supported.h"
#include "src/ir/op_def.h"
#include "src/model/model_file.h"
#include "src/model/schema.h"
#include "src/ops/initializers.h"
#include "src/run/rate_schedule.h"

namespace cgrun {
namespace {

std::string ReadPage(const std::string& page) {
  std::ifstream file("docs/reference/" + page, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// All pages about model files, one after another.
std::string ReadDoc() {
  std::string text;
  for (const char* page : {"model-format.md", "networks.md", "data.md", "tables.md", "texts.md",
                           "images.md", "training.md", "keys.md"}) {
    text += ReadPage(page);
  }
  return text;
}

std::string GoldenRoot() {
  const char* root = std::getenv("CGRUN_UPDATE_GOLDEN");
  return root ? root : "";
}

// The text between `<!-- NAME: begin -->` and its end must be `tables`.
void CompareTables(const std::string& page, const std::string& name, const std::string& tables) {
  const std::string begin_mark = "<!-- " + name + ": begin -->\n";
  std::string doc = ReadPage(page);
  const size_t begin = doc.find(begin_mark) + begin_mark.size();
  const size_t end = doc.find("<!-- " + name + ": end -->\n");
  ASSERT_LT(begin, doc.size());
  ASSERT_LT(end, doc.size());
  if (GoldenRoot().empty()) {
    EXPECT_EQ(doc.substr(begin, end - begin), "\n" + tables);
    return;
  }
  doc.replace(begin, end - begin, "\n" + tables);
  std::ofstream(std::filesystem::path(GoldenRoot()) / "docs/reference" / page, std::ios::binary)
      << doc;
}

std::string Cell(std::string_view fallback) {
  if (fallback == kRequired) return "required";
  return fallback.empty() ? "" : "`" + std::string(fallback) + "`";
}

// "" for what this version carries out.
std::string NotYet(std::string_view place, std::string_view key) {
  for (const UnsupportedKey& unsupported : UnsupportedKeys()) {
    if (unsupported.key != key) continue;
    if (unsupported.place != place) continue;
    if (!unsupported.fine.empty()) {
      return " — *not yet, but `" + std::string(unsupported.fine) + "`*";
    }
    return unsupported.values.empty() ? " — *not yet*"
                                      : " — *not yet: " + std::string(unsupported.values) + "*";
  }
  return "";
}

std::string KeyTables() {
  std::string out;
  for (const MapDoc& map : FormatReference()) {
    const std::string title = map.place.empty() ? "The file" : "`" + std::string(map.place) + "`";
    out += "## " + title + "\n\n" + std::string(map.doc) + "\n\n";
    out += "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
    for (const KeyDoc& key : map.keys) {
      out += "| `" + std::string(key.name) + "` | " + std::string(key.type.text) + " | " +
             Cell(key.fallback) + " | " + std::string(key.doc) + NotYet(map.place, key.name) +
             " |\n";
    }
    out += "\n";
  }
  return out;
}

// A text that begins in lower case as a sentence.
std::string Sentence(std::string_view text) {
  std::string out(text);
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out + ".";
}

std::string FormatTables() {
  std::string out;
  for (const DataFormat* format : DataFormats()) {
    out += "### " + std::string(format->name) + "\n\n" + Sentence(format->doc) + "\n\n";
    out += "| option | | meaning |\n| --- | --- | --- |\n";
    for (const DataOptionSpec& option : format->options) {
      out += "| `" + std::string(option.name) + "` | " + (option.required ? "required" : "") +
             " | " + std::string(option.doc) + " |\n";
    }
    if (!format->field_option_doc.empty()) {
      out += "| the name of an input | | " + std::string(format->field_option_doc) + " |\n";
    }
    out += "\n";
  }
  return out;
}

TEST(ModelFormatDoc, TablesAreTheProgramsOwn) {
  CompareTables("keys.md", "keys", KeyTables());
  CompareTables("data.md", "formats", FormatTables());
}

TEST(ModelFormatDoc, HasEveryInitialiser) {
  for (const std::string& name : InitializerNames()) {
    EXPECT_NE(ReadDoc().find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(ModelFormatDoc, HasEveryLossAndMetric) {
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(OpId(i));
    if (def.usage != Usage::kLoss && def.usage != Usage::kMetric) continue;
    EXPECT_NE(ReadDoc().find("`" + def.name + "`"), std::string::npos) << def.name;
  }
}

std::string ModelErrors(const std::string& text) {
  Diagnostics diagnostics;
  ParseModel({"model.yaml", text}, {}, diagnostics);
  return diagnostics.ToString();
}

// The ```yaml example that holds `text`.
std::string Example(const std::string& text) {
  const std::string doc = ReadDoc(), fence = "```yaml\n";
  for (size_t at = 0; (at = doc.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    const std::string example = doc.substr(at, doc.find("```", at) - at);
    if (example.find(text) != std::string::npos) return example;
  }
  return "there is no example with " + text;
}

std::string Indented(std::string items) {
  for (size_t at = 0; (at = items.find("- ", at)) != std::string::npos; at += 8) {
    items.insert(at, "      ");
  }
  return items;
}

TEST(ModelFormatDoc, TheFirstExampleIsAModel) {
  EXPECT_EQ(ModelErrors(Example("model: small")), "");
}

TEST(ModelFormatDoc, TheItemsAndTheBlockFitTogether) {
  const std::string model = "cgrun: 1\ninputs: {x: {shape: [4, 4, 4]}}\n" + Example("side:") +
                            "networks: {encoder: {in: z, ops: [relu]}}\n"
                            "paths:\n  p:\n    mode: forward\n    ops:\n" +
                            Indented(Example("- y: relu"));
  EXPECT_EQ(ModelErrors(model), "");
}

TEST(ModelFormatDoc, CommonKeysAreTaken) {
  std::string items = Indented(Example("- fc2:"));
  items.insert(items.find("      - fc1"), "      - flatten\n");
  Diagnostics diagnostics;
  const auto model = ParseModel({"model.yaml",
                                 "cgrun: 1\ninputs: {x: {shape: [3, 8, 8]}}\npaths:\n  p:\n"
                                 "    mode: forward\n    ops:\n" +
                                     items},
                                {}, diagnostics);
  ASSERT_TRUE(model) << diagnostics.ToString();
  const auto graph = BuildForward(*model, {EntryKind::kPredict}, diagnostics);
  ASSERT_TRUE(graph) << diagnostics.ToString();
  for (const std::string& key : CommonKeys()) {
    EXPECT_NE(items.find(key + ": "), std::string::npos) << "no example of " << key;
    EXPECT_NE(ReadDoc().find("| `" + key + "` |"), std::string::npos) << key;
  }
}

std::string GraphErrors(const std::string& text) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"model.yaml", text}, {}, diagnostics);
  if (model) BuildForward(*model, {EntryKind::kEval}, diagnostics);
  return diagnostics.ToString();
}

TEST(ModelFormatDoc, ImagesAreTaken) {
  EXPECT_EQ(
      GraphErrors("cgrun: 1\ninputs: {image: {type: uint8, shape: [3, 32, 32]}}\npaths:\n  p:\n"
                  "    mode: forward\n    ops:\n" +
                  Indented(Example("random_rotate"))),
      "");
}

TEST(ModelFormatDoc, ImagesWithMasksAreTaken) {
  EXPECT_EQ(GraphErrors(Example("draws_as: flipped")), "");
}

TEST(ModelFormatDoc, NetworksAreUnrolled) {
  EXPECT_EQ(GraphErrors("cgrun: 1\ninputs: {text: {type: uint8, shape: [32]}, h: {shape: [128]}}\n"
                        "update: {h_next: h}\n" +
                        Example("unroll: 1") + "    mode: forward\n"),
            "");
}

TEST(ModelFormatDoc, ModelsOfLinesAreTaken) {
  for (const char* part : {"label: first", "file: train.txt"}) {
    const std::string model = "cgrun: 1\n" + Example(part);
    EXPECT_EQ(GraphErrors(model), "") << part;
    EXPECT_NE(model.find("format: lines"), std::string::npos) << part;
  }
}

TEST(ModelFormatDoc, LossesAndMetricsAreTaken) {
  std::istringstream lines(Example("class_weights"));
  std::string tail;
  for (std::string line; std::getline(lines, line);) tail += "    " + line + "\n";
  EXPECT_EQ(
      GraphErrors("cgrun: 1\ninputs: {x: {shape: [4]}, label: {type: int32, shape: []}}\npaths:\n"
                  "  p:\n    ops:\n      - logits: {op: linear, in: x, units: 3}\n" +
                  tail),
      "");
}

TEST(ModelFormatDoc, DataIsRead) {
  Diagnostics diagnostics;
  const auto model = ParseModel(
      {"model.yaml", "cgrun: 1\npaths: {}\n" + Example("format: synthetic")}, {}, diagnostics);
  ASSERT_TRUE(model) << diagnostics.ToString();
  EXPECT_TRUE(model->data->train && model->data->valid && model->data->test);
  for (const auto* set : {&model->data->train, &model->data->test}) {
    DataOptions options;
    options.fields = {{"image", DType::kU8, Shape{4}}};
    for (const Attribute& option : (*set)->options) {
      options.values[option.key] = {option.value.scalar, option.value.mark, option.key_mark};
    }
    OpenDataset({(*set)->format->value, (*set)->format->mark}, options, diagnostics);
  }
  for (const Diagnostic& error : diagnostics.Sorted()) {  // its files alone are not there
    EXPECT_NE(error.message.find("No such file"), std::string::npos) << error.message;
  }
}

// Reads the schedules of the optimizers in a list, and returns the errors.
std::string ScheduleErrors(const std::string& list, std::vector<RateSchedule>* schedules) {
  Diagnostics diagnostics;
  const auto tree = Parse({"model.yaml", list}, diagnostics);
  if (!tree) return diagnostics.ToString();
  for (const TreeNode& item : tree->items) {
    OpSpec optimizer;
    optimizer.attributes = item.entries;
    const auto schedule = ReadRateSchedule(ModelSpec(), optimizer, 0.01, diagnostics);
    if (schedule) schedules->push_back(*schedule);
  }
  return diagnostics.ToString();
}

TEST(ModelFormatDoc, SchedulesAreRead) {
  std::vector<RateSchedule> schedules;
  EXPECT_EQ(ScheduleErrors(Example("schedule: constant"), &schedules), "");
  ASSERT_EQ(schedules.size(), 3u);
  EXPECT_EQ(schedules[0].kind, RateSchedule::Kind::kCosine);
  EXPECT_EQ(schedules[0].final_factor, 0.01);
  EXPECT_EQ(schedules[1].every_epochs, 10);
  // The list of all is in the help of an error.
  const std::string known = ScheduleErrors("[{schedule: unheard_of}]", &schedules);
  std::istringstream names(known.substr(known.find("known: ") + 7));
  int count = 0;
  for (std::string name; names >> name; ++count) {
    if (name.ends_with(',')) name.pop_back();
    EXPECT_NE(ReadDoc().find("| `" + name + "` |"), std::string::npos) << name;
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace cgrun
