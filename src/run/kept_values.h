// Holds the values that `keep` of a model file names, as the last batch left them. They are
// parameters, and values and gradients that survive their step.
#ifndef CGRUN_RUN_KEPT_VALUES_H_
#define CGRUN_RUN_KEPT_VALUES_H_

#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/frontend/frontend.h"
#include "src/run/engine.h"

namespace cgrun {

// "grad(fc1.w).npy" for "grad(fc1.w)".
std::string NpyFileName(std::string name);

// The file names of all that a model file keeps.
std::vector<std::string> KeptFiles(const ModelSpec& model);

// Makes a folder that is not there. InputError where a file has its name; UserError.
void MakeFolder(const std::string& folder);

class KeptValues {
 public:
  // `states`: those that are kept, with the names that the file gives them. Takes the memory of
  // all that the entry points of `engine` keep.
  KeptValues(const Engine& engine, const std::vector<Kept::Item>& states, const Graph& graph);

  // Copies what entry point `entry`, which ran last, has kept. Does not allocate.
  void Take(const Engine& engine, int entry);
  // Writes NAME.npy for each value that was taken, and for each state. Throws UserError.
  void Write(const Engine& engine, const std::string& folder) const;
  // Returns the bytes of host memory that the copies take.
  int64_t bytes() const;

 private:
  struct Value {
    int result = 0;  // index into the entry point's results
    std::string name;
    HostTensor tensor;
  };
  struct State {
    std::string name;  // in the file
    size_t state = 0;  // index into the engine's
  };
  std::vector<std::vector<Value>> values_;  // by entry point
  std::vector<State> states_;
  int last_ = -1;  // the entry point that was taken last
};

}  // namespace cgrun

#endif  // CGRUN_RUN_KEPT_VALUES_H_
