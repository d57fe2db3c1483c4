// The folder that a run leaves.
#ifndef CGRUN_TRAIN_RUN_FOLDER_H_
#define CGRUN_TRAIN_RUN_FOLDER_H_

#include <string>

#include "src/train/session.h"

namespace cgrun {

// Whether MakeRunFolder() would refuse the folder: then throws the same UserError.
void CheckRunFolder(const std::string& folder, bool force);

// Makes the folder. One that exists and is not empty is refused, or with `force` cleared of what a
// former run left (its own files alone). Throws UserError.
void MakeRunFolder(const std::string& folder, bool force);

// model.yaml: the model file as resolved.
void WriteModelFile(const std::string& folder, const ModelSpec& model);

// summary.json, and the same text for `--json`.
std::string SummaryJson(const ModelSpec& model, const Session& session, const TrainResult& result);
void WriteSummary(const std::string& folder, const std::string& json);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_RUN_FOLDER_H_
