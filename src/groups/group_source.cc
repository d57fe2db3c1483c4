// The outputs of a file are kept until all of its groups are predicted.
#include "src/groups/group_source.h"

#include <algorithm>
#include <span>
#include <utility>

#include "src/base/finite.h"
#include "src/data/options.h"
#include "src/device/device.h"
#include "src/io/file_error.h"
#include "src/model_data/data_findings.h"

namespace cgrun {
namespace {

// Names that lead to a model; those without one stray, too.
GroupNames NamesWithModel(const GroupIndex& index) {
  GroupNames names;
  for (const GroupEntry& entry : index.entries) {
    if (entry.has_model()) names.Add(entry.name);
  }
  return names;
}

// Says what to do about a row whose group has no model.
std::string HelpWithStray(const std::string& name, const GroupIndex& index) {
  std::vector<std::string> known;
  for (const GroupEntry& entry : index.entries) {
    if (entry.name == name) return "it has no model: " + entry.reason;
    if (entry.has_model()) known.push_back(entry.name);
  }
  const std::string near = NearestName(name, known);
  return near.empty() ? "the run has learned from no row of this group: leave such rows out"
                      : "did you mean " + QuotedText(near) + "?";
}

}  // namespace

GroupSource::GroupSource(const std::vector<std::string>& files, std::vector<DataField> inputs,
                         const ModelSpec& model, const GroupModels& models)
    : model_(model), models_(models), inputs_(std::move(inputs)) {
  const TableReader reader(model, SharedMetadata(models.index).empty()
                                      ? DataFindings()
                                      : ReadFindings(SharedMetadata(models.index)));
  GroupNames names = NamesWithModel(models.index);
  for (const std::string& path : files) {
    if (!reader.Reads(path)) {
      ThrowFileError(path, ": the rows of a model by groups come from tables (.csv, .tsv)",
                     "for example `cgrun predict MODEL rows.csv`: its column '" +
                         models.index.column + "' names the group of each row");
    }
    Diagnostics diagnostics;
    auto rows = std::make_unique<GroupedRows>(path, reader.Csv(), models.index.column, names,
                                              /*is_complete=*/true, FreeHostMemory(), diagnostics);
    if (diagnostics.has_errors()) ThrowFirst(diagnostics);
    CheckStrays(*rows);
    if (rows->rows() == 0) ThrowFileError(path, "holds no samples below its header");
    files_.push_back({path, std::move(rows)});
  }
}

// A prediction by another model than the group's would be wrong, and to leave a row out would move
// those behind it.
void GroupSource::CheckStrays(const GroupedRows& rows) const {
  if (rows.stray_count() == 0) return;
  Diagnostics diagnostics;
  for (const StrayRow& stray : rows.strays()) {
    diagnostics.Error(
        stray.mark,
        QuotedText(stray.name) + " is no group that '" + models_.folder + "' has a model of",
        HelpWithStray(stray.name, models_.index));
  }
  const int64_t more = rows.stray_count() - std::ssize(rows.strays());
  if (more > 0) {
    diagnostics.Error({}, CountText(more, "more row") + " of '" + rows.table().path() + "' " +
                              (more == 1 ? "has" : "have") + " no model");
  }
  ThrowFirst(diagnostics);
}

int64_t GroupSource::samples() const {
  int64_t samples = 0;
  for (const File& file : files_) samples += file.rows->rows();
  return samples;
}

int64_t GroupSource::parts() const {
  const int64_t groups = NamesWithModel(models_.index).count();
  int64_t parts = 0;
  for (const File& file : files_) {
    for (int64_t group = 0; group < groups; ++group) parts += file.rows->RowsOf(group) > 0;
  }
  return parts;
}

std::vector<std::string> GroupSource::files() const {
  std::vector<std::string> paths;
  for (const File& file : files_) paths.push_back(file.path);
  return paths;
}

int64_t GroupSource::reading_bytes() const {
  constexpr int64_t kEntry = 1024;  // of the index: a name, and statistics of data
  int64_t bytes = models_.bank.bytes() + kEntry * std::ssize(models_.index.entries);
  for (const File& file : files_) bytes += file.rows->bytes();
  return bytes;
}

// The predictions of one file.
class GroupSource::FileRun {
 public:
  FileRun(const File& file, Predictor& predictor)
      : file_(file), predictor_(predictor), outputs_(predictor.outputs().size()) {
    const int64_t rows = file.rows->rows();
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const PredictedOutput& output = predictor.outputs()[i];
      bytes_.push_back(static_cast<size_t>(output.shape.Elements() * SizeOf(output.dtype)));
      outputs_[i].resize(bytes_[i] * static_cast<size_t>(rows));
    }
    origins_.resize(static_cast<size_t>(rows));
  }

