// Tests image folders: classes, lists of labels, decoding ahead and while reading, errors, memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "src/base/allocation_counter.h"
#include "src/data/image_file.h"
#include "tests/data/dataset_testing.h"
#include "tests/data/memory_testing.h"
#include "tests/data/test_images.h"

namespace cgrun {
namespace {

const std::string kRed = EncodePng(TestImage::Constant(9, 7, {255, 0, 0}));
const std::string kGreen = EncodeJpeg(TestImage::Constant(20, 30, {0, 255, 0}));

const std::string kFetchAgain = "help: copy or fetch the file again, or leave it out\n";

// Builds a folder `f` of images, for an input of [3, 4, 4] and a label.
class ImagesBuilder : public DatasetBuilder {
 public:
  explicit ImagesBuilder(bool labelled = true) : DatasetBuilder("images") {
    Set("folder", "f");
    Input("image", DType::kU8, {3, 4, 4});
    if (labelled) Input("label", DType::kI32, {});
  }
  ImagesBuilder& Two() {
    File("f/red/a.png", kRed);
    File("f/green/b.JPG", kGreen);
    return *this;
  }
};

int32_t LabelOf(const Dataset& set, int64_t index) { return ReadField<int32_t>(set, index, 1)[0]; }

TEST(ImagesTest, FoldersAreClasses) {
  for (const char* decode : {"ahead", "stream"}) {
    ImagesBuilder builder;
    builder.Two()
        .File("f/red/c.jpeg", EncodeJpeg(TestImage::Constant(50, 4, {255, 0, 0})))
        .File("f/red/.hidden.png", "no image")
        .File("f/.git/x.png", "no image")
        .File("f/__MACOSX/red/._a.png", "no image")
        .File("f/__MACOSX/b.png", "no image")
        .File("f/red/notes.txt", "no image")
        .File("f/LICENSE", "text")
        .Set("decode", decode);
    const Opened opened = builder.Open();
    ASSERT_EQ(opened.errors, "");
    const Dataset& set = *opened.dataset;
    EXPECT_EQ(set.fields(), (std::vector<DataField>{{"image", DType::kU8, {3, 4, 4}},
                                                    {"label", DType::kI32, {}}}));
    ASSERT_EQ(set.size(), 3);
    EXPECT_EQ(LabelOf(set, 0), 0);
    EXPECT_EQ(LabelOf(set, 1), 1);
    EXPECT_EQ(LabelOf(set, 2), 1);
    EXPECT_EQ(set.ClassNames(1)[0], "green");
    EXPECT_EQ(RangeOf(set, 1)->largest.value, 1);
    EXPECT_EQ(RangeOf(set, 1)->largest.sample, 1);
    std::vector<uint8_t> red(48, 0);
    std::fill(red.begin(), red.begin() + 16, 255);
    EXPECT_EQ(ReadField<uint8_t>(set, 1, 0), red);
    const std::vector<uint8_t> jpeg = ReadField<uint8_t>(set, 2, 0);
    for (size_t i = 0; i < jpeg.size(); ++i) EXPECT_NEAR(jpeg[i], red[i], 3);
    if (decode[0] == 'a') {
      EXPECT_EQ(set.decoded_bytes(), 3 * 52);
    }
  }
}

TEST(ImagesTest, ALinkToNothingIsAnImageThatCannotBeOpened) {
  ImagesBuilder builder;
  builder.Two();
  std::filesystem::create_symlink("moved.png", builder.folder() + "/f/red/link.png");
  EXPECT_NE(builder.Open().errors.find("DIR/f/red/link.png"), std::string::npos)
      << builder.Open().errors;
  builder.File("f/red/moved.png", kRed);
  const Opened opened = builder.Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->size(), 4);  // the image counts, and the link to it
}

TEST(ImagesTest, ImagesBelowTheFolderOfAClassAreWarnedOf) {
  ImagesBuilder builder;
  builder.Two().File("f/red/more/a.png", kRed).File("f/red/notes/readme.txt", "text");
  const Opened opened = builder.Open();
  ASSERT_NE(opened.dataset, nullptr);
  EXPECT_EQ(opened.dataset->size(), 2);
  EXPECT_EQ(opened.errors,
            "warning: 'DIR/f/red': the images in its folder 'more' are left out\n"
            "help: the images of a class lie in its folder itself\n");
}

TEST(ImagesTest, BothWaysOfDecodingGiveTheSame) {
  ImagesBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const TestImage image = TestImage::Smooth(5 + 7 * i % 40, 3 + 11 * i % 50, i % 3 == 0 ? 1 : 3);
    const std::string tiff = ExifTiff(1 + i % 8, i % 2 == 0);
    builder.File("f/" + std::to_string(i % 2) + "/" + std::to_string(i) + ".jpg",
                 i % 5 == 0 ? EncodePng(image, tiff) : EncodeJpeg(image, tiff));
  }
  for (const char* fit : {"cover", "contain", "stretch"}) {
    const Opened ahead = builder.Set("resize", fit).Set("decode", "ahead").Open();
    const Opened stream = builder.Set("decode", "stream").Open();
    ASSERT_EQ(ahead.errors + stream.errors, "");
    for (int64_t i = 0; i < 30; ++i) {
      EXPECT_EQ(ReadSample(*ahead.dataset, i), ReadSample(*stream.dataset, i)) << i;
    }
  }
}

