// Entry points and host memory of a run.
#include "src/train/run_shape.h"

#include <algorithm>

#include "src/base/allocation_counter.h"
#include "src/train/rate_schedule.h"

namespace cgrun {

std::vector<EntryRequest> TrainingEntries(int64_t batch, const std::vector<int64_t>& train_sizes,
                                          const std::vector<int64_t>& evaluation_sizes,
                                          int64_t accumulate) {
  std::vector<EntryRequest> requests;
  const auto add = [&](const std::string& name, EntryKind kind, int64_t size) {
    const bool known = std::any_of(requests.begin(), requests.end(), [&](const EntryRequest& r) {
      return r.kind == kind && r.batch == size;
    });
    if (size > 0 && !known) requests.push_back({name, kind, size});
  };
  const auto add_all = [&](EntryKind kind, const std::vector<int64_t>& sizes) {
    const std::string name(Name(kind));
    for (int64_t size : sizes) {
      if (size >= batch) add(name, kind, batch);
    }
    for (int64_t size : sizes) add(name + "." + std::to_string(size % batch), kind, size % batch);
  };
  add_all(EntryKind::kTrain, train_sizes);
  for (int64_t size : train_sizes) {
    if (accumulate > 1 && size > batch) add("accumulate", EntryKind::kAccumulate, batch);
  }
  add_all(EntryKind::kEval, evaluation_sizes);
  return requests;
}

int64_t MeasureBase(int64_t counted_bytes) {
  ReleaseFreeHeap();
  return std::max<int64_t>(0, ResidentBytes() - counted_bytes);
}

namespace {

// Why data is not counted; "" where it is.
std::string NoteOf(const ModelData& data) {
  if (!data.missing.empty()) return "not counted: there is no " + data.missing[0];
  return data.train == nullptr ? "the model names no data" : "";
}

}  // namespace

RunShape ShapeOfRun(const ModelSpec& model, Diagnostics& diagnostics) {
  const int64_t batch = model.train ? model.train->batch.value.size : 1;
  const int64_t accumulate = model.train ? model.train->accumulate.value : 1;
  RunShape shape;
  ReadRateSchedules(model, diagnostics);
  shape.data = OpenModelData(model, diagnostics, MissingFiles::kAreListed);
  const ModelData& data = shape.data;
  shape.data_note = NoteOf(data);
  if (diagnostics.has_errors() || !shape.data_note.empty()) {
    shape.entries = TrainingEntries(batch, {2 * batch}, {batch}, accumulate);
    return shape;
  }
  std::vector<int64_t> evaluation_sizes;
  shape.data_bytes = data.decoded_bytes;
  for (const auto& set : {data.train, data.valid, data.test}) {
    if (set == nullptr) continue;
    shape.data_bytes += DataSource::HostBytes(*set, batch);
    if (set != data.train) evaluation_sizes.push_back(set->size());
  }
  shape.entries = TrainingEntries(batch, {data.train->size()}, evaluation_sizes, accumulate);
  return shape;
}

}  // namespace cgrun
