// Says where operators are being added: to a path, or inside it to a network or a block.
#ifndef CGRUN_FRONTEND_PLACE_H_
#define CGRUN_FRONTEND_PLACE_H_

#include <string>
#include <vector>

#include "src/ir/builder.h"
#include "src/model/model_spec.h"

namespace cgrun {

struct Place {
  PathId path;
  bool learns = false;                // parameters are trained: a backprop path
  std::string prefix;                 // of node names: "classify.", "classify[0]."
  std::string qualifier;              // as the model file calls its values: "classify."
  std::string owner;                  // of parameter names: the prefix, or the network's
  std::vector<std::string> networks;  // around it, outermost first; the last one owns them
  std::string path_name;              // in the model file
};

// Returns the options of a node that is made for an operator of the file.
inline Builder::NodeOptions NodeOptionsAt(const OpSpec& op, const Place& place) {
  Builder::NodeOptions options;
  options.path = place.path;
  options.mark = op.target.mark;
  return options;
}

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_PLACE_H_