TEST(ImagesTest, ManyThreadsReadAtOnceWithoutTheHeap) {
  ImagesBuilder builder;
  builder.Two().Set("decode", "stream");
  const Opened opened = builder.Open();
  ASSERT_EQ(opened.errors, "");
  const std::vector<std::string> expected[] = {ReadSample(*opened.dataset, 0),
                                               ReadSample(*opened.dataset, 1)};
  std::byte image[48], label[4];
  const std::span<std::byte> out[] = {image, label};
  const int64_t before = CurrentHeapUse().allocations;
  for (int i = 0; i < 10; ++i) opened.dataset->Read(i % 2, out);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 5; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) {
          wrong += ReadSample(*opened.dataset, (i + t) % 2) != expected[(i + t) % 2];
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ImagesTest, WithoutALabelAnyFolderWill) {
  ImagesBuilder flat(false);
  flat.File("f/a.png", kRed).File("f/b.jpg", kGreen);
  EXPECT_EQ(flat.Open().dataset->size(), 2);
  ImagesBuilder classes(false);
  EXPECT_EQ(classes.Two().Open().dataset->fields().size(), 1u);
}

TEST(ImagesTest, AFileTellsTheLabels) {
  ImagesBuilder builder;
  builder.File("f/a.png", kRed).File("f/b.jpg", kGreen).File("f/unused.png", "no image");
  builder.Set("labels", "l.csv");
  builder.File("l.csv", "name,label\nb.jpg,tree\na.png,\"apple, red\"\n");
  const Opened names = builder.Open();
  ASSERT_EQ(names.errors, "");
  EXPECT_EQ(LabelOf(*names.dataset, 0), 1);
  EXPECT_EQ(LabelOf(*names.dataset, 1), 0);
  EXPECT_EQ(names.dataset->ClassNames(1)[0], "apple, red");
  const Opened integers = builder.File("l.csv", "b.jpg,7\na.png,3\n").Open();
  ASSERT_EQ(integers.errors, "");
  EXPECT_EQ(LabelOf(*integers.dataset, 0), 7);
  EXPECT_TRUE(integers.dataset->ClassNames(1).empty());
  EXPECT_EQ(builder.File("l.csv", "b.jpg,7\nc.png,3\nb.jpg,4\na.png,x\na.png\n").Open().errors,
            "DIR/l.csv:2:1: error: 'DIR/f' holds no image 'c.png'\n    c.png,3\n    ^~~~~\n"
            "DIR/l.csv:3:1: error: the image 'b.jpg' has a label already\n    b.jpg,4\n    ^~~~~\n"
            "DIR/l.csv:4:7: error: this label is not an integer, but the one in line 1 is\n"
            "    a.png,x\n          ^\n"
            "help: if they are names all the same, list them: `classes: [a, b, c]`\n"
            "DIR/l.csv:5:1: error: this line has no label\n    a.png\n    ^~~~~\n"
            "help: a line is `NAME,LABEL`, separated by a comma\n");
  const std::string near = builder.File("l.csv", "name,label\nA.PNG,1\nb,2\nx,3\n").Open().errors;
  EXPECT_EQ(near,
            "DIR/l.csv:2:1: error: 'DIR/f' holds no image 'A.PNG'; and 1 more such line: 'b' "
            "('b.jpg'?) in line 3\n    A.PNG,1\n    ^~~~~\n"
            "help: did you mean 'a.png'?\n"
            "DIR/l.csv:4:1: error: 'DIR/f' holds no image 'x'\n    x,3\n    ^\n");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "f/" + std::to_string(i) + ".png,1\n";
  EXPECT_EQ(builder.File("l.csv", many).Open().errors,
            "DIR/l.csv:1:1: error: 'DIR/f' holds no image 'f/0.png'; and 1999 more such lines: "
            "'f/1.png' in line 2, 'f/2.png' in line 3, 'f/3.png' in line 4, …\n"
            "    f/0.png,1\n    ^~~~~~~\n");
  EXPECT_NE(builder.File("l.csv", "f/a.png,1\n")
                .Open()
                .errors.find(
                    "help: write 'a.png': the lines name files of the folder, without folders\n"),
            std::string::npos);
  EXPECT_EQ(builder.File("l.csv", "b.jpg,tre\n").Train(*names.dataset).Open().errors,
            "DIR/l.csv:1:7: error: 'tre' is none of the classes of the training data\n"
            "    b.jpg,tre\n          ^~~\nhelp: did you mean 'tree'?\n");
  EXPECT_EQ(builder.File("l.csv", "b.jpg,tree\n").Train(*integers.dataset).Open().errors,
            "DIR/l.csv:1:7: error: 'tree' is not an integer of 32 bits\n"
            "    b.jpg,tree\n          ^~~~\nhelp: the labels of the training data are integers\n");
}

