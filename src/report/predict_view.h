// What people and programs see of predictions: tables, JSON and CSV.
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
  std::vector<std::string> notes = {};  // what became of the files
  MemoryUse memory = {};
};

// Gathers predictions as they come.
class PredictView {
 public:
  // `outputs` outlives it. Of classes, the `top` most probable ones are shown.
  PredictView(const std::vector<PredictedOutput>& outputs, int64_t top);
  // More than it takes for so many samples, with its texts, in bytes.
  static int64_t BytesOf(const std::vector<PredictedOutput>& outputs, int64_t top,
                         const std::vector<std::string>& files, int64_t samples);

  void Add(const SampleOrigin& origin, PredictionBytes outputs);

  // A table of all: a row a sample, whose columns are its file, its number there, and of each
  // output classes and probabilities or values. Without outputs of more than 1,000 values.
  std::string Csv() const;
  // The names of those outputs.
  std::vector<std::string> NotInCsv() const;
  // A table an output.
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
