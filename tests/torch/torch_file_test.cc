// Files of PyTorch: what they hold, and what is refused. Each attack on a reader of pickles has a
// case.
#include "src/torch/torch_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "src/torch/weights_file.h"
#include "tests/io/test_files.h"
#include "tests/torch/torch_files.h"

namespace cgrun::torch {
namespace {

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};

std::vector<float> FloatsOf(TensorFile& file) {
  std::vector<float> values;
  file.ReadParts([&](std::span<const std::byte> part) {
    for (size_t i = 0; i < part.size(); i += 4) values.push_back(LoadLittle<float>(&part[i]));
  });
  return values;
}

class TorchFileTest : public testing::Test {
 protected:
  std::string Zip(const Entries& entries, bool compress = false) {
    WriteZip(folder_ / "m.pth", entries, compress);
    return folder_ / "m.pth";
  }
  // The error of a file whose state is pickled as `opcodes`.
  std::string PickleError(const std::string& opcodes) {
    return ErrorOfFile(Zip({{"model/data.pkl", Pickled(opcodes)}, {"model/data/0", Floats(kSix)}}));
  }
  std::string ErrorOfFile(const std::string& path) {
    return folder_.Anonymous(ErrorOf([&] { TorchFile file(path); }));
  }
  std::string TensorError(const PickledTensor& tensor) {
    return PickleError(OrderedDict(Text("w") + Opcodes(tensor)));
  }