TEST(ImagesTest, LabelsInAListAreInUtf8) {
  ImagesBuilder builder;
  builder.File("f/a.png", kRed).Set("labels", "l.csv").File("l.csv", "a.png,caf\xE9\n");
  EXPECT_EQ(builder.Open().errors,
            "DIR/l.csv:1:7: error: the label 'caf?' is not in UTF-8: its byte 0xE9 is no part of a "
            "character\n    a.png,caf?\n          ^~~~\n"
            "help: save the file as UTF-8, or convert it: `iconv -f latin1 -t utf-8 FILE > NEW`\n");
}

TEST(ImagesTest, OtherSetsHaveTheClassesOfTheTrainingSet) {
  ImagesBuilder train;
  const Opened opened = train.Two().File("f/blue/x.png", kRed).Open();
  ASSERT_EQ(opened.errors, "");
  ImagesBuilder test;
  test.File("f/red/a.png", kRed).File("f/green/b.png", kRed).File("f/Blue/c.png", kRed);
  EXPECT_EQ(test.Train(*opened.dataset).Open().errors,
            "error: 'DIR/f' has no folder 'blue', but the classes of the training data do\n"
            "help: if its folder 'Blue' is meant, call that 'blue'\n"
            "error: 'DIR/f': the folder 'Blue' is none of the classes of the training data\n"
            "help: did you mean 'blue'?\n");
  ImagesBuilder listed;
  listed.Two().Set("classes", "[red, green]");
  const Opened ordered = listed.Open();
  ASSERT_EQ(ordered.errors, "");
  EXPECT_EQ(LabelOf(*ordered.dataset, 0), 1);  // green
}

