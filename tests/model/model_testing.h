// The tests of src/model share these functions.
#ifndef CGRUN_TESTS_MODEL_MODEL_TESTING_H_
#define CGRUN_TESTS_MODEL_MODEL_TESTING_H_

#include <optional>
#include <string>
#include <vector>

#include "src/model/model_spec.h"

namespace cgrun {

// A file's text; the path is relative to the root of the project.
std::string ReadText(const std::string& path);

// Parse() of a text called "model.yaml". `errors`, if given, becomes what a user reads.
std::optional<TreeNode> ParseText(const std::string& text, std::string* errors = nullptr);
// Returns the errors as a user reads them, or "" if there is none.
std::string TreeErrors(const std::string& text);

// Calls ParseModel() for the same text.
std::optional<ModelSpec> ParseModelText(const std::string& text,
                                        const std::vector<std::string>& overrides = {},
                                        std::string* errors = nullptr);
std::string ModelErrors(const std::string& text, const std::vector<std::string>& overrides = {});

// The folder of the project into which golden texts are to be written anew, or "".
std::string GoldenRoot();

}  // namespace cgrun

#endif  // CGRUN_TESTS_MODEL_MODEL_TESTING_H_
