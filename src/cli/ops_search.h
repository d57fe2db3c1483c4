// What the operator reference has on a word that is no operator's name.
#ifndef CGRUN_CLI_OPS_SEARCH_H_
#define CGRUN_CLI_OPS_SEARCH_H_

#include <string>

namespace cgrun {

// "the losses are absolute_error, …" of a family of operators, what a schedule of the learning rate
// is, or the operators whose descriptions have the word; "" where there is nothing on it.
std::string FindInReference(const std::string& word);

}  // namespace cgrun

#endif  // CGRUN_CLI_OPS_SEARCH_H_