TEST(ImagesTest, AnEmptyFolderSaysThatOtherDataHaveNoSuchImages) {
  ImagesBuilder train;
  const Opened opened = train.Two().Open();
  ImagesBuilder test;
  test.File("f/red/a.png", kRed).Train(*opened.dataset);
  EXPECT_EQ(test.Open().errors,
            "error: 'DIR/f' has no folder 'green', but the classes of the training data do\n"
            "help: put its images there; where there are none, an empty folder says so\n");
  std::filesystem::create_directory(test.folder() + "/f/green");
  const Opened reds = test.Open();
  ASSERT_EQ(reds.errors, "");
  EXPECT_EQ(reds.dataset->size(), 1);
  EXPECT_EQ(LabelOf(*reds.dataset, 0), 1);
  test.File("f/blue/b.png", kRed);
  EXPECT_EQ(test.Open().errors,
            "error: 'DIR/f': the folder 'blue' is none of the classes of the training data\n"
            "help: a model tells the classes apart that it was trained with: train with such "
            "images, too, or move the folder away\n");
}

TEST(ImagesTest, FoldersAreThoseOfTheListedClasses) {
  ImagesBuilder builder;
  EXPECT_EQ(builder.Two().Set("classes", "[red, green, blue]").Open().errors,
            "error: 'DIR/f' has no folder 'blue', but the classes of the option `classes` do\n"
            "help: put its images there, or leave it out of `classes`\n");
  EXPECT_EQ(builder.Set("classes", "[red]").Open().errors,
            "error: 'DIR/f': the folder 'green' is none of the classes of the option `classes`\n"
            "help: add it to `classes`, or move the folder away\n");
}

TEST(ImagesTest, FoldersThatAreWrong) {
  const auto error = [](DatasetBuilder& builder) { return builder.Open().errors; };
  ImagesBuilder none;
  EXPECT_EQ(error(none.File("g/x.png", kRed)),
            "error: cannot read the folder 'DIR/f': No such file or directory\n");
  EXPECT_EQ(error(none.File("f/notes.txt", "")),
            "error: 'DIR/f' holds no images\n"
            "help: images are files that end in .jpg, .jpeg or .png, in a folder for each class\n");
  ImagesBuilder flat;
  EXPECT_EQ(error(flat.File("f/a.png", kRed).File("f/b.png", kRed)),
            "error: 'DIR/f': the images 'a.png', 'b.png' lie in no folder of a class\n"
            "help: the images of each class have a folder; or else `labels: FILE.csv` tells the "
            "label of each image\n");
  ImagesBuilder beside;
  EXPECT_EQ(error(beside.Two().File("f/a.png", kRed)),
            "error: 'DIR/f': the image 'a.png' lies beside the class folders\n"
            "help: the images of each class have a folder; or else `labels: FILE.csv` tells the "
            "label of each image\n");
  ImagesBuilder single;
  EXPECT_EQ(
      error(single.File("f/red/a.png", kRed)),
      "error: 'DIR/f' has a single class, 'red'\n"
      "help: there is nothing to tell apart; `folder` names the folder of the class folders\n");
  ImagesBuilder parent;
  parent.File("f/train/red/a.png", kRed).File("f/test/red/a.png", kRed);
  EXPECT_EQ(error(parent),
            "error: 'DIR/f': the class folder 'test' holds no images\n"
            "help: it holds folders: `folder: f/test` takes them for the classes\n"
            "error: 'DIR/f': the class folder 'train' holds no images\n"
            "help: it holds folders: `folder: f/train` takes them for the classes\n");
  ImagesBuilder webp;
  EXPECT_EQ(error(webp.Two().File("f/red/x.webp", "RIFF")),
            "error: 'DIR/f/red': 'x.webp' is neither JPEG nor PNG\n"
            "help: convert such images, or move them away\n");
}