  // Predicts the rows of a group, which `table` has, and keeps what comes out.
  void Predict(const TablePart& part, const PredictTable& table) {
    std::vector<std::vector<std::byte>> row;
    for (const DataField& field : table.rows->fields()) {
      row.emplace_back(static_cast<size_t>(field.bytes()));
    }
    const std::vector<std::span<std::byte>> spans(row.begin(), row.end());
    int64_t read = 0, seen = 0;
    const auto next = [&](std::span<const std::span<std::byte>> inputs, SampleOrigin* origin) {
      if (read == table.rows->size()) return false;
      table.rows->Read(read++, spans);
      for (size_t i = 0; i < inputs.size(); ++i) {
        const size_t field = table.fields[i];
        std::ranges::copy(row[field], inputs[i].begin());
        const DataField& of_table = table.rows->fields()[field];
        if (!AllFinite(of_table.dtype, inputs[i])) origin->not_finite_input = of_table.name;
      }
      return true;
    };
    predictor_.Run(next, 0, [&](const SampleOrigin& origin, PredictionBytes outputs) {
      Keep(NumberOf(part.rows[static_cast<size_t>(seen++)]), origin, outputs);
    });
  }

  void Show(const Predictor::Sink& sink) const {
    std::vector<std::span<const std::byte>> outputs(outputs_.size());
    for (size_t row = 0; row < origins_.size(); ++row) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        outputs[i] = std::span(outputs_[i]).subspan(row * bytes_[i], bytes_[i]);
      }
      sink(origins_[row], outputs);
    }
  }

 private:
  // Returns the number of a row in the file, from a record of the table.
  size_t NumberOf(int32_t record) const {
    return static_cast<size_t>(record - (file_.rows->has_header() ? 1 : 0));
  }
  void Keep(size_t row, SampleOrigin origin, PredictionBytes outputs) {
    origin.file = file_.path;
    if (origins_.size() > 1) origin.index = static_cast<int64_t>(row);
    origins_[row] = std::move(origin);
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::ranges::copy(outputs[i],
                        outputs_[i].begin() + static_cast<std::ptrdiff_t>(row * bytes_[i]));
    }
  }

  const File& file_;
  Predictor& predictor_;
  std::vector<size_t> bytes_;                    // of an output of a row
  std::vector<std::vector<std::byte>> outputs_;  // of all rows
  std::vector<SampleOrigin> origins_;
};

int64_t GroupSource::Run(Predictor& predictor, const Predictor::Sink& sink) {
  for (const File& file : files_) {
    FileRun run(file, predictor);
    int64_t group = 0;  // among those with a model
    for (size_t place = 0; place < models_.index.entries.size(); ++place) {
      const GroupEntry& entry = models_.index.entries[place];
      if (!entry.has_model()) continue;
      const TablePart part = file.rows->PartOf(group++);
      if (part.rows.empty()) continue;
      const TableReader reader(model_, entry.Findings());
      const PredictTable table = reader.Open(file.path, inputs_, warnings_, &part);
      models_.bank.Get(static_cast<int64_t>(place), predictor.engine());
      run.Predict(part, table);
    }
    run.Show(sink);
  }
  return samples();
}

}  // namespace cgrun
