// What to say where a model has an input that no field of its data feeds.
#ifndef CGRUN_DATA_UNFED_INPUT_H_
#define CGRUN_DATA_UNFED_INPUT_H_

#include <string>
#include <string_view>

namespace cgrun {

// An option by which data of a format have a field more.
struct FieldOption {
  std::string_view format;
  std::string_view option;
  std::string_view help;
};

// Null where data of the format always have the same fields.
const FieldOption* FieldOptionOf(std::string_view format);

}  // namespace cgrun

#endif  // CGRUN_DATA_UNFED_INPUT_H_
