// Labels that name no class: refused when the data is opened, named where a loss is not finite.
#include "src/lint/label_check.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(
cgrun: 1
model: labels
data:
  train: {format: idx, images: IMAGES, labels: LABELS}
  valid: {split: 0.3}
inputs:
  image: {type: uint8, shape: [1, 1, 2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.05}}
)";

constexpr char kTable[] = R"(
cgrun: 1
model: ids
data: {train: {format: idx, images: IMAGES, labels: LABELS}}
inputs:
  image: {type: uint8, shape: [1, 1, 2]}
  id: {type: int32, shape: []}
paths:
  p:
    ops:
      - x: {op: normalize, in: image, scale: 1/255}
      - wanted: {op: reshape, shape: [2]}
      - row: {op: embedding, in: id, entries: 4, units: 2}
    loss: {op: squared_error, in: [row, wanted]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.05}}
)";

constexpr char kText[] = R"(
cgrun: 1
model: bytes
data: {train: {format: text, file: TEXT, length: 4}}
inputs:
  text: {type: TYPE, shape: [4]}
  next: {type: TYPE, shape: [4]}
paths:
  p:
    ops:
      - {op: embedding, in: text, entries: ENTRIES, units: 3}
      - {op: linear, units: UNITS}
      - logits: {op: transpose, perm: [0, 2, 1]}
    loss: {op: softmax_cross_entropy, in: [logits, next]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.05}}
)";

// A file of bytes in the IDX format; `type` 9 is signed.
void WriteIdx(const std::string& path, int type, const std::vector<char>& sizes,
              const std::string& elements) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (char size : sizes) bytes += std::string(3, '\0') + size;
  std::ofstream(path) << bytes << elements;
}

// Returns the errors of the model with these eight labels.
std::string ErrorsOf(const std::string& labels, bool train = true, std::string text = kModel) {
  const std::string folder = FreshFolder();
  WriteIdx(folder + "/images", 8, {8, 1, 2}, "abcdefghijklmnop");
  WriteIdx(folder + "/labels", 9, {8}, labels);
  text.replace(text.find("IMAGES"), 6, folder + "/images");
  text.replace(text.find("LABELS"), 6, folder + "/labels");
  std::string errors = SessionErrors(ModelOf(text), train);
  for (size_t at; (at = errors.find(folder)) != errors.npos;) errors.erase(at, folder.size());
  return errors;
}

TEST(LabelCheck, LabelsOfClassesAreRight) {
  EXPECT_EQ(ErrorsOf(std::string("\0\1\2\3\0\1\2\3", 8)), "");
}

TEST(LabelCheck, NamesFileSampleLabelAndClasses) {
  const std::string errors = ErrorsOf(std::string("\0\1\2\3\0\7\2\7", 8));
  EXPECT_NE(errors.find("small.yaml:15:22: error: "), std::string::npos) << errors;
  EXPECT_NE(errors.find("error: '/labels': sample 5 has the label 7, but the 4 classes of "
                        "softmax_cross_entropy are 0 to 3"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("help: write `units: 8` here, or check the data: small.yaml:5:"),
            std::string::npos)
      << errors;
  EXPECT_EQ(errors.find("sample 5"), errors.rfind("sample 5")) << "told twice:\n" << errors;
}

TEST(LabelCheck, SaysHowManyMoreLabelsAreWrong) {
  const std::string two = ErrorsOf(std::string("\0\7\2\3\0\11\2\3", 8));
  EXPECT_NE(
      two.find("sample 5 has the label 9, but the 4 classes of softmax_cross_entropy are 0 to "
               "3, as its logits have 4 units; and 1 more sample has such labels: 7 (sample "
               "1)\n"),
      std::string::npos)
      << two;
  const std::string six = ErrorsOf(std::string("\4\7\4\4\0\4\4\3", 8));
  EXPECT_NE(six.find("; and 5 more samples have such labels: 4 (sample 0), 4 (sample 2), 4 (sample "
                     "3), …\n"),
            std::string::npos)
      << six;
}

// Returns the errors and warnings of the model with a table of names and labels `rows`.
std::string ErrorsOfTable(const std::string& rows, const std::string& units) {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/t.csv") << "x,label\n" << rows;
  std::string text = kModel;
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{
            "format: idx, images: IMAGES, labels: LABELS",
            "format: csv, file: " + folder + "/t.csv, label: label"},
        {"image: {type: uint8, shape: [1, 1, 2]}", "features: {shape: [1]}"},
        {"      - {op: normalize, in: image, scale: 1/255}\n      - {op: flatten}\n", ""},
        {"{op: linear, units: 4}", "{op: linear, in: features, units: " + units + "}"}}) {
    text.replace(text.find(from), from.size(), to);
  }
  std::string errors = SessionErrors(ModelOf(text));
  for (size_t at; (at = errors.find(folder)) != errors.npos;) errors.erase(at, folder.size());
  return errors;
}

