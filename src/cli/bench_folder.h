// `cgrun bench --out DIR`: the folder that a benchmark leaves.
#ifndef CGRUN_CLI_BENCH_FOLDER_H_
#define CGRUN_CLI_BENCH_FOLDER_H_

#include <string>

namespace cgrun {

// Throws InputError if the folder holds the files of another benchmark, or is no folder. Call it
// before the benchmark, whose result would be lost.
void CheckBenchFolder(const std::string& folder, bool force);

// Leaves bench.txt and bench.json. Throws UserError.
void WriteBenchFolder(const std::string& folder, const std::string& text, const std::string& json);

}  // namespace cgrun

#endif  // CGRUN_CLI_BENCH_FOLDER_H_
