// The place of a value that a flag has set is the flag, as the user typed it.
#include "src/model_data/cap_flag.h"

namespace cgrun {

std::string CapFlagOf(const ModelSpec& model) {
  if (!model.train || !model.train->memory) return "--memory";
  const SourceMark& mark = model.train->memory->mark;
  const bool is_of_host = mark.file && mark.file->name.starts_with(kHostCapFlag);
  return is_of_host ? kHostCapFlag : "--memory";
}

}  // namespace cgrun
