// If a first line has these words, which columns of tables and of texts are called by, it is known
// to be a header.
#ifndef CGRUN_DATA_HEADER_WORDS_H_
#define CGRUN_DATA_HEADER_WORDS_H_

#include <string_view>

namespace cgrun {

// Returns whether columns of labels are called so: "label", "class_name".
bool IsLabelHeader(std::string_view name);

// Returns whether columns of texts are called so: "text", "review".
bool IsTextHeader(std::string_view name);

}  // namespace cgrun

#endif  // CGRUN_DATA_HEADER_WORDS_H_
