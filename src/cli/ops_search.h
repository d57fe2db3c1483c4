// Searches the operator reference for a word that is no operator's name.
#ifndef CGRUN_CLI_OPS_SEARCH_H_
#define CGRUN_CLI_OPS_SEARCH_H_

#include <string>

namespace cgrun {

// Explains a word that is no operator: "the losses are absolute_error, …" for a family of
// operators, a schedule of the learning rate, an initialiser, or a key. Returns "" for other words.
std::string FindOtherThan(const std::string& word);

// The operators whose descriptions have the word; "" where there are none.
std::string FindInReference(const std::string& word);

}  // namespace cgrun

#endif  // CGRUN_CLI_OPS_SEARCH_H_
