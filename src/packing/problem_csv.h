// Packing problems as text, in MiniMalloc's format: a header of column names in any order, then one
// buffer a line.
//
//   id,lower,upper,size,alignment,offset
//   conv1,0,3,4096,64,
//   fc1,3,9,1024,64,0
//
// `id` is any text (in double quotes where it holds a comma), its own in every line; `lower` and
// `upper` are the half-open lifespan in steps, `size` is in bytes. The columns `alignment` (1 where
// it is missing or empty) and `offset` (not fixed where it is missing or empty) may be left out.
// Lines end in LF or CRLF; blank lines, a byte order mark and blanks around a cell are ignored.
#ifndef CGRUN_PACKING_PROBLEM_CSV_H_
#define CGRUN_PACKING_PROBLEM_CSV_H_

#include <memory>
#include <optional>
#include <string>

#include "src/base/diagnostics.h"
#include "src/packing/memory_problem.h"

namespace cgrun {

// The buffers of `file` in the order of its lines, their ids as names. All that is wrong is
// reported with its place (up to 1000 errors, ProblemFaults included); nullopt if anything is. So
// is the first line behind 100,000 buffers; the rest is not read.
std::optional<MemoryProblem> ReadProblemCsv(const std::shared_ptr<const SourceFile>& file,
                                            Diagnostics& diagnostics);

// The text that reads back as `problem`, or, with a plan, as `problem` with every offset of the
// plan fixed. A buffer without a name is written with its index as id; where that or a name was
// already used, '#' and the index are appended. The capacity is not part of the format.
std::string WriteProblemCsv(const MemoryProblem& problem, const MemoryPlan* plan = nullptr);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PROBLEM_CSV_H_
