// Finds the folder where the program keeps results that it computes once for a machine.
#ifndef CGRUN_IO_CACHE_FOLDER_H_
#define CGRUN_IO_CACHE_FOLDER_H_

#include <string>

namespace cgrun {

// $XDG_CACHE_HOME/cgrun, or ~/.cache/cgrun; "" where neither is known. It may not be there yet.
std::string CacheFolder();

}  // namespace cgrun

#endif  // CGRUN_IO_CACHE_FOLDER_H_
