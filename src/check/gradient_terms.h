// Finds the terms that a gradient is summed from. If terms cancel each other out, as in front of a
// batch norm, the sum consists of their rounding errors, and its own size says nothing.
#ifndef CGRUN_CHECK_GRADIENT_TERMS_H_
#define CGRUN_CHECK_GRADIENT_TERMS_H_

#include <string>

#include "src/ir/graph.h"

namespace cgrun {

// Adds to a graph whose kept outputs are gradients, for each of them that sums up a tensor, or
// several: outputs of the sums of the terms' sizes, Σ|term|, called TermsName() of the gradient's
// name, of its path. A gradient that is summed up otherwise gets none.
void KeepTermSizes(Graph& graph);

// No name that a model file can spell.
std::string TermsName(const std::string& gradient);
// The gradient's name; "" of all other names.
std::string GradientOfTerms(const std::string& name);

}  // namespace cgrun

#endif  // CGRUN_CHECK_GRADIENT_TERMS_H_
