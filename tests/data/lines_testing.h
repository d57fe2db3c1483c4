// Lines as data sets, for their tests.
#ifndef CGRUN_TESTS_DATA_LINES_TESTING_H_
#define CGRUN_TESTS_DATA_LINES_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"
#include "tests/data/dataset_testing.h"

namespace cgrun {

using Ids = std::vector<int32_t>;

// Lines of words for a model of text and label or next.
class LinesBuilder : public DatasetBuilder {
 public:
  explicit LinesBuilder(std::string_view text, int64_t length = 4) : DatasetBuilder("lines") {
    File("lines.txt", text);
    Set("file", "lines.txt").Set("length", std::to_string(length));
    Input("text", DType::kI32, {length});
  }
  LinesBuilder& Tokens(const std::string& kind) {
    Set("tokens", kind);
    return *this;
  }
  LinesBuilder& Labelled(const std::string& place = "first") {
    Label(place, DType::kI32);
    return *this;
  }
};

// The ids of all samples' texts.
inline std::vector<Ids> TextsOf(const Opened& opened) {
  EXPECT_EQ(opened.errors, "");
  std::vector<Ids> texts;
  for (int64_t i = 0; opened.dataset && i < opened.dataset->size(); ++i) {
    texts.push_back(ReadField<int32_t>(*opened.dataset, i, 0));
  }
  return texts;
}

inline bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

// An error at a place, with a part of its message and of its help.
inline void ExpectError(const std::string& errors, std::string_view place, std::string_view message,
                        std::string_view help = "") {
  EXPECT_TRUE(Has(errors, "DIR/" + std::string(place) + ": error: ")) << errors;
  EXPECT_TRUE(Has(errors, message)) << errors;
  EXPECT_TRUE(Has(errors, help)) << errors;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_DATA_LINES_TESTING_H_