TEST(LabelCheck, LabelsOfATableAreKnownByTheirLines) {
  const std::string large = ErrorsOfTable("1,0\n2,1\n3,7\n4,0\n5,5\n", "2");
  EXPECT_NE(large.find("error: /t.csv:4:3: sample 2 has the label 7, but the 2 classes of "
                       "softmax_cross_entropy are 0 to 1, as its logits have 2 units; and 1 more "
                       "sample has such labels: 5 (/t.csv:6:3)\n"),
            std::string::npos)
      << large;
  EXPECT_NE(large.find("or check the data: /t.csv:4:3\n"), std::string::npos) << large;
  const std::string negative = ErrorsOfTable("1,0\n2,1\n3,-1\n", "2");
  EXPECT_NE(negative.find("/t.csv:4:3: error: sample 2 has the label -1, but"), std::string::npos)
      << negative;
}

TEST(LabelCheck, LabelsFromOneAreToBeginWithZero) {
  const std::string two = ErrorsOfTable("1,1\n2,2\n3,2\n", "2");
  EXPECT_NE(two.find("/t.csv:3:3: error: sample 1 has the label 2, but"), std::string::npos) << two;
  EXPECT_NE(
      two.find("help: labels count from 0: write 0 for 1 and 1 for 2; or `classes: [1, 2]` in "
               "`data.train` makes them names\n"),
      std::string::npos)
      << two;
  const std::string four = ErrorsOf(std::string("\1\2\3\4\1\2\3\4", 8));
  EXPECT_NE(four.find("help: labels count from 0: write 0 for 1, and so on to 3 for 4\n"),
            std::string::npos)
      << four;
  const std::string with_zero = ErrorsOfTable("1,0\n2,1\n3,2\n", "2");
  EXPECT_EQ(with_zero.find("labels count from 0"), std::string::npos) << with_zero;
}

TEST(LabelCheck, NamesThatAreTooManyAreListed) {
  const std::string errors = ErrorsOfTable("1,cat\n2,dog\n3,catt\n4,cat\n5,dog\n6,dog\n", "2");
  EXPECT_NE(errors.find("has the label 2 ('dog'), but the 2 classes"), std::string::npos) << errors;
  EXPECT_NE(errors.find("; the labels are 'cat', 'catt', 'dog'\n"), std::string::npos) << errors;
}

TEST(LabelCheck, UnitsThatNoLabelNamesAreWarnedOf) {
  const std::string spare = ErrorsOf(std::string("\0\1\2\0\0\1\2\2", 8));
  EXPECT_EQ(
      spare,
      "small.yaml:15:22: warning: the logits have 4 units, but the labels of the training data "
      "are 0 to 2\n"
      "          - logits: {op: linear, units: 4}\n"
      "                         ^~~~~~\n"
      "help: write `units: 3` here, unless other data have more classes\n");
  EXPECT_EQ(ErrorsOf(std::string("\0\1\2\0\0\1\2\2", 8), /*train=*/false), "");
  const std::string named = ErrorsOfTable("1,cat\n2,dog\n", "3");
  EXPECT_NE(named.find("the labels of the training data are 0 to 1\n"), std::string::npos) << named;
}

TEST(LabelCheck, NegativeLabelsNameNoClass) {
  const std::string errors = ErrorsOf(std::string("\0\1\xFF\3\0\1\2\3", 8));
  EXPECT_NE(errors.find("sample 2 has the label -1"), std::string::npos) << errors;
}

// The errors of the model with these labels where the loss and the metric ignore some.
std::string ErrorsIgnoring(const std::string& labels, const std::string& loss,
                           const std::string& metric) {
  std::string text = kModel;
  const auto ignore = [&](const std::string& op, const std::string& ignored) {
    const std::string in = op + "in: [logits, label]";
    const size_t at = text.find(in) + in.size();
    if (!ignored.empty()) text.insert(at, ", ignore_label: " + ignored);
  };
  ignore("softmax_cross_entropy, ", loss);
  ignore("accuracy: {", metric);
  return ErrorsOf(labels, true, text);
}

TEST(LabelCheck, IgnoredLabelsNeedNoClass) {
  const std::string labels("\0\1\xFF\3\0\1\2\3", 8);
  EXPECT_EQ(ErrorsIgnoring(labels, "-1", "-1"), "");
  EXPECT_EQ(ErrorsIgnoring(labels, "[-1, 7]", "[-1]"), "");
  const std::string metric = ErrorsIgnoring(labels, "-1", "");
  EXPECT_NE(metric.find("sample 2 has the label -1, but the 4 classes of accuracy are 0 to 3"),
            std::string::npos)
      << metric;
  EXPECT_NE(metric.find("`ignore_label: -1` of accuracy leaves such labels out"), std::string::npos)
      << metric;
  const std::string loss = ErrorsIgnoring(labels, "", "-1");
  EXPECT_NE(loss.find("the 4 classes of softmax_cross_entropy"), std::string::npos) << loss;
}

