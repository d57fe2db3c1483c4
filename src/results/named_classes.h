// The names of classes, as reports and predictions show them.
#ifndef CGRUN_RESULTS_NAMED_CLASSES_H_
#define CGRUN_RESULTS_NAMED_CLASSES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Lists the names of classes, by the input that takes the labels. The name of label 0 comes first.
using ClassNames = std::map<std::string, std::vector<std::string>>;

// Returns the names of the classes that `input` takes, however many they are. If nobody knows that
// input, the result is the only list of `count` names, which is the model's count of classes. Else
// it is the list that the model file gives for any input. The result is empty where there is none.
std::vector<std::string> FindClassNames(const ClassNames& names, std::string_view input,
                                        int64_t count);

}  // namespace cgrun

#endif  // CGRUN_RESULTS_NAMED_CLASSES_H_
