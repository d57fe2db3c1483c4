// Chooses the layouts of state. A weight lies as its forward kernels read it, so that no step
// copies it. State that is updated beside it, such as momentum, has the same layout.
#ifndef CGRUN_SELECT_STATE_LAYOUTS_H_
#define CGRUN_SELECT_STATE_LAYOUTS_H_

#include <map>
#include <string>

#include "src/ir/graph.h"
#include "src/ops/target.h"

namespace cgrun {

// Holds layouts by the name of the state, which entry points share. State without an entry is
// plain. Layouts take as many bytes as plain ones. Files see the state plain, and so do all that
// ask a program for it.
using StateLayouts = std::map<std::string, Layout>;

struct SelectOptions;

// Chooses the layouts with which a step of `graph`, which is bound and plain, takes least time. The
// candidate of each weight is the layout that its forward kernels would choose. It is taken if the
// nodes that read and update the weight take less time so, copies included. If no kernel can run
// some node, the result is empty.
StateLayouts ChooseStateLayouts(const Graph& graph, const Target& target,
                                const SelectOptions& options);

// Returns whether a value is state, as it is or in another number type, that takes as many bytes in
// `layout` as plain.
bool CanLieIn(const Graph& graph, ValueId value, const Layout& layout);

}  // namespace cgrun

#endif  // CGRUN_SELECT_STATE_LAYOUTS_H_
