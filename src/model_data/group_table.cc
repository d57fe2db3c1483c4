// Each set is a part of its table, opened by the options of the model file.
#include "src/model_data/group_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/data/classes.h"
#include "src/device/device.h"
#include "src/io/checksum.h"
#include "src/model/model_file.h"
#include "src/model_data/open_set.h"

namespace cgrun {
namespace {

// The rows of a set; null where it has no table of its own.
std::unique_ptr<GroupedRows> ReadRows(const ModelSpec& model, const std::optional<DataSpec>& spec,
                                      bool is_complete, GroupNames& names, int64_t most_bytes,
                                      Diagnostics& diagnostics) {
  if (!spec || !spec->format) return nullptr;
  const DataOptions options = OptionsOfSet(model, *spec, diagnostics);
  const std::optional<CsvOptions> csv = ReadCsvOptions(options, diagnostics);
  const DataOption* file = FindOption(options, "file");
  if (!csv || file == nullptr) return nullptr;
  return std::make_unique<GroupedRows>(ResolvePath(options, *file), *csv,
                                       model.data->group_by->value, names, is_complete, most_bytes,
                                       diagnostics);
}

std::vector<int64_t> DistinctSizes(const std::vector<GroupSamples>& samples,
                                   int64_t GroupSamples::*of_set) {
  std::set<int64_t> sizes;
  for (const GroupSamples& group : samples) sizes.insert(group.*of_set);
  sizes.erase(0);
  return {sizes.begin(), sizes.end()};
}

int64_t SizeOf(const std::shared_ptr<const Dataset>& set) { return set ? set->size() : 0; }

// The names of the classes of all labels, as findings that are kept.
DataFindings ClassesOf(const Dataset& whole) {
  DataFindings findings;
  for (size_t i = 0; i < whole.fields().size(); ++i) {
    const std::span<const std::string> names = whole.ClassNames(i);
    if (names.empty()) continue;
    findings.names[ClassesKey(whole.fields()[i].name)] = {names.begin(), names.end()};
  }
  return findings;
}

uint64_t HashOfTable(const GroupedRows* rows, uint64_t hash) {
  if (rows == nullptr) return hash;
  const TableRows& table = rows->table();
  for (int32_t record = 0; record < table.size(); ++record) {
    hash = HashBytes(std::as_bytes(std::span(table.text(record))), hash);
  }
  return hash;
}

}  // namespace

std::string FirstError(const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.Sorted()) {
    if (item.severity == Severity::kError) return item.message;
  }
  return "";
}

std::shared_ptr<const GroupTable> GroupTable::Read(const ModelSpec& model, const Dataset& whole,
                                                   int64_t most_bytes, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const DataSection& data = *model.data;
  auto table = std::make_shared<GroupTable>();
  table->column_ = data.group_by->value;
  table->classes_ = ClassesOf(whole);
  const auto rows_of = [&](const std::optional<DataSpec>& spec, bool is_complete) {
    return ReadRows(model, spec, is_complete, table->names_, most_bytes - table->bytes(),
                    diagnostics);
  };
  table->train_ = rows_of(data.train, /*is_complete=*/false);
  table->valid_ = rows_of(data.valid, /*is_complete=*/true);
  table->test_ = rows_of(data.test, /*is_complete=*/true);
  if (table->train_ == nullptr || diagnostics.error_count() > errors) return nullptr;
  const GroupOpener opener(model, *table);
  for (int64_t group = 0; group < table->count(); ++group) {
    Diagnostics of_group;
    const ModelData sets = opener.Open(group, nullptr, of_group);
    const bool is_open = !of_group.has_errors();
    table->samples_.push_back(
        is_open ? GroupSamples{SizeOf(sets.train), SizeOf(sets.valid), SizeOf(sets.test)}
                : GroupSamples());
    table->problems_.push_back(FirstError(of_group));
  }
  table->train_sizes_ = DistinctSizes(table->samples_, &GroupSamples::train);
  table->valid_sizes_ = DistinctSizes(table->samples_, &GroupSamples::valid);
  table->test_sizes_ = DistinctSizes(table->samples_, &GroupSamples::test);
  return table;
}

std::string GroupTable::CountNote() const {
  int64_t least = RowsOf(0), most = least;
  for (int64_t group = 0; group < count(); ++group) {
    least = std::min(least, RowsOf(group));
    most = std::max(most, RowsOf(group));
  }
  const std::string rows = least == most ? CountText(most, "row")
                                         : std::to_string(least) + " to " + CountText(most, "row");
  return "column " + QuotedText(column_) + " names " + CountText(count(), "group") + ", of " +
         rows + " each: each has a model of its own";
}

