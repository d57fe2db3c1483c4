// Tells whether a file with errors may give more names than could be read.
#ifndef CGRUN_MODEL_INCOMPLETE_H_
#define CGRUN_MODEL_INCOMPLETE_H_

#include "src/model/tree.h"

namespace cgrun {

// Returns whether some part of the file that gives names (inputs, networks, blocks, paths) has no
// form in which it can be read: a name that is absent may stand there. Unknown keys at the top
// count too, since they may be such a part misspelt. Reports nothing.
bool IsIncomplete(const TreeNode& root);

}  // namespace cgrun

#endif  // CGRUN_MODEL_INCOMPLETE_H_