TEST(ImagesTest, LabelsInAListAreKnownByTheirLines) {
  for (const char* decode : {"ahead", "stream"}) {
    ImagesBuilder builder;
    builder.File("f/a.png", kRed).File("f/b.JPG", kGreen).Set("labels", "l.csv");
    builder.File("l.csv", "name,label\n\nb.JPG,7\na.png,  9\n").Set("decode", decode);
    const Opened opened = builder.Open();
    ASSERT_EQ(opened.errors, "");
    const FieldRange range = *RangeOf(*opened.dataset, 1);
    EXPECT_EQ(range.smallest.mark.ToString(), builder.folder() + "/l.csv:3:7");
    EXPECT_EQ(range.largest.mark.ToString(), builder.folder() + "/l.csv:4:7");
    EXPECT_EQ(range.largest.file, builder.folder() + "/l.csv");
  }
}

TEST(ImagesTest, WhatIsWrongWithFilesIsToldAtOnce) {
  const std::string png = kRed;
  ImagesBuilder builder;
  builder.Two().File("f/red/begun.png", png.substr(0, 20));
  builder.File("f/red/cut.png", png.substr(0, png.size() - 4)).File("f/red/empty.png", "");
  builder.File("f/red/text.png", "see attachment");
  EXPECT_EQ(builder.Open().errors,
            "DIR/f/red/begun.png: error: this image is cut off inside its header\n" + kFetchAgain +
                "DIR/f/red/cut.png: error: this image is cut off\n" + kFetchAgain +
                "DIR/f/red/empty.png: error: this image is empty\n" + kFetchAgain +
                "DIR/f/red/text.png: error: this image is neither a JPEG nor a PNG image\n"
                "help: the ending of its name does not make it one: convert it, or leave it out\n");
}

TEST(ImagesTest, WhatIsWrongWithFilesIsToldBesideWhatIsWrongWithFolders) {
  const std::string begun = kRed.substr(0, 20);
  const std::string fault = ": error: this image is cut off inside its header\n" + kFetchAgain;
  ImagesBuilder train;
  const Opened two = train.Two().Open();
  ImagesBuilder folders;
  folders.Two().File("f/red/begun.png", begun).File("f/red/x.webp", "RIFF");
  EXPECT_EQ(folders.File("f/blue/notes.txt", "").Open().errors,
            "error: 'DIR/f': the class folder 'blue' holds no images\n"
            "help: remove it, or put images into it\n"
            "error: 'DIR/f/red': 'x.webp' is neither JPEG nor PNG\n"
            "help: convert such images, or move them away\n"
            "DIR/f/red/begun.png" +
                fault);
  ImagesBuilder other;
  other.Two().File("f/bird/begun.png", begun).Train(*two.dataset);
  EXPECT_TRUE(other.Open().errors.ends_with("DIR/f/bird/begun.png" + fault));
  ImagesBuilder beside;
  beside.Two().File("f/a.png", begun).File("f/red/begun.png", begun);
  EXPECT_TRUE(
      beside.Open().errors.ends_with("DIR/f/a.png" + fault + "DIR/f/red/begun.png" + fault));
  ImagesBuilder listed;
  listed.File("f/a.png", begun).Set("labels", "l.csv").File("l.csv", "a.png,1\nb.png,2\n");
  EXPECT_EQ(listed.Open().errors,
            "DIR/f/a.png" + fault +
                "DIR/l.csv:2:1: error: 'DIR/f' holds no image 'b.png'\n    b.png,2\n    ^~~~~\n");
}

// No image is to blame for it.
TEST(ImagesTest, AShapeThatNoMemoryHoldsIsToldOnce) {
  const auto errors = [](const Shape& shape, int64_t limit) {
    DatasetBuilder builder("images");
    builder.Set("folder", "f").File("f/red/a.png", kRed).File("f/green/b.png", kGreen);
    builder.Input("image", DType::kU8, shape).Input("label", DType::kI32, {}).Limit(limit);
    return builder.Open().errors;
  };
  const std::string help =
      "help: images of any size are scaled to the input's: give it the size that the model is to "
      "see, as `shape: [3, 224, 224]`\n";
  EXPECT_EQ(
      errors({3, 2000000, 2000000}, int64_t{1} << 34),
      "error: input 'image' is [3, 2000000, 2000000]: to make one such sample takes 10.9 TiB, "
      "more than the 16.0 GiB that are left\n" +
          help);
  // The memory for scaling counts, too.
  EXPECT_EQ(errors({3, 1000, 1000}, 4 << 20).find("error: input 'image' is [3, 1000, 1000]: "), 0u);
  EXPECT_EQ(errors({3, 1000, 1000}, 64 << 20), "");
}

