// Shows predictions to people and programs: as tables, JSON and CSV.
#ifndef CGRUN_REPORT_PREDICT_VIEW_H_
#define CGRUN_REPORT_PREDICT_VIEW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/report/table.h"
#include "src/results/memory_use.h"
#include "src/results/prediction.h"

namespace cgrun {

struct PredictFacts {
  std::string model, device, mode, weights;
  int64_t batch = 0;
  int64_t samples = 0;
  int64_t operators_run = 0, operators = 0;  // that ran, and those of whole runs
  bool dry_run = false;
  std::vector<std::string> notes = {};  // say what became of the files
  MemoryUse memory = {};
};

// Gathers predictions as they come.
class PredictView {
 public:
  // `outputs` outlives it. The view shows the `top` most probable classes.
  PredictView(const std::vector<PredictedOutput>& outputs, int64_t top);
  // More than it takes for so many samples, with its texts, in bytes.
  static int64_t BytesOf(const std::vector<PredictedOutput>& outputs, int64_t top,
                         const std::vector<std::string>& files, int64_t samples);

  void Add(const SampleOrigin& origin, PredictionBytes outputs);

  // The table has a row for each sample. Its columns are the sample's file, its number there, and
  // the classes and probabilities, or the values, of each output. Outputs of more than 1,000 values
  // are left out.
  std::string Csv() const;
  // Names the outputs that are left out.
  std::vector<std::string> NotInCsv() const;
  // There is a table for each output.
  std::string Text(const PredictFacts& facts) const;
  // `measure`: the memory until now; it is asked for when nearly all of the text is there. Null:
  // none was measured.
  std::string Json(const PredictFacts& facts, const std::vector<std::string>& warnings,
                   const std::vector<FileProblem>& problems,
                   const std::function<MemoryUse()>& measure) const;

 private:
  // The classes of the places that the sample has, without those that it was filled up with.
  static std::vector<int64_t> GivenPlaces(std::vector<int64_t> places, const SampleOrigin& origin);

  struct Prediction {
    SampleOrigin origin;
    std::vector<std::vector<ClassScore>> classes;  // of outputs with scores
    std::vector<std::vector<int64_t>> places;      // of outputs with scores for each place
    std::vector<std::vector<double>> values;       // of the others, where they are few
  };
  std::string ElementOf(const Prediction& prediction) const;  // of the array in JSON
  bool ShowsClasses(size_t output) const { return outputs_[output].scores != Scores::kNone; }
  std::string ClassText(size_t output, int64_t index) const;
  std::string PlacesText(size_t output, const std::vector<int64_t>& places) const;
  std::string Table(size_t output) const;
  std::vector<std::string> CsvColumns(size_t output, bool alone) const;
  std::vector<std::string> CsvCells(size_t output, const Prediction& prediction) const;

  const std::vector<PredictedOutput>& outputs_;
  int64_t top_;
  std::vector<Prediction> predictions_;
};

}  // namespace cgrun

#endif  // CGRUN_REPORT_PREDICT_VIEW_H_
