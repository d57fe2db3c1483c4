// Reading files and parsing texts in tests.
#include "tests/model/model_testing.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "src/model/model_file.h"

namespace cgrun {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<TreeNode> ParseText(const std::string& text, std::string* errors) {
  Diagnostics diagnostics;
  auto tree = Parse({"model.yaml", text}, diagnostics);
  if (errors) *errors = diagnostics.ToString();
  return tree;
}

std::string TreeErrors(const std::string& text) {
  std::string errors;
  ParseText(text, &errors);
  return errors;
}

std::optional<ModelSpec> ParseModelText(const std::string& text,
                                        const std::vector<std::string>& overrides,
                                        std::string* errors) {
  Diagnostics diagnostics;
  auto model = ParseModel({"model.yaml", text}, overrides, diagnostics);
  if (errors) *errors = diagnostics.ToString();
  return model;
}

std::string ModelErrors(const std::string& text, const std::vector<std::string>& overrides) {
  std::string errors;
  ParseModelText(text, overrides, &errors);
  return errors;
}

std::string GoldenRoot() {
  const char* root = std::getenv("CGRUN_UPDATE_GOLDEN");
  return root ? root : "";
}

}  // namespace cgrun
