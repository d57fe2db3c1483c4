// A search file is read by tables of keys, as a model file is.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "src/io/read_file.h"
#include "src/model/fields.h"
#include "src/model/types.h"
#include "src/search/search_spec.h"

namespace cgrun {
namespace {

constexpr ValueType kMethodType{"grid, random, tpe", R"({"enum":["grid","random","tpe"]})"};
constexpr ValueType kGoalType{"min, max", R"({"enum":["min","max"]})"};
constexpr ValueType kEnsembleType{"greedy, {greedy: N} or {top: N}", R"({"type":"object"})"};
constexpr ValueType kValuesType{"list of values", R"({"type":"array"})"};
constexpr ValueType kNumberType{"number", R"({"type":"number"})"};

// A search holds its trials in memory, and adds up their epochs.
constexpr int64_t kMostTrials = 100'000;
constexpr int64_t kMostEpochs = 1'000'000'000;
constexpr int64_t kMostThreads = 1024;

// A parameter as it is read; Finish() checks what its keys say together.
struct ReadParameter {
  SearchParameter parameter;
  std::optional<Marked<double>> min, max, step;
  std::optional<Marked<bool>> log, integer;
};

void ReadValues(const TreeEntry& entry, ReadParameter& read, const Reader& reader) {
  if (!reader.CheckSequence(entry.value, entry.key)) return;
  std::vector<TreeNode>& values = read.parameter.values;
  for (const TreeNode& value : entry.value.items) {
    if (std::ranges::find(values, value) != values.end()) {
      reader.diagnostics.Error(value.mark, "this value stands here twice");
    } else {
      values.push_back(value);
    }
  }
  if (entry.value.items.empty()) {
    reader.diagnostics.Error(entry.value.mark, "'" + entry.key + "' is an empty list");
  }
}

template <auto kMember>
void ReadNumber(const TreeEntry& entry, ReadParameter& read, const Reader& reader) {
  Put<kMember>(ReadReal(entry.value, entry.key, reader.diagnostics), entry, read);
}

void ReadWhen(const TreeEntry& entry, ReadParameter& read, const Reader& reader) {
  if (!reader.CheckMap(entry.value, entry.key)) return;
  for (const TreeEntry& one : entry.value.entries) {
    Condition condition{{one.key, one.key_mark}, one.value.items};
    if (!one.value.IsSequence()) condition.values = {one.value};
    read.parameter.when.push_back(std::move(condition));
  }
}

constexpr Key<ReadParameter> kParameterKeys[] = {
    {{"values", kValuesType, "", "the values to choose from: numbers, words, lists or maps", "set"},
     ReadValues},
    {{"categories", kValuesType, "", "another name of `values`", "set"}, ReadValues},
    {{"min", kNumberType, "", "the least number"}, ReadNumber<&ReadParameter::min>},
    {{"max", kNumberType, "", "the largest number"}, ReadNumber<&ReadParameter::max>},
    {{"log", kBooleanType, "false", "whether equal factors are equally likely"},
     ReadBooleanField<&ReadParameter::log>},
    {{"int", kBooleanType, "false", "whether numbers are whole"},
     ReadBooleanField<&ReadParameter::integer>},
    {{"step", kPositiveRealType, "", "the distance of neighbours, counted from `min`"},
     ReadPositiveField<&ReadParameter::step>},
    {{"when", kMapType, "", "values of parameters above it, without which it does not count"},
     ReadWhen},
};

bool IsWhole(double number) { return number == std::floor(number) && std::abs(number) < 1e15; }

// Fills the range, and reports limits that contradict each other.
void CheckRange(ReadParameter& read, const SourceMark& mark, const Reader& reader) {
  Diagnostics& diagnostics = reader.diagnostics;
  const std::string& path = read.parameter.path.value;
  if (!read.min || !read.max) {
    diagnostics.Error(
        mark, "'" + path + "' needs `values`, or `min` and `max`",
        "for example `{values: [0.01, 0.1]}`, or `{min: 0.001, max: 0.1, log: true}`");
    return;
  }
  Range& range = read.parameter.range;
  range = {read.min->value, read.max->value, read.log && read.log->value,
           read.integer && read.integer->value, read.step ? read.step->value : 0};
  if (range.min > range.max) {
    diagnostics.Error(read.min->mark, "'min' is larger than 'max'");
  } else if (range.log && range.min <= 0) {
    diagnostics.Error(read.min->mark, "a logarithmic range begins above 0",
                      "give a 'min' above 0, or leave 'log' out");
  }
  if (range.log && range.step > 0) {
    diagnostics.Error(read.step->mark, "'step' and 'log' exclude each other",
                      "list the numbers: `values: [0.001, 0.01, 0.1]`");
  }
  for (const auto* limit : {&read.min, &read.max, &read.step}) {
    if (range.integer && *limit && !IsWhole((*limit)->value)) {
      diagnostics.Error((*limit)->mark, "the limits of whole numbers are whole, too");
    }
  }
  if (range.integer && !range.log && range.step == 0) range.step = 1;
}

// Reports keys of a range beside a list of values.
void CheckList(const ReadParameter& read, const Reader& reader) {
  const auto refuse = [&](const auto& limit, const char* key) {
    if (!limit) return;
    reader.diagnostics.Error(limit->mark,
                             "'" + std::string(key) + "' stands beside a list of values",
                             "a parameter has either `values`, or `min` and `max`");
  };
  refuse(read.min, "min");
  refuse(read.max, "max");
  refuse(read.log, "log");
  refuse(read.integer, "int");
  refuse(read.step, "step");
}

void ReadOneParameter(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  ReadParameter read;
  read.parameter.path = {entry.key, entry.key_mark};
  const int errors = reader.diagnostics.error_count();
  if (entry.value.IsSequence()) {
    ReadValues(entry, read, reader);
  } else {
    ReadMap<ReadParameter>(entry.value, entry.key, entry.key_mark, kParameterKeys, read, reader);
  }
  if (reader.diagnostics.error_count() == errors) {
    read.parameter.values.empty() ? CheckRange(read, entry.key_mark, reader)
                                  : CheckList(read, reader);
  }
  search.parameters.push_back(std::move(read.parameter));
}

void ReadParameters(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  if (!reader.CheckMap(entry.value, entry.key)) return;
  for (const TreeEntry& one : entry.value.entries) ReadOneParameter(one, search, reader);
}

void ReadModels(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  std::vector<TreeNode> items = entry.value.items;
  if (!entry.value.IsSequence()) items = {entry.value};
  for (const TreeNode& item : items) {
    const auto name = ReadText(item, entry.key, reader.diagnostics);
    if (name) search.models.push_back({*name, item.mark});
  }
}

constexpr Key<MetricGoal> kMetricKeys[] = {
    {{"name", kTextType, kRequired, "a loss or metric of `valid`"},
     ReadTextField<&MetricGoal::name>},
    {{"goal", kGoalType, "", "whether less or more is better; the metric tells by itself"},
     ReadChoiceField<&MetricGoal::goal, kGoalType>},
};

void ReadMetric(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  if (entry.value.IsScalar()) {
    search.metric.name = {entry.value.scalar, entry.value.mark};
  } else {
    ReadMap<MetricGoal>(entry.value, entry.key, entry.key_mark, kMetricKeys, search.metric, reader);
  }
}

struct ReadHalving {
  Marked<int64_t> eta{3, {}}, min{1, {}}, max;
};

constexpr Key<ReadHalving> kStopKeys[] = {
    {{"eta", kPositiveType, "3", "one trial in so many goes on to so many times as many epochs"},
     ReadIntegerField<&ReadHalving::eta, 2>},
    {{"min", kPositiveType, "1", "epochs after which the first trials stop"},
     ReadIntegerField<&ReadHalving::min, 1>},
    {{"max", kPositiveType, kRequired, "epochs of the trials that are never stopped"},
     ReadIntegerField<&ReadHalving::max, 1>},
};

void ReadStop(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  ReadHalving read;
  const int errors = reader.diagnostics.error_count();
  ReadMap<ReadHalving>(entry.value, entry.key, entry.key_mark, kStopKeys, read, reader);
  if (reader.diagnostics.error_count() > errors) return;
  if (read.min.value > read.max.value) {
    reader.diagnostics.Error(read.min.mark.file ? read.min.mark : entry.key_mark,
                             "'min' is larger than 'max'");
  }
  search.stop = HalvingSpec{read.eta.value, read.min.value, read.max};
}

constexpr Key<BudgetSpec> kBudgetKeys[] = {
    {{"trials", kPositiveType, "", "the most trials"}, ReadIntegerField<&BudgetSpec::trials, 1>},
    {{"epochs", kPositiveType, "", "the most epochs of all trials together"},
     ReadIntegerField<&BudgetSpec::epochs, 1>},
    {{"time", kDurationType, "", "after which no trial begins or goes on"},
     ReadSecondsField<&BudgetSpec::seconds>},
};

void ReadBudget(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  ReadMap<BudgetSpec>(entry.value, entry.key, entry.key_mark, kBudgetKeys, search.budget, reader);
}

struct ReadEnsembleKeys {
  std::optional<Marked<int64_t>> top, greedy;
};

constexpr Key<ReadEnsembleKeys> kEnsembleKeys[] = {
    {{"top", kPositiveType, "", "this many of the best trials", "choice"},
     ReadIntegerField<&ReadEnsembleKeys::top, 1>},
    {{"greedy", kPositiveType, "20", "at most this many picks, one by one", "choice"},
     ReadIntegerField<&ReadEnsembleKeys::greedy, 1>},
};

constexpr char kEnsembleHelp[] = "write `ensemble: greedy`, or `ensemble: {top: 5}`";

void ReadEnsemble(const TreeEntry& entry, SearchSpec& search, const Reader& reader) {
  const TreeNode& node = entry.value;
  if (node.IsScalar() && node.scalar == "greedy") {
    search.ensemble = EnsembleSpec{true, {20, node.mark}};
    return;
  }
  if (!node.IsMap() || node.entries.empty()) {
    reader.diagnostics.Error(node.mark, "'ensemble' cannot be " + Describe(node), kEnsembleHelp);
    return;
  }
  const int errors = reader.diagnostics.error_count();
  ReadEnsembleKeys read;
  ReadMap<ReadEnsembleKeys>(node, entry.key, entry.key_mark, kEnsembleKeys, read, reader);
  if (reader.diagnostics.error_count() > errors) return;
  if (read.top) {
    search.ensemble = EnsembleSpec{false, *read.top};
  } else if (const TreeEntry* const greedy = node.Find("greedy")) {
    search.ensemble =
        EnsembleSpec{true, read.greedy.value_or(Marked<int64_t>{20, greedy->key_mark})};
  } else {
    reader.diagnostics.Error(node.entries[0].key_mark, "'top' has no value", kEnsembleHelp);
  }
}

constexpr Key<SearchSpec> kSearchKeys[] = {
    {{"cgrun", kVersionType, kRequired, "the format's version"},
     ReadIntegerField<&SearchSpec::version, 1>},
    {{"model", kFilesType, kRequired, "the model file, or several that compete"}, ReadModels},
    {{"parameters", kMapType, "", "what differs from trial to trial, by the path of its key"},
     ReadParameters},
    {{"metric", kMapType, kRequired, "what the best trial has most or least of"}, ReadMetric},
    {{"method", kMethodType, "tpe", "how values are chosen"},
     ReadChoiceField<&SearchSpec::method, kMethodType>},
    {{"seed", kCountType, "0", "of the choices"}, ReadIntegerField<&SearchSpec::seed, 0>},
    {{"stop", kMapType, "", "successive halving"}, ReadStop},
    {{"budget", kMapType, "", "when the search ends"}, ReadBudget},
    {{"threads", kPositiveType, "1", "of a trial"}, ReadIntegerField<&SearchSpec::threads, 1>},
    {{"keep", kPositiveType, "3", "the best trials, whose run folders stay"},
     ReadIntegerField<&SearchSpec::keep, 1>},
    {{"ensemble", kEnsembleType, "", "trials whose predictions are averaged"}, ReadEnsemble},
};

// Several models become a parameter, which stands first.
void AddModelParameter(SearchSpec& search) {
  if (search.models.size() < 2) return;
  SearchParameter choice;
  choice.path = {kModelParameter, search.models[0].mark};
  for (const MarkedText& model : search.models) {
    choice.values.push_back(TreeNode::Scalar(model.value, model.mark));
  }
  search.parameters.insert(search.parameters.begin(), std::move(choice));
}

void CheckCondition(const SearchSpec& search, size_t parameter, const Condition& condition,
                    Diagnostics& diagnostics) {
  std::vector<std::string> above;
  for (size_t i = 0; i < parameter; ++i) above.push_back(search.parameters[i].path.value);
  const auto found = std::ranges::find(above, condition.path.value);
  if (found == above.end()) {
    diagnostics.Error(condition.path.mark,
                      "'when' names '" + condition.path.value + "', which is no parameter above it",
                      SuggestName(condition.path.value, above));
    return;
  }
  const auto& values = search.parameters[static_cast<size_t>(found - above.begin())].values;
  for (const TreeNode& value : condition.values) {
    if (std::ranges::find(values, value) != values.end()) continue;
    diagnostics.Error(value.mark, "'" + condition.path.value + "' never has this value",
                      values.empty() ? "a condition looks at a parameter with `values`" : "");
  }
}

void CheckParameters(const SearchSpec& search, Diagnostics& diagnostics) {
  for (size_t i = 0; i < search.parameters.size(); ++i) {
    const SearchParameter& parameter = search.parameters[i];
    for (const Condition& condition : parameter.when) {
      CheckCondition(search, i, condition, diagnostics);
    }
    const Range& range = parameter.range;
    if (search.method_id() == Method::kGrid && parameter.values.empty() && range.step == 0) {
      diagnostics.Error(parameter.path.mark, "a grid cannot go through all numbers of a range",
                        range.log ? "list them: `values: [0.001, 0.01, 0.1]`"
                                  : "give a `step`, or list them: `values: [0.1, 0.2]`");
    }
    if (search.stop && parameter.path.value == "train.epochs") {
      diagnostics.Error(parameter.path.mark, "'stop' says how long trials train",
                        "`stop: {max: N}` is the number of epochs");
    }
  }
}

void CheckSizes(const SearchSpec& search, Diagnostics& diagnostics) {
  const auto check = [&](const std::optional<Marked<int64_t>>& number, const char* key,
                         int64_t most) {
    if (!number || number->value <= most) return;
    diagnostics.Error(number->mark,
                      "'" + std::string(key) + "' is at most " + std::to_string(most));
  };
  check(search.budget.trials, "trials", kMostTrials);
  check(search.budget.epochs, "epochs", kMostEpochs);
  if (search.stop) check(search.stop->max, "max", kMostEpochs);
  check(search.threads, "threads", kMostThreads);
  if (!search.ensemble) return;
  check(search.ensemble->picks, search.ensemble->greedy ? "greedy" : "top",
        EnsembleSpec::kMostPicks);
}

void CheckBudget(const SearchSpec& search, Diagnostics& diagnostics) {
  const BudgetSpec& budget = search.budget;
  const bool has_count = budget.trials || budget.epochs || search.method_id() == Method::kGrid;
  const SourceMark whole{search.tree.mark.file};
  if (!has_count && !budget.seconds) {
    diagnostics.Error(whole, "nothing ends the search: it has no 'budget'",
                      "for example `budget: {trials: 30}`");
  } else if (!has_count && search.stop) {
    diagnostics.Error(budget.seconds->mark, "successive halving needs a number of trials or epochs",
                      "for example `budget: {trials: 27, time: 10m}`");
  }
}

}  // namespace

Method SearchSpec::method_id() const {
  if (method.value == "grid") return Method::kGrid;
  return method.value == "random" ? Method::kRandom : Method::kTpe;
}

std::optional<SearchSpec> ParseSearch(SourceFile file, Diagnostics& diagnostics) {
  SearchSpec search;
  search.file_name = file.name;
  search.name = std::filesystem::path(file.name).stem().string();
  const std::optional<TreeNode> tree = Parse(std::move(file), diagnostics);
  if (!tree) return std::nullopt;
  const int errors = diagnostics.error_count();
  search.tree = *tree;
  const Reader reader{diagnostics};
  ReadMap<SearchSpec>(*tree, "the file", {tree->mark.file}, kSearchKeys, search, reader);
  if (diagnostics.error_count() > errors) return std::nullopt;
  AddModelParameter(search);
  CheckParameters(search, diagnostics);
  CheckBudget(search, diagnostics);
  CheckSizes(search, diagnostics);
  if (diagnostics.error_count() > errors) return std::nullopt;
  return search;
}

std::optional<SearchSpec> ReadSearchFile(const std::string& path, Diagnostics& diagnostics) {
  return ParseSearch({path, ReadTextFile(path)}, diagnostics);
}

}  // namespace cgrun