  TempFolder folder_;
};

TEST_F(TorchFileTest, AnArchiveGivesItsTensorsInTheirOrder) {
  const std::string pairs = Text("fc.weight") + Opcodes({}) + Text("fc.bias") +
                            Opcodes({.sizes = {3}, .strides = {1}, .offset = 2});
  TorchFile file(Zip(ArchiveOf(pairs, Floats(kSix))));
  ASSERT_EQ(file.tensors().size(), 2);
  EXPECT_EQ(file.tensors()[0].name, "fc.weight");
  EXPECT_EQ(file.tensors()[0].shape, Shape::Of({2, 3}));
  EXPECT_EQ(FloatsOf(file), kSix);
  EXPECT_EQ(file.tensors()[1].name, "fc.bias");
  EXPECT_EQ(FloatsOf(file), (std::vector<float>{2, 3, 4}));
}

TEST_F(TorchFileTest, AViewIsReadInTheOrderOfItsElements) {
  const std::string pairs = Text("w") + Opcodes({.sizes = {3, 2}, .strides = {1, 3}});
  TorchFile file(Zip(ArchiveOf(pairs, Floats(kSix))));
  EXPECT_EQ(FloatsOf(file), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST_F(TorchFileTest, AFileOfBeforeVersion16IsRead) {
  const std::string pairs =
      Text("w") + Opcodes({}, true) + Text("b") +
      Opcodes({.key = "1", .sizes = {1}, .strides = {1}, .elements = 1}, true);
  WriteBytes(folder_ / "m.pth", OldFile(pairs, {{"0", Floats(kSix)}, {"1", Floats({7})}}));
  TorchFile file(folder_ / "m.pth");
  EXPECT_EQ(FloatsOf(file), kSix);
  EXPECT_EQ(FloatsOf(file), std::vector<float>{7});
}

TEST_F(TorchFileTest, ACheckpointsTensorsHaveNamesWithDots) {
  const std::string state = Text("state_dict") + OrderedDict(Text("w") + Opcodes({}));
  TorchFile file(Zip(ArchiveOf(Text("epoch") + Int(3) + state, Floats(kSix))));
  ASSERT_EQ(file.tensors().size(), 1);
  EXPECT_EQ(file.tensors()[0].name, "state_dict.w");
}

TEST_F(TorchFileTest, TheContentsTellTheFormat) {
  Zip(ArchiveOf(Text("w") + Opcodes({}), Floats(kSix)));
  std::filesystem::rename(folder_ / "m.pth", folder_ / "weights");
  EXPECT_EQ(OpenWeightsFile(folder_ / "weights")->tensors()[0].name, "w");
  EXPECT_TRUE(ReadWeightsMetadata(folder_ / "weights").empty());
}

TEST_F(TorchFileTest, NothingIsCalled) {
  EXPECT_EQ(PickleError(Name("os", "system") + Tuple(Text("true")) + "R"),
            "'DIR/m.pth': byte 46: 'os.system' is asked for, and only tensors are read\n"
            "help: in PyTorch, `torch.save(model.state_dict(), 'FILE.pth')` writes tensors alone");
  EXPECT_NE(PickleError(Text("builtins") + Text("eval") + "\x93").find("'builtins.eval' is asked"),
            std::string::npos);
  EXPECT_NE(
      PickleError(Name("torch", "FloatStorage") + ")R").find("'torch.FloatStorage' is called"),
      std::string::npos);
}

TEST_F(TorchFileTest, OtherOpcodesAreRefused) {
  for (const std::string opcode : {"i", "o", "\x81", "\x92", "P", "I1\n", "0", "2", "\x82\x01"}) {
    EXPECT_NE(PickleError("(" + opcode).find("there is the opcode 0x"), std::string::npos)
        << opcode;
  }
}

TEST_F(TorchFileTest, PicklesWithoutSenseAreRefused) {
  for (const std::string& opcodes :
       {std::string(""), std::string("t"), std::string("R"), std::string("Q"), std::string("h\x05"),
        std::string("]Ka"
                    "s"),
        std::string("(Xu"), std::string("}(K\1u"), std::string("Nb"), Tuple("") + "Q",
        Name("collections", "OrderedDict") + "(]Nat" + "R",
        Name("torch._utils", "_rebuild_tensor_v2") + ")R"}) {
    EXPECT_NE(PickleError(opcodes), "no error") << testing::PrintToString(opcodes);
  }
}

TEST_F(TorchFileTest, ATensorMustLieInItsStorage) {
  constexpr char kOutside[] =
      "'DIR/m.pth' has the tensor 'w', which does not lie in its storage\n"
      "help: the file is damaged";
  EXPECT_EQ(TensorError({.offset = 1}), kOutside);
  EXPECT_EQ(TensorError({.offset = -1}), kOutside);
  EXPECT_EQ(TensorError({.strides = {3, -1}}), kOutside);
  EXPECT_EQ(TensorError({.strides = {1}}), kOutside);
  EXPECT_EQ(TensorError({.sizes = {2, -3}}), kOutside);
  EXPECT_EQ(TensorError({.sizes = {1 << 30, 1 << 30}, .strides = {0, 0}}), "no error");
  EXPECT_EQ(TensorError({.sizes = {1 << 30, 1 << 30, 8}, .strides = {0, 0, 0}}), kOutside);
  EXPECT_NE(TensorError({.elements = 7}).find("does not have all bytes of the tensor 'w'"),
            std::string::npos);
  EXPECT_NE(TensorError({.key = "1"}).find("does not have all bytes"), std::string::npos);
  EXPECT_NE(TensorError({.type = "ComplexFloatStorage"})
                .find("'torch.ComplexFloatStorage', which is not"),
            std::string::npos);
}

// Dicts that hold one another twice would be walked through 2^n times.
TEST_F(TorchFileTest, APartThatStandsTwiceIsRefused) {
  std::string opcodes = "}q\1";
  for (char level = 1; level < 60; ++level) {
    const std::string recall = std::string("h") + level, next = std::string("q") + char(level + 1);
    opcodes += "}" + next + "(" + Text("a") + recall + Text("b") + recall + "u";
  }
  EXPECT_NE(PickleError(opcodes).find("holds a part twice"), std::string::npos);
}

// A dict that is asked for again and again, in four bytes each, would fill the memory.
TEST_F(TorchFileTest, PairsThatAreNamedAgainAreCounted) {
  std::string pairs;
  for (int i = 0; i < 1000; ++i) pairs += "NN\x86";
  std::string opcodes = "](" + pairs + "e\x85q\1" + Name("collections", "OrderedDict") + "q\2";
  for (int i = 0; i < 2000; ++i) opcodes += "h\2h\1R";
  EXPECT_NE(PickleError(opcodes), "no error");
}

TEST_F(TorchFileTest, DeepPartsAreRefused) {
  std::string opcodes = Opcodes({});
  for (int i = 0; i < 100; ++i) opcodes = "}(" + Text("a") + opcodes + "u";
  EXPECT_NE(PickleError(opcodes).find("is nested too deeply"), std::string::npos);
}

TEST_F(TorchFileTest, DeepPartsAreRefusedWhereTheyBegin) {
  const std::string error = PickleError(std::string(1000, '(') + std::string(1000, '1'));
  EXPECT_EQ(error, "'DIR/m.pth': byte 206: the pickle is nested too deeply");
  const std::string tuples = PickleError(")" + std::string(1000, '\x85'));
  EXPECT_NE(tuples.find("the pickle is nested too deeply"), std::string::npos) << tuples;
  const std::string lists = PickleError(std::string(500, ']') + std::string(499, 'a'));
  EXPECT_NE(lists.find("the pickle is nested too deeply"), std::string::npos) << lists;
}

// The values would take 72 bytes for each byte of the file.
TEST_F(TorchFileTest, MoreValuesThanTensorsHaveAreRefused) {
  const std::string error = PickleError(std::string(2'000'000, ']'));
  EXPECT_NE(error.find("the pickle has more than 932067 values, and only tensors are read"),
            std::string::npos)
      << error;
}

TEST_F(TorchFileTest, DamageIsFound) {
  const std::string path = Zip(ArchiveOf(Text("w") + Opcodes({}), Floats(kSix)));
  std::string bytes = ReadBytes(path);
  bytes[bytes.find(Floats({3}))] ^= 1;
  WriteBytes(path, bytes);
  TorchFile file(path);
  EXPECT_NE(ErrorOf([&] { FloatsOf(file); }).find("'model/data/0' is not as its checksum says"),
            std::string::npos);
  WriteBytes(path, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(ErrorOfFile(path),
            "'DIR/m.pth' is no whole zip archive\nhelp: the file is cut off or damaged");
}

TEST_F(TorchFileTest, OtherArchivesAreRefused) {
  EXPECT_EQ(ErrorOfFile(Zip({{"word/document.xml", "<w/>"}})),
            "'DIR/m.pth' is a zip archive that `torch.save` did not write\n"
            "help: it has no entry 'data.pkl'");
  EXPECT_NE(ErrorOfFile(Zip(ArchiveOf("", std::string(999, 'a')), true)).find("compressed entry"),
            std::string::npos);
  EXPECT_NE(ErrorOfFile(Zip({{"a/data.pkl", ""}, {"a/data.pkl", ""}})).find("two entries"),
            std::string::npos);
  EXPECT_NE(ErrorOfFile(Zip({{"a/data.pkl", Pickled("}")}, {"a/byteorder", "big"}}))
                .find("whose first byte is the highest"),
            std::string::npos);
}

TEST_F(TorchFileTest, AnOldFilesStoragesMustBeWhole) {
  const std::string pairs = Text("w") + Opcodes({}, true);
  const std::string whole = OldFile(pairs, {{"0", Floats(kSix)}});
  WriteBytes(folder_ / "m.pth", whole.substr(0, whole.size() - 1));
  EXPECT_NE(ErrorOfFile(folder_ / "m.pth").find("not as long as its tensors say"),
            std::string::npos);
  WriteBytes(folder_ / "m.pth", OldFile(pairs, {}));
  EXPECT_NE(ErrorOfFile(folder_ / "m.pth").find("does not have all bytes"), std::string::npos);
}

}  // namespace
}  // namespace cgrun::torch
