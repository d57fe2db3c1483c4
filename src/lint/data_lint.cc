#include "src/lint/data_lint.h"

#include "src/lint/size_lint.h"

namespace cgrun {

ModelData OpenAndLintData(const ModelSpec& model, Diagnostics& diagnostics, MissingFiles missing,
                          const DataFindings* kept, DataCap cap) {
  ModelData data = OpenModelData(model, diagnostics, missing, kept, cap);
  if (data.train_fits) WarnOfFeatureSizes(model, *model.data->train, *data.whole, diagnostics);
  return data;
}

}  // namespace cgrun
