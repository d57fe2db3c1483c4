// Files that the data of a model name and that are not there.
#ifndef CGRUN_MODEL_DATA_MISSING_FILES_H_
#define CGRUN_MODEL_DATA_MISSING_FILES_H_

#include <string>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {

struct MissingFile {
  std::string path;
  SourceMark mark;

  std::string Text() const;  // "cannot open 'rows.csv': No such file or directory"
};

// Reports one error for the missing files of each folder. A file that several sets name counts
// once. The paths are those of `model_file`, which is the model or the program (.cgb).
void ReportMissing(const std::vector<MissingFile>& files, const std::string& model_file,
                   Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_MISSING_FILES_H_