// They count no label without a class anyway; but none is without one by mistake.
TEST(LabelCheck, MetricsOfClassesLeaveOutWhatTheLossIgnores) {
  std::string text = kModel;
  const std::string accuracy = "accuracy: {in: [logits, label]";
  text.replace(text.find(accuracy), accuracy.size(), "recall: {in: [logits, label]");
  const std::string labels("\0\1\xFF\3\0\1\2\3", 8);
  EXPECT_NE(ErrorsOf(labels, true, text).find("sample 2 has the label -1"), std::string::npos);
  const std::string loss = "softmax_cross_entropy, in: [logits, label]";
  text.insert(text.find(loss) + loss.size(), ", ignore_label: -1");
  EXPECT_EQ(ErrorsOf(labels, true, text), "");
}

TEST(LabelCheck, LabelsBehindAnIgnoredOneAreFound) {
  const std::string large = ErrorsIgnoring(std::string("\0\1\x7F\3\0\5\2\3", 8), "127", "127");
  EXPECT_NE(large.find("sample 5 has the label 5"), std::string::npos) << large;
  const std::string small = ErrorsIgnoring(std::string("\0\xFE\xF0\3\0\1\2\3", 8), "-16", "-16");
  EXPECT_NE(small.find("sample 1 has the label -2"), std::string::npos) << small;
}

// As a mask is with its image.
TEST(LabelCheck, LabelsAreFoundBehindOperatorsThatMoveThem) {
  const std::string wrong("\0\1\2\3\0\7\2\3", 8);
  const auto errors = [&](const std::string& ops) {
    std::string text = kModel;
    text.replace(text.find("      - {op: normalize"), 0, ops);
    text.replace(text.find("[logits, label]"), 15, "[logits, moved]");
    return ErrorsOf(wrong, true, text);
  };
  const std::string moved = errors(
      "      - {op: reshape, in: label, shape: [1, 1]}\n"
      "      - {op: random_flip, axes: [-1]}\n"
      "      - {op: random_crop, size: 1}\n"
      "      - moved: {op: reshape, shape: []}\n");
  EXPECT_NE(moved.find("sample 5 has the label 7, but the 4 classes of softmax_cross_entropy"),
            std::string::npos)
      << moved;
  EXPECT_EQ(moved.find("accuracy"), std::string::npos) << moved;
}

TEST(LabelCheck, BinaryLabelsAreNoughtAndOne) {
  std::string text = kModel;
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"softmax_cross_entropy, in: [logits",
                                            "binary_cross_entropy, in: [score"},
        {"{accuracy: {in: [logits, label]}}", "{}"},
        {"- logits: {op: linear, units: 4}",
         "- {op: linear, units: 1}\n      - score: {op: reshape, shape: []}"}}) {
    text.replace(text.find(from), from.size(), to);
  }
  EXPECT_EQ(ErrorsOf(std::string("\0\1\0\1\0\1\1\1", 8), true, text), "");
  const std::string errors = ErrorsOf(std::string("\0\1\0\1\0\2\1\1", 8), true, text);
  EXPECT_NE(errors.find("sample 5 has the label 2, but the labels of binary_cross_entropy are 0 "
                        "and 1"),
            std::string::npos)
      << errors;
}

TEST(LabelCheck, IdsNameEntriesOfATable) {
  const auto errors = [](const std::string& ids) { return ErrorsOf(ids, true, kTable); };
  EXPECT_EQ(errors(std::string("\0\1\2\3\0\1\2\3", 8)), "");
  const std::string large = errors(std::string("\0\1\2\3\0\7\2\7", 8));
  EXPECT_NE(large.find("sample 5 has the id 7, but the 4 entries of embedding are 0 to 3"),
            std::string::npos)
      << large;
  EXPECT_NE(large.find("`entries: 8` here"), std::string::npos) << large;
  const std::string negative = errors(std::string("\0\1\xFF\3\0\1\2\3", 8));
  EXPECT_NE(negative.find("sample 2 has the id -1"), std::string::npos) << negative;
}

// The errors of a model of bytes, whose inputs have the type `type`, with text up to 'z'.
std::string ErrorsOfText(const std::string& type, const std::string& entries,
                         const std::string& units) {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/text") << "to be lazy or so";
  std::string text = kText;
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"TEXT", folder + "/text"},
                                   {"TYPE", type},
                                   {"TYPE", type},
                                   {"ENTRIES", entries},
                                   {"UNITS", units}}) {
    text.replace(text.find(key), key.size(), value);
  }
  return SessionErrors(ModelOf(text));
}

