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

// One error for the files of each folder. What several sets name counts once. `model_file`: the
// model, or the program (.cgb), whose paths they are.
void ReportMissing(const std::vector<MissingFile>& files, const std::string& model_file,
                   Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_MISSING_FILES_H_