TEST(ImagesTest, OptionsAndInputsThatAreWrong) {
  ImagesBuilder builder;
  EXPECT_EQ(builder.Two().Set("resize", "crop").Open().errors,
            "error: option 'resize' cannot be 'crop'\nhelp: known: cover, contain, stretch\n");
  DatasetBuilder vector("images");
  vector.Set("folder", "f").Input("x", DType::kU8, {48});
  EXPECT_EQ(vector.Open().errors,
            "error: input 'x' is [48], but an image is [channels, height, width], of 1 or 3 "
            "channels\nhelp: for example `image: {type: uint8, shape: [3, 64, 64]}`\n");
  DatasetBuilder four("images");
  four.Set("folder", "f").Input("x", DType::kU8, {4, 8, 8});
  EXPECT_NE(four.Open().errors, "");
  DatasetBuilder flat("images");
  flat.Set("folder", "f").Input("x", DType::kU8, {3, 24});
  EXPECT_EQ(flat.Open().errors,
            "error: input 'x' is [3, 24], but an image is [channels, height, width], of 1 or 3 "
            "channels\nhelp: for example `shape: [3, 24, 24]`\n");
}

TEST(ImagesTest, BrokenFilesAreListedTogether) {
  ImagesBuilder builder;
  builder.Two()
      .File("f/red/b.png", "GIF89a")
      .File("f/red/c.jpg", "")
      .File("f/green/d.png", PngHeader(100000, 100000, 8, 2) + PngChunk("IDAT", "x"));
  for (const char* decode : {"ahead", "stream"}) {
    EXPECT_EQ(builder.Set("decode", decode).Open().errors,
              "DIR/f/green/d.png: error: this image declares 100000 x 100000 pixels, more than 2 "
              "GiB\nhelp: make the image smaller before it is used\n"
              "DIR/f/red/b.png: error: this image is neither a JPEG nor a PNG image\n"
              "help: the ending of its name does not make it one: convert it, or leave it out\n"
              "DIR/f/red/c.jpg: error: this image is empty\n" +
                  kFetchAgain);
  }
  ImagesBuilder many;
  many.Two();
  for (int i = 0; i < 30; ++i) many.File("f/red/" + std::to_string(100 + i) + ".png", "no image");
  const std::string errors = many.Open().errors;
  EXPECT_NE(errors.find("error: 30 of 32 images cannot be used; the first 20 are listed\n"),
            std::string::npos);
  EXPECT_EQ(errors.find("/120.png"), std::string::npos);
}

TEST(ImagesTest, DamagedPixelsAreFoundWhereTheyAreRead) {
  ImagesBuilder builder;
  std::string damaged = EncodePng(TestImage::Noise(40, 40, 3));
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  builder.Two().File("f/red/x.png", damaged);
  EXPECT_EQ(builder.Open().errors,
            "DIR/f/red/x.png: error: this image is damaged: the checksum of its part IDAT is "
            "wrong\n" +
                kFetchAgain);
  const Opened stream = builder.Set("decode", "stream").Open();
  ASSERT_EQ(stream.errors, "");
  const std::string error = ErrorOf([&] { ReadSample(*stream.dataset, 2); });
  EXPECT_EQ(error.substr(error.rfind('/')),
            "/x.png' is damaged: the checksum of its part IDAT is wrong\n" +
                kFetchAgain.substr(0, kFetchAgain.size() - 1));
  ReadSample(*stream.dataset, 1);  // the others can be read
  builder.File("f/red/a.png", kGreen);
  const std::string changed = ErrorOf([&] { ReadSample(*stream.dataset, 1); });
  EXPECT_EQ(changed.substr(changed.rfind('/')), "/a.png' has changed since the run began");
}