std::string GroupTable::ProblemNote() const {
  const auto has_problem = [](const std::string& problem) { return !problem.empty(); };
  const auto first = std::ranges::find_if(problems_, has_problem);
  if (first == problems_.end()) return "";
  const int64_t problems = std::ranges::count_if(problems_, has_problem);
  return CountText(problems, "group") + (problems == 1 ? " has" : " have") + " no model, such as " +
         QuotedText(names_[first - problems_.begin()]) + ": " + *first;
}

std::vector<std::string> GroupTable::Notes() const {
  std::vector<std::string> notes = {CountNote()};
  if (std::string problem = ProblemNote(); !problem.empty()) notes.push_back(std::move(problem));
  for (const auto& [name, rows] : {std::pair("valid", valid_.get()), {"test", test_.get()}}) {
    if (rows == nullptr || rows->stray_count() == 0) continue;
    std::vector<std::string> names;
    for (const StrayRow& stray : rows->strays()) names.push_back(stray.name);
    notes.push_back("'" + rows->table().path() + "': " + CountText(rows->stray_count(), "row") +
                    " of '" + name +
                    "' are of groups that the training data do not have, such as " +
                    QuotedText(names[0]) + ": no model is measured with them");
  }
  return notes;
}

uint64_t GroupTable::Hash() const {
  return HashOfTable(test_.get(), HashOfTable(valid_.get(), HashOfTable(train_.get(), 0)));
}

int64_t GroupTable::bytes() const {
  int64_t bytes = 0;
  for (const auto* rows : {&train_, &valid_, &test_}) bytes += *rows ? (*rows)->bytes() : 0;
  for (const std::string& name : names_.all()) {
    bytes += static_cast<int64_t>(2 * (sizeof(name) + name.capacity()));  // a list and an index
  }
  return bytes + static_cast<int64_t>(samples_.capacity() * sizeof(GroupSamples) +
                                      problems_.capacity() * sizeof(std::string));
}

GroupOpener::GroupOpener(const ModelSpec& model, const GroupTable& table)
    : model_(model),
      classes_(table.classes_),
      split_(SplitOf(model)),
      train_(SetOf(model.data->train, table.train_.get())),
      valid_(SetOf(model.data->valid, table.valid_.get())),
      test_(SetOf(model.data->test, table.test_.get())) {}

// The memory that is left is asked for once: a group takes a part of what the whole table took.
GroupOpener::Set GroupOpener::SetOf(const std::optional<DataSpec>& spec,
                                    const GroupedRows* rows) const {
  Set set;
  if (rows == nullptr) return set;
  Diagnostics reported;  // when the whole table was opened
  set.rows = rows;
  set.format = {spec->format->value, spec->format->mark};
  set.options = OptionsOfSet(model_, *spec, reported);
  set.options.memory_limit = set.options.most_in_memory = FreeHostMemory();
  return set;
}

std::shared_ptr<const Dataset> GroupOpener::OpenPart(const Set& set, int64_t group,
                                                     const DataFindings* kept, ModelData& data,
                                                     Diagnostics& diagnostics) const {
  if (set.rows == nullptr) return nullptr;
  const TablePart part = set.rows->PartOf(group);
  if (part.rows.empty()) return nullptr;
  DataOptions options = set.options;
  options.part = &part;
  options.kept = kept;
  options.train = data.train.get();
  if (&set == &train_) {
    options.split = split_;
    if (kept == nullptr && !classes_.empty()) options.kept = &classes_;
  }
  std::shared_ptr<const Dataset> opened = OpenDataset(set.format, options, diagnostics);
  if (opened == nullptr) return nullptr;
  CountSet(*opened, data);
  MatchInputs(model_, *opened, set.format.mark, diagnostics);
  CheckFinite(*opened, diagnostics);
  return opened;
}

ModelData GroupOpener::Open(int64_t group, const DataFindings* kept,
                            Diagnostics& diagnostics) const {
  ModelData data;
  data.train = OpenPart(train_, group, kept, data, diagnostics);
  if (diagnostics.has_errors()) return data;
  data.valid = OpenPart(valid_, group, kept, data, diagnostics);
  data.test = OpenPart(test_, group, kept, data, diagnostics);
  data.whole = data.train;
  if (diagnostics.has_errors() || data.train == nullptr) return data;
  if (split_) SplitTrain(model_, *split_, data, diagnostics);
  WalkInStreams(model_, data, diagnostics);
  return data;
}

}  // namespace cgrun
