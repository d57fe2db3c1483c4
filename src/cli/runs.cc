// cgrun runs: runs beside each other, with the settings in which they differ.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/io/file_error.h"
#include "src/io/read_file.h"
#include "src/model/tree.h"
#include "src/report/run_page.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostSettings = 6;  // columns of the table; JSON has all
constexpr size_t kWidestCell = 24;

struct RunsFlags {
  std::vector<std::string> folders;
  std::string html;
};

struct ListedRun {
  std::string folder;
  std::map<std::string, std::string> settings;  // by dotted path
  nlohmann::json summary;                       // null of a run that has not ended
  std::vector<Chart> charts;
};

bool IsRunFolder(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "run.json", error) &&
         fs::is_regular_file(folder / "model.yaml", error);
}

// Adds the run folders at `folder` and below it. A run folder has no others in it.
void FindRunFolders(const fs::path& folder, std::set<std::string>& found) {
  if (IsRunFolder(folder)) {
    found.insert(folder.lexically_normal().string());
    return;
  }
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code of_entry;
    if (entry.is_directory(of_entry) && !entry.is_symlink(of_entry)) {
      FindRunFolders(entry.path(), found);
    }
  }
}

// The values of a tree by their dotted paths, as `--set` takes them.
void Flatten(const TreeNode& node, const std::string& path,
             std::map<std::string, std::string>& settings) {
  if (node.IsMap() && !node.entries.empty()) {
    for (const TreeEntry& entry : node.entries) {
      Flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, settings);
    }
    return;
  }
  const bool of_maps = std::ranges::any_of(node.items, &TreeNode::IsMap);
  if (!of_maps) {
    settings[path] = node.IsScalar() ? node.scalar : FlowText(node);
    return;
  }
  for (size_t i = 0; i < node.items.size(); ++i) {
    const TreeNode& item = node.items[i];
    const bool has_name = item.IsMap() && item.entries.size() == 1;
    has_name ? Flatten(item, path, settings)
             : Flatten(item, path + "[" + std::to_string(i) + "]", settings);
  }
}

ListedRun ReadRun(const std::string& folder) {
  ListedRun run;
  run.folder = folder;
  Diagnostics diagnostics;
  const std::string model = folder + "/model.yaml";
  const auto tree = Parse({model, ReadTextFile(model)}, diagnostics);
  if (!tree) throw InputError("'" + model + "' is not YAML", "the file was changed");
  Flatten(*tree, "", run.settings);
  std::error_code error;
  if (fs::exists(folder + "/summary.json", error)) {
    run.summary = TryParseJson(ReadTextFile(folder + "/summary.json"));
  }
  std::ifstream metrics(folder + "/metrics.csv");
  if (metrics) run.charts = ChartsOf(metrics);
  return run;
}

std::vector<ListedRun> ReadRuns(const RunsFlags& flags) {
  std::set<std::string> found;
  for (const std::string& folder : flags.folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      throw InputError("there is no folder '" + folder + "'", MissingHelp(folder));
    }
    FindRunFolders(folder, found);
  }
  std::vector<ListedRun> runs;
  for (const std::string& folder : found) runs.push_back(ReadRun(folder));
  return runs;
}

// The settings that not all runs have alike. The name of the model and paths of files tell little.
std::vector<std::string> DifferingSettings(const std::vector<ListedRun>& runs) {
  std::set<std::string> all;
  for (const ListedRun& run : runs) {
    for (const auto& [path, value] : run.settings) all.insert(path);
  }
  const auto value_in = [](const ListedRun& run, const std::string& path) {
    const auto found = run.settings.find(path);
    return found == run.settings.end() ? std::string() : found->second;
  };
  std::vector<std::string> differing;
  for (const std::string& path : all) {
    const auto is_other = [&](const ListedRun& run) {
      return value_in(run, path) != value_in(runs[0], path);
    };
    if (std::ranges::any_of(runs, is_other)) differing.push_back(path);
  }
  return differing;
}

// A number of a summary, as a cell; "" if it is not there.
std::string NumberCell(const nlohmann::json& summary, const nlohmann::json::json_pointer& place) {
  if (!summary.is_object() || !summary.contains(place)) return "";
  const nlohmann::json& value = summary.at(place);
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : "";
}

std::string BytesCell(const nlohmann::json& summary) {
  const auto bytes = summary.is_object() ? summary.find("measured_peak_bytes") : summary.end();
  if (!summary.is_object() || bytes == summary.end() || !bytes->is_number()) return "";
  return FormatBytes(bytes->get<int64_t>());
}

