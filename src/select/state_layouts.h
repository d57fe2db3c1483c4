// Which layouts state is kept in: a weight as its forward kernels read it, so that no step copies
// it, and what is updated beside it, such as momentum, in the same one.
#ifndef CGRUN_SELECT_STATE_LAYOUTS_H_
#define CGRUN_SELECT_STATE_LAYOUTS_H_

#include <map>
#include <string>

#include "src/ir/graph.h"

namespace cgrun {

// By the name of the state, which entry points share; what is not in it is plain. Layouts take as
// many bytes as plain ones. Files and whoever asks a program for its state see it plain.
using StateLayouts = std::map<std::string, Layout>;

// Those that the kernels of a graph ask for, which was selected with all state plain.
StateLayouts LayoutsOfState(const Graph& selected);

}  // namespace cgrun

#endif  // CGRUN_SELECT_STATE_LAYOUTS_H_
