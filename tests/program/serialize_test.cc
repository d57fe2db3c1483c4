// Programs in files: what is saved comes back whole, trains to the same weights, and a file of
// another version or with another checksum is refused with its name and with help.
#include "src/program/serialize.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "src/base/diagnostics.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

std::vector<ProgramImage> Images() {
  std::vector<ProgramImage> images = {FusedImage(), IncrementalImage()};
  for (const std::string& model : TinyModels()) {
    images.push_back(TinyImage(model));
    images.push_back(TinyImage(model, /*passes=*/false));
  }
  return images;
}

std::string TempFile(const std::string& name) { return testing::TempDir() + "/" + name; }

// The error of loading these bytes; "" if they load.
UserError ErrorOf(const std::string& bytes) {
  try {
    DeserializeImage(bytes, "dir/m.cgb");
  } catch (const UserError& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return UserError("");
}

TEST(Serialize, WhatIsLoadedIsSavedAgainByteForByte) {
  for (const ProgramImage& image : Images()) {
    const std::string bytes = SerializeImage(image);
    const ProgramImage again = DeserializeImage(bytes, "m.cgb");
    EXPECT_EQ(SerializeImage(again), bytes) << image.model;
    EXPECT_EQ(Disassemble(again), Disassemble(image));
    EXPECT_EQ(VerifyImage(again), std::vector<std::string>());
  }
}

TEST(Serialize, FilesHoldTheBytesAndAreReplacedWhole) {
  const std::string path = TempFile("program.cgb");
  const ProgramImage first = TinyImage("tiny_conv"), second = FusedImage();
  SaveImage(first, path);
  EXPECT_EQ(SerializeImage(LoadImage(path)), SerializeImage(first));
  SaveImage(second, path);
  EXPECT_EQ(SerializeImage(LoadImage(path)), SerializeImage(second));
  EXPECT_EQ(std::filesystem::file_size(path), SerializeImage(second).size());
}

// Train and eval in turn, the partial batch in between: the program from the file is the program.
TEST(Serialize, LoadedProgramsTrainToTheSameBits) {
  for (const ProgramImage& image : Images()) {
    TinyProgram original(image);
    TinyProgram loaded(DeserializeImage(SerializeImage(image), "m.cgb"));
    const int entries = static_cast<int>(image.entries.size());
    std::vector<std::vector<std::byte>> before;
    for (int step = 0; step < 4 * entries; ++step) {
      const RunResult wanted = original.Run(step % entries, step);
      EXPECT_EQ(loaded.Run(step % entries, step), wanted) << image.model << ", step " << step;
      if (image.entries[0].kind == EntryKind::kTrain && step % entries == 0) {
        EXPECT_NE(wanted.states, before) << "nothing was learned";
        before = wanted.states;
      } else if (image.entries[static_cast<size_t>(step % entries)].kind == EntryKind::kEval) {
        EXPECT_EQ(loaded.Run(step % entries, step).states, wanted.states) << "eval learned";
      }
    }
  }
}

TEST(Serialize, OtherVersionsAreRefusedByNumber) {
  std::string bytes = SerializeImage(FusedImage());
  bytes[8] = 9;
  const UserError error = ErrorOf(bytes);
  EXPECT_STREQ(error.what(), "dir/m.cgb: compiled for format 9, not 4");
  EXPECT_EQ(error.help(), "compile it again: `cgrun compile MODEL -o dir/m.cgb`");
}

TEST(Serialize, ForeignFilesAreNoPrograms) {
  std::string bytes = SerializeImage(FusedImage());
  bytes[0] = 'c';
  for (const std::string& wrong : {bytes, std::string(), std::string("cgrun: 1\nmodel: m\n")}) {
    EXPECT_STREQ(ErrorOf(wrong).what(), "dir/m.cgb: this is no compiled program");
  }
}

// The first eight bytes of a file show the damage of a transfer in text mode.
TEST(Serialize, LineEndingsAreWatched) {
  std::string bytes = SerializeImage(FusedImage());
  bytes.erase(bytes.find("\r\n"), 1);
  EXPECT_STREQ(ErrorOf(bytes).what(), "dir/m.cgb: this is no compiled program");
}

TEST(Serialize, EveryChangedByteIsFound) {
  const std::string bytes = SerializeImage(FusedImage());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const std::string error = ErrorOf(changed).what();
    EXPECT_NE(error, "") << "byte " << at;
    if (at < 24) continue;  // the header
    EXPECT_EQ(error, "dir/m.cgb: the checksum does not match");
  }
}

TEST(Serialize, MissingFilesAreErrors) {
  EXPECT_THROW(LoadImage(TempFile("there is none.cgb")), UserError);
  EXPECT_THROW(SaveImage(FusedImage(), TempFile("no/such/folder/m.cgb")), UserError);
}

}  // namespace
}  // namespace cgrun