// The metrics of `valid`, or of `test` for runs without it, that some run has as one number.
std::vector<nlohmann::json::json_pointer> MetricPlaces(const std::vector<ListedRun>& runs) {
  std::vector<nlohmann::json::json_pointer> places;
  for (const char* split : {"valid", "test"}) {
    for (const ListedRun& run : runs) {
      if (!run.summary.is_object() || !run.summary.contains(split)) continue;
      const nlohmann::json& metrics = run.summary.at(split);
      for (const auto& [name, value] : metrics.items()) {
        const auto place = nlohmann::json::json_pointer("/" + std::string(split)) / name;
        const bool is_metric = value.is_number() && name != "samples" && name != "seconds";
        if (is_metric && std::ranges::find(places, place) == places.end()) places.push_back(place);
      }
    }
  }
  return places;
}

std::string CutCell(const std::string& text) {
  return text.size() <= kWidestCell ? text : text.substr(0, kWidestCell - 1) + "…";
}

std::string RunsTable(const std::vector<ListedRun>& runs,
                      const std::vector<std::string>& settings) {
  const auto metrics = MetricPlaces(runs);
  const size_t shown = std::min(settings.size(), kMostSettings);
  std::vector<Align> columns(1 + shown, Align::kLeft);
  columns.resize(columns.size() + metrics.size() + 3, Align::kRight);
  TextTable table(columns);
  std::vector<std::string> head = {"run"};
  for (size_t i = 0; i < shown; ++i) head.push_back(settings[i]);
  for (const auto& place : metrics) {
    head.push_back(place.parent_pointer().back() + " " + place.back());
  }
  head.insert(head.end(), {"epochs", "memory", "samples/s"});
  table.Add(std::move(head));
  table.AddRule();
  for (const ListedRun& run : runs) {
    std::vector<std::string> cells = {run.folder};
    for (size_t i = 0; i < shown; ++i) {
      const auto found = run.settings.find(settings[i]);
      cells.push_back(found == run.settings.end() ? "" : CutCell(found->second));
    }
    for (const auto& place : metrics) cells.push_back(NumberCell(run.summary, place));
    using Pointer = nlohmann::json::json_pointer;
    cells.push_back(run.summary.is_object() ? NumberCell(run.summary, Pointer("/epochs"))
                                            : "unfinished");
    cells.push_back(BytesCell(run.summary));
    cells.push_back(NumberCell(run.summary, Pointer("/samples_per_second")));
    table.Add(std::move(cells));
  }
  std::string text = table.ToString();
  if (shown < settings.size()) {
    text += fmt::format("and {} more settings that differ: --json lists them\n",
                        settings.size() - shown);
  }
  return text;
}

OrderedJson RunsJson(const std::vector<ListedRun>& runs, const std::vector<std::string>& settings) {
  OrderedJson json = {{"differing", settings}, {"runs", OrderedJson::array()}};
  for (const ListedRun& run : runs) {
    OrderedJson own = OrderedJson::object();
    for (const std::string& path : settings) {
      const auto found = run.settings.find(path);
      if (found != run.settings.end()) own[path] = found->second;
    }
    json["runs"].push_back({{"folder", run.folder}, {"settings", own}, {"summary", run.summary}});
  }
  return json;
}

// The curves of `valid` above each other, or those of training where there is no `valid`.
std::vector<Chart> ChartsOfRuns(const std::vector<ListedRun>& runs) {
  std::vector<Chart> charts;
  for (const ListedRun& run : runs) {
    for (const Chart& of_run : run.charts) {
      auto chart = std::ranges::find(charts, of_run.title, &Chart::title);
      if (chart == charts.end()) {
        chart = charts.insert(charts.end(), {of_run.title, of_run.x_name, {}, of_run.may_be_log});
      }
      const auto valid = std::ranges::find(of_run.curves, "valid", &Curve::name);
      const auto curve = valid != of_run.curves.end() ? valid : of_run.curves.begin();
      if (curve == of_run.curves.end()) continue;
      chart->curves.push_back({fs::path(run.folder).filename().string(), curve->points});
    }
  }
  return charts;
}

int ListRuns(RunsFlags flags) {
  if (flags.folders.empty()) flags.folders = {"runs"};
  const std::vector<ListedRun> runs = ReadRuns(flags);
  if (runs.empty()) {
    throw InputError("there is no run in '" + flags.folders[0] + "'",
                     "`cgrun train MODEL` leaves one in the folder 'runs'");
  }
  const std::vector<std::string> settings = DifferingSettings(runs);
  const std::string table = RunsTable(runs, settings);
  if (!flags.html.empty()) {
    RunPage page;
    page.model = "Runs";
    page.facts = {{"runs", std::to_string(runs.size())}};
    page.charts = ChartsOfRuns(runs);
    page.settings = table;
    WriteBeside(flags.html, RunPageHtml(page));
  }
  PrintResult(table, JsonText(RunsJson(runs, settings), 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineRuns(const Verb& verb) {
  auto flags = std::make_shared<RunsFlags>();
  verb.Add("FOLDER", flags->folders, "folders of runs, or with runs in them (default: runs)")
      .Required(false);
  verb.Add("--html", flags->html, "write a page with the curves of all runs above each other")
      .Value("FILE");
  return [flags] { return ListRuns(*flags); };
}

}  // namespace cgrun
