#include "src/report/predict_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "src/base/host_tensor.h"
#include "src/base/json_text.h"
#include "src/base/printable.h"
#include "src/results/metrics_json.h"

namespace cgrun {
namespace {

constexpr int64_t kMostColumns = 8;     // of values in a table
constexpr int64_t kMostValues = 1'000;  // of an output in JSON

std::vector<double> NumbersOf(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> numbers(bytes.size() / static_cast<size_t>(SizeOf(dtype)));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = NumberAt(dtype, &bytes[i * static_cast<size_t>(SizeOf(dtype))]);
  }
  return numbers;
}

// A field of a CSV file, in quotes where it needs them. Names of files may hold any bytes.
std::string CsvField(const std::string& name) {
  const std::string text = PrintableLines(name);
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string CsvLine(const std::vector<std::string>& fields) {
  return fmt::format("{}\n", fmt::join(fields | std::views::transform(CsvField), ","));
}

std::string Dump(const nlohmann::ordered_json& json) { return JsonText(json, 2) + "\n"; }

// Leaves out the end of the object.
std::string Opened(const nlohmann::ordered_json& object) {
  std::string text = JsonText(object, 2);
  text.resize(text.rfind('\n'));
  return text;
}

// An element of an array that is a member of the whole.
std::string Indented(const nlohmann::ordered_json& element) {
  std::string text = "\n";
  for (const char c : JsonText(element, 2)) {
    if (text.back() == '\n') text += "    ";
    text += c;
  }
  return text;
}

}  // namespace

PredictView::PredictView(const std::vector<PredictedOutput>& outputs, int64_t top)
    : outputs_(outputs), top_(top) {}

// A number is 8 bytes, and at most 48 in a text, which lies there twice while it grows; a class is
// three such numbers or names with their keys.
int64_t PredictView::BytesOf(const std::vector<PredictedOutput>& outputs, int64_t top,
                             const std::vector<std::string>& files, int64_t samples) {
  constexpr int64_t kSample = 640, kNumber = 8 + 2 * 48, kClass = 512, kCopiesOfName = 3;
  size_t longest = 0;
  for (const std::string& file : files) longest = std::max(longest, file.size());
  int64_t bytes = kSample + kCopiesOfName * static_cast<int64_t>(longest);
  for (const PredictedOutput& output : outputs) {
    const int64_t elements = output.shape.Elements();
    const bool has_scores = output.scores != Scores::kNone;
    if (output.kept) continue;
    if (has_scores) bytes += std::min(top, output.class_count()) * kClass;
    if (!has_scores && elements <= kMostValues) bytes += elements * kNumber;
    bytes += output.places * 2 * kNumber;
  }
  return samples * bytes;
}

std::vector<int64_t> PredictView::GivenPlaces(std::vector<int64_t> places,
                                              const SampleOrigin& origin) {
  const auto given = static_cast<size_t>(origin.given.value_or(std::ssize(places)));
  if (given < places.size()) places.resize(given);
  return places;
}

void PredictView::Add(const SampleOrigin& origin, PredictionBytes outputs) {
  Prediction prediction{origin, {}, {}, {}};
  prediction.places.resize(outputs_.size());
  prediction.classes.resize(outputs_.size());
  prediction.values.resize(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].kept) continue;
    if (outputs_[i].places > 0) {
      prediction.places[i] = GivenPlaces(
          ClassesOfPlaces(outputs_[i], NumbersOf(outputs_[i].dtype, outputs[i])), origin);
    }
    if (!ShowsClasses(i) && outputs_[i].shape.Elements() > kMostValues) continue;
    std::vector<double> numbers = NumbersOf(outputs_[i].dtype, outputs[i]);
    if (ShowsClasses(i)) {
      prediction.classes[i] = TopClasses(outputs_[i], numbers, top_);
    } else {
      prediction.values[i] = std::move(numbers);
    }
  }
  predictions_.push_back(std::move(prediction));
}

std::string PredictView::ClassText(size_t output, int64_t index) const {
  const std::vector<std::string>& names = outputs_[output].classes;
  const auto i = static_cast<size_t>(index);
  return i < names.size() ? names[i] : std::to_string(index);
}

