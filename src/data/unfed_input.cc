// The formats whose labels must be asked for.
#include "src/data/unfed_input.h"

#include <algorithm>
#include <iterator>

namespace cgrun {
namespace {

constexpr FieldOption kOptions[] = {
    {"csv", "label", "`label: COLUMN` in `data.train` says which column is the label"},
    {"idx", "labels", "`labels: FILE` in `data.train` names the file of the labels"},
    {"lines", "label",
     "`label: first` or `label: last` in `data.train` says where a line has its label"},
};

}  // namespace

const FieldOption* FieldOptionOf(std::string_view format) {
  const auto* found = std::ranges::find(kOptions, format, &FieldOption::format);
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace cgrun
