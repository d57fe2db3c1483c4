// Folds the nodes of a large graph into blocks by their names: "stage[0].conv1" and "stage[0].relu"
// become "stage[0]". FoldNames() says what becomes one.
#ifndef CGRUN_REPORT_NAME_FOLDS_H_
#define CGRUN_REPORT_NAME_FOLDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Returns the first `count` parts of a dotted name.
std::string_view FirstParts(std::string_view name, int count);

// Returns how many parts two dotted names have in common at their start.
int CommonParts(std::string_view a, std::string_view b);

// Returns for each name the block that it belongs to. If there are at most `most` names, that is
// the name itself. Else it is as many of the name's first parts as leave at most `most` blocks. It
// has at least two parts: a path and an operator or block in it. Names of different `kinds` never
// share a block.
std::vector<std::string> FoldNames(const std::vector<std::string>& names,
                                   const std::vector<int>& kinds, size_t most);

}  // namespace cgrun

#endif  // CGRUN_REPORT_NAME_FOLDS_H_