// "sea sea wood", or of bytes the text itself, with its line ends as \\n.
std::string PredictView::PlacesText(size_t output, const std::vector<int64_t>& places) const {
  std::string text;
  for (const int64_t index : places) {
    if (!outputs_[output].of_bytes) {
      text += (text.empty() ? "" : " ") + ClassText(output, index);
    } else if (index < 0x20) {
      text += index == '\n' ? "\\n" : "?";
    } else {
      text += static_cast<char>(index);
    }
  }
  return text;
}

std::string PredictView::Table(size_t output) const {
  const PredictedOutput& of = outputs_[output];
  if (ShowsClasses(output)) {
    TextTable table({Align::kLeft, Align::kLeft, Align::kRight});
    table.Add({"file", "class", "probability"});
    table.AddRule();
    for (const Prediction& prediction : predictions_) {
      std::string file = prediction.origin.ToString();
      for (const ClassScore& score : prediction.classes[output]) {
        table.Add({file, ClassText(output, score.index), fmt::format("{:.4f}", score.probability)});
        file.clear();
      }
    }
    return table.ToString();
  }
  const int64_t elements = of.shape.Elements();
  if (of.places > 0) {
    TextTable table({Align::kLeft, Align::kLeft});
    table.Add({"file", "most probable " + std::string(of.of_bytes ? "text" : "classes")});
    table.AddRule();
    for (const Prediction& prediction : predictions_) {
      table.Add({prediction.origin.ToString(), PlacesText(output, prediction.places[output])});
    }
    return table.ToString();
  }
  std::vector<Align> columns = {Align::kLeft};
  std::vector<std::string> head = {"file"};
  const bool few = elements <= kMostColumns;
  for (int64_t i = 0; i < (few ? elements : 1); ++i) {
    columns.push_back(few ? Align::kRight : Align::kLeft);
    head.push_back(few && elements > 1 ? fmt::format("{}[{}]", of.name, i) : of.name);
  }
  TextTable table(columns);
  table.Add(head);
  table.AddRule();
  std::vector<std::vector<std::string>> texts;  // of each element, one a prediction
  for (size_t i = 0; few && i < static_cast<size_t>(elements); ++i) {
    std::vector<double> numbers;
    for (const Prediction& prediction : predictions_) {
      numbers.push_back(prediction.values[output][i]);
    }
    texts.push_back(FormatAlike(numbers));
  }
  for (size_t row = 0; row < predictions_.size(); ++row) {
    std::vector<std::string> cells = {predictions_[row].origin.ToString()};
    if (!few) cells.push_back(std::string(Name(of.dtype)) + of.shape.ToString());
    for (const std::vector<std::string>& column : texts) cells.push_back(column[row]);
    table.Add(cells);
  }
  return table.ToString() + (few ? "" : "--out DIR writes the values as .npy, --json shows few.\n");
}

// "class, probability"; of one of several outputs "logits.class"; of several classes "class[0]".
std::vector<std::string> PredictView::CsvColumns(size_t output, bool alone) const {
  const PredictedOutput& of = outputs_[output];
  std::vector<std::string> columns;
  if (ShowsClasses(output)) {
    const std::string prefix = alone ? "" : of.name + ".";
    const int64_t shown = std::min(top_, of.class_count());
    for (int64_t i = 0; i < shown; ++i) {
      const std::string place = shown > 1 ? fmt::format("[{}]", i) : "";
      columns.push_back(prefix + "class" + place);
      columns.push_back(prefix + "probability" + place);
    }
    return columns;
  }
  if (of.places > 0) return {of.name};
  const int64_t elements = of.shape.Elements();
  for (int64_t i = 0; elements <= kMostValues && i < elements; ++i) {
    columns.push_back(elements > 1 ? fmt::format("{}[{}]", of.name, i) : of.name);
  }
  return columns;
}

std::vector<std::string> PredictView::CsvCells(size_t output, const Prediction& prediction) const {
  if (ShowsClasses(output)) {
    std::vector<std::string> cells;
    for (const ClassScore& score : prediction.classes[output]) {
      cells.push_back(ClassText(output, score.index));
      cells.push_back(fmt::format("{:.6g}", score.probability));
    }
    return cells;
  }
  if (outputs_[output].places > 0) return {PlacesText(output, prediction.places[output])};
  std::vector<std::string> cells;
  for (const double value : prediction.values[output]) {
    cells.push_back(fmt::format("{:.9g}", value));  // as many digits as tell all f32 apart
  }
  return cells;
}

