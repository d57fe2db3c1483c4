// Writes the findings of training data into the metadata of weights, and reads them back.
#include "src/model_data/data_findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cgrun {
namespace {

const DataFindings kFindings = {
    {{"vocabulary", {"the", "\"quoted\"", "\xC3\xA9t\xC3\xA9"}}, {"categories.town", {}}},
    {{"mean", {0.1, -1e300, 1.0 / 3}}}};

TEST(DataFindings, ComeBackFromMetadata) {
  EXPECT_EQ(ReadFindings(FindingsMetadata(kFindings)), kFindings);
  EXPECT_TRUE(ReadFindings({}).empty());
}

// Words of a file that is no UTF-8, every byte among them.
TEST(DataFindings, KeepNamesThatAreNoUtf8) {
  DataFindings findings = kFindings;
  for (int byte = 1; byte < 256; ++byte) {
    findings.names["vocabulary"].push_back(std::string(2, static_cast<char>(byte)));
  }
  const SafetensorsMetadata metadata = FindingsMetadata(findings);
  EXPECT_TRUE(metadata.contains("data.bytes.vocabulary"));
  EXPECT_EQ(ReadFindings(metadata), findings);
}

TEST(DataFindings, ANumberThatIsNoneStaysSo) {
  const DataFindings findings = {{}, {{"mean", {1, std::numeric_limits<double>::quiet_NaN()}}}};
  const DataFindings back = ReadFindings(FindingsMetadata(findings));
  EXPECT_EQ(back.numbers.at("mean")[0], 1);
  EXPECT_TRUE(std::isnan(back.numbers.at("mean")[1]));
  EXPECT_EQ(DifferenceOf(findings, back), "");
}

TEST(DataFindings, PassOverWhatIsNoList) {
  for (const char* text : {"", "[1, 2", "{}", "[1]", "[\"a\", 2]", "7"}) {
    EXPECT_TRUE(ReadFindings({{"data.names.x", text}}).empty()) << text;
  }
  EXPECT_TRUE(ReadFindings({{"data.numbers.x", "[\"a\"]"}}).empty());
  EXPECT_TRUE(ReadFindings({{"data.bytes.x", "[\"\xE2\x82\xAC\"]"}}).empty());
  EXPECT_TRUE(ReadFindings({{"model", "m"}, {"classes.label", "[\"a\"]"}}).empty());
}

TEST(DataFindings, TellInWhatTheyDiffer) {
  EXPECT_EQ(DifferenceOf(kFindings, kFindings), "");
  DataFindings other = kFindings;
  other.names["categories.town"].emplace_back("Rom");
  EXPECT_EQ(DifferenceOf(kFindings, other), "the categories of 'town'");
  other = kFindings;
  other.numbers["mean"][2] = 0;
  EXPECT_EQ(DifferenceOf(kFindings, other), "the means of their columns");
  other.names["more"] = {"x"};
  other.numbers.erase("mean");
  EXPECT_EQ(DifferenceOf(kFindings, other), "") << "what either does not know";
}

}  // namespace
}  // namespace cgrun