TEST(ImagesTest, TheMemoryLimitHoldsBeforeMemoryIsTaken) {
  ImagesBuilder builder;
  builder.Two().File("f/red/large.png", EncodePng(TestImage::Constant(3000, 2000, {1, 2, 3})));
  const int64_t before = CurrentHeapUse().heap_bytes;
  const std::string errors = builder.Limit(10 << 20).Open().errors;
  EXPECT_TRUE(
      errors.starts_with("DIR/f/red/large.png: error: this image of 3000 x 2000 pixels takes "))
      << errors;
  EXPECT_LT(CurrentHeapUse().heap_bytes - before, 1 << 20);
  const Opened stream = builder.Set("decode", "stream").Limit(400 << 20).Open();
  ASSERT_EQ(stream.errors, "");
  const int64_t bytes = stream.dataset->decoded_bytes();
  EXPECT_EQ(builder.Limit(bytes).Open().errors, "");
  EXPECT_NE(builder.Limit(bytes - 1).Open().errors.find("error: the buffers of 3 images take "),
            std::string::npos);
}

TEST(ImagesTest, OpeningCountsWhatDecodingTakes) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer takes memory by itself";
  constexpr int64_t kNoise = 4 << 20, kPixels = 3000 * 2000;
  ImagesBuilder builder;
  const std::string large = EncodePng(TestImage::Constant(3000, 2000, {1, 2, 3}));
  builder.Two().File("f/red/large.png", large);
  const int64_t one = builder.Open().dataset->opening_bytes();
  builder.File("f/red/large2.png", large);
  Opened opened;
  const int64_t taken = MostTakenBy([&] { opened = builder.Open(); });
  ASSERT_EQ(opened.errors, "");
  const int64_t opening = opened.dataset->opening_bytes();
  EXPECT_GT(taken, 5 * kPixels) << "lines and pixels of three bytes each";
  EXPECT_LT(taken, opening + kNoise);
  EXPECT_GT(opening, one * 3 / 2) << "a thread that decodes a small image needs little";
  // With room for one arena alone, one thread decodes.
  EXPECT_LT(builder.Limit(opening * 2 / 3).Open().dataset->opening_bytes(), opening * 2 / 3);
}

TEST(ImagesTest, DecodedSamplesLieInAFileWhereTheyDoNotFit) {
  ImagesBuilder builder;
  const Opened memory = builder.Two().Open();
  const Opened file = builder.Stream().Open();
  ASSERT_EQ(memory.errors + file.errors, "");
  EXPECT_EQ(file.dataset->decoded_bytes(), 0);
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ReadSample(*file.dataset, i), ReadSample(*memory.dataset, i));
    EXPECT_EQ(file.dataset->PlaceOf(1, i, std::nullopt).file,
              memory.dataset->PlaceOf(1, i, std::nullopt).file);
  }
  EXPECT_NE(file.dataset->Notes().back().find("does not fit in memory ("), std::string::npos);
}

TEST(ImageFileTest, TheArenaIsLargeEnoughForEveryKind) {
  const TempFolder folder;
  const ImageTarget target{3, 24, 24, ImageFit::kCover};
  for (int channels = 1; channels <= 4; ++channels) {
    for (int size : {1, 2, 7, 64, 301}) {
      const TestImage image = TestImage::Noise(size, 302 - size, channels);
      WriteBytes(folder / "x.png", EncodePng(image, ExifTiff(6, true)));
      EXPECT_EQ(ErrorOf([&] { LoadImage(folder / "x.png", target); }), "no error");
      if (channels % 2 == 0) continue;
      WriteBytes(folder / "x.jpg", EncodeJpeg(image, ExifTiff(5, false)));
      EXPECT_EQ(ErrorOf([&] { LoadImage(folder / "x.jpg", target); }), "no error");
    }
  }
}

}  // namespace
}  // namespace cgrun