std::vector<std::string> PredictView::NotInCsv() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].kept && CsvColumns(i, true).empty()) names.push_back(outputs_[i].name);
  }
  return names;
}

std::string PredictView::Csv() const {
  const bool alone = std::ranges::count(outputs_, false, &PredictedOutput::kept) == 1;
  std::vector<std::string> head = {"file", "index"};
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].kept) continue;
    const std::vector<std::string> columns = CsvColumns(i, alone);
    head.insert(head.end(), columns.begin(), columns.end());
  }
  std::string text = CsvLine(head);
  for (const Prediction& prediction : predictions_) {
    const auto& index = prediction.origin.index;
    std::vector<std::string> row = {prediction.origin.file, index ? std::to_string(*index) : ""};
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].kept) continue;
      const std::vector<std::string> cells = CsvCells(i, prediction);
      row.insert(row.end(), cells.begin(), cells.end());
    }
    text += CsvLine(row);
  }
  return text;
}

std::string PredictView::Text(const PredictFacts& facts) const {
  if (facts.dry_run) {
    return fmt::format(
        "{} on {}, {} mode, batch {}: {}\nEverything is ready; nothing was run "
        "(--dry-run).\n",
        facts.model, facts.device, facts.mode, facts.batch, FormatCount(facts.samples, "sample"));
  }
  std::string text;
  const auto shown = std::ranges::count(outputs_, false, &PredictedOutput::kept);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].kept) continue;
    if (shown > 1) text += (i > 0 ? "\n" : "") + outputs_[i].name + "\n";
    text += Table(i);
  }
  if (facts.operators_run < facts.operators) {
    text += fmt::format("{} of {} operators ran: the inputs of the others stayed the same.\n",
                        FormatCount(facts.operators_run), FormatCount(facts.operators));
  }
  return text;
}

std::string PredictView::ElementOf(const Prediction& prediction) const {
  nlohmann::ordered_json item = {{"file", prediction.origin.file}};
  if (prediction.origin.index) item["index"] = *prediction.origin.index;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].kept) continue;
    auto& output = item["outputs"][outputs_[i].name];
    for (const ClassScore& score : prediction.classes[i]) {
      output["classes"].push_back({{"class", score.index},
                                   {"name", ClassText(i, score.index)},
                                   {"probability", score.probability}});
    }
    if (ShowsClasses(i)) continue;
    if (outputs_[i].places > 0) {
      output["places"] = prediction.places[i];
      output["text"] = PlacesText(i, prediction.places[i]);
    }
    output["shape"] = outputs_[i].shape.Sizes();
    if (!prediction.values[i].empty()) output["values"] = prediction.values[i];
  }
  return Indented(item);
}

// The predictions become text one by one, because all of them as values of JSON would take several
// times as much. The measured memory stands last, so that it includes the text.
std::string PredictView::Json(const PredictFacts& facts, const std::vector<std::string>& warnings,
                              const std::vector<FileProblem>& problems,
                              const std::function<MemoryUse()>& measure) const {
  nlohmann::ordered_json head = {{"model", facts.model},     {"device", facts.device},
                                 {"mode", facts.mode},       {"batch", facts.batch},
                                 {"weights", facts.weights}, {"samples", facts.samples}};
  if (facts.dry_run) head["dry_run"] = true;
  if (facts.operators_run < facts.operators) {
    head["operators"] = {{"run", facts.operators_run}, {"of", facts.operators}};
  }
  std::string text = Opened(head) + ",\n  \"predictions\": [";
  for (const Prediction& prediction : predictions_) {
    text += (&prediction == predictions_.data() ? "" : ",") + ElementOf(prediction);
  }
  text += predictions_.empty() ? "],\n" : "\n  ],\n";
  nlohmann::ordered_json tail = {{"warnings", warnings}};
  if (!facts.notes.empty()) tail["notes"] = facts.notes;
  tail["errors"] = nlohmann::ordered_json::array();
  for (const FileProblem& problem : problems) {
    tail["errors"].push_back({{"file", problem.file},
                              {"line", nullptr},
                              {"column", nullptr},
                              {"message", problem.message},
                              {"help", problem.help}});
  }
  if (measure) tail.update(ParseOrderedJson(MemoryJson(measure())));
  text += std::string_view(Dump(tail)).substr(2);
  return text;
}

}  // namespace cgrun