// The errors of a table of names and labels, whose names are read by `op`.
std::string ErrorsOfNames(const std::string& rows, const std::string& op) {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/table.csv") << rows;
  const std::string text = R"(cgrun: 1
model: names
data: {train: {format: csv, file: )" +
                           folder + R"(/table.csv, categories: [name], label: value}}
inputs:
  name: {type: int32, shape: []}
  value: {shape: [1]}
paths:
  p:
    ops:
      - row: )" + op + R"(
      - y: {op: linear, in: row, units: 1}
    loss: {op: binary_cross_entropy, in: [y, value]}
train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.05}}
)";
  std::string errors = SessionErrors(ModelOf(text));
  for (size_t at; (at = errors.find(folder)) != errors.npos;) errors.erase(at, folder.size());
  return errors;
}

TEST(LabelCheck, NamesWithoutARowOfOneHotAreFound) {
  const std::string rows = "name,value\nann,0\nbob,1\neve,0.5\nann,1\n";
  EXPECT_EQ(ErrorsOfNames(rows, "{op: one_hot, in: name, classes: 4}"), "");
  const std::string few = ErrorsOfNames(rows, "{op: one_hot, in: name, classes: 3}");
  EXPECT_NE(few.find("sample 2 has the id 3 ('eve'), but the 3 classes of one_hot are 0 to 2"),
            std::string::npos)
      << few;
  EXPECT_NE(few.find("write `classes: 4` here"), std::string::npos) << few;
}

TEST(LabelCheck, TargetsOfBinaryLossesAreProbabilities) {
  const std::string op = "{op: one_hot, in: name, classes: 4}";
  const std::string errors = ErrorsOfNames("name,value\nann,1\nbob,2\nann,0\nbob,-3\n", op);
  EXPECT_NE(errors.find("sample 1 has the target 2, but those of binary_cross_entropy are from 0 "
                        "to 1; and 1 more sample has such targets"),
            std::string::npos)
      << errors;
  EXPECT_EQ(ErrorsOfNames("name,value\nann,1\nbob,0\nann,0.25\nbob,1\n", op), "");
  EXPECT_EQ(ErrorsOfNames("name,value\nann,1.0000001\nbob,-1.2e-7\nann,0\nbob,1\n", op), "");
  const std::string near = ErrorsOfNames("name,value\nann,1.00001\nbob,0\nann,0\nbob,1\n", op);
  EXPECT_NE(near.find("has the target 1.00001"), std::string::npos) << near;
}

TEST(LabelCheck, BytesAreLabelsAndIdsInEveryIntegerType) {
  for (const std::string type : {"uint8", "int32", "int64"}) {
    EXPECT_EQ(ErrorsOfText(type, "123", "123"), "") << type;  // 'z' is 122
    const std::string units = ErrorsOfText(type, "256", "100");
    EXPECT_NE(units.find("small.yaml:12:14: error: "), std::string::npos) << units;
    EXPECT_NE(units.find("/text:1:9: sample 1 has the label 122 ('z'), but the 100 classes of "
                         "softmax_cross_entropy are 0 to 99"),
              std::string::npos)
        << units;
    EXPECT_NE(units.find("^"), std::string::npos) << units;
    const std::string entries = ErrorsOfText(type, "50", "256");
    EXPECT_NE(entries.find("/text:1:9: sample 2 has the id 122 ('z'), but the 50 entries of "
                           "embedding are 0 to 49"),
              std::string::npos)
        << entries;
    EXPECT_NE(entries.find("`entries: 123`"), std::string::npos) << entries;
  }
}

// Data that are made as they go do not know their labels: the loss shows it.
TEST(LabelCheck, ALossThatIsNotFiniteNamesTheLabel) {
  try {
    TrainModel(SmallModel({"data.train.classes=9"}));
    FAIL() << "a label out of range passed";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("path 'classify' is not finite in step 1"),
              std::string::npos);
    EXPECT_NE(error.help().find("of the training data has the label "), std::string::npos)
        << error.help();
    EXPECT_NE(error.help().find("the 4 classes of softmax_cross_entropy are 0 to 3"),
              std::string::npos)
        << error.help();
  }
}

TEST(LabelCheck, ALossThatIsNotFiniteForAnotherReasonNamesNoLabel) {
  try {
    TrainModel(SmallModel({"train.optimizer.lr=1e30"}));
    FAIL() << "a loss that is not finite passed";
  } catch (const UserError& error) {
    EXPECT_NE(error.help().find("a smaller learning rate"), std::string::npos) << error.help();
  }
}

}  // namespace
}  // namespace cgrun
