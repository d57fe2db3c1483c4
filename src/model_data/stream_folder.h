// Finds a folder for samples that do not fit in memory.
#ifndef CGRUN_MODEL_DATA_STREAM_FOLDER_H_
#define CGRUN_MODEL_DATA_STREAM_FOLDER_H_

#include <string>

namespace cgrun {

// The folder for files of decoded samples: `TMPDIR`, else `~/.cache/cgrun`, else `/var/tmp`, of
// these the first that can be written to and lies on a disk, not in memory. It need not be there
// yet. "" where there is none.
std::string StreamFolder();

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_STREAM_FOLDER_H_
