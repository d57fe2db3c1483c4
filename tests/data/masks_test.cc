// Images with masks: which mask belongs to which image, what kinds of PNG files are masks, and
// that both are fitted alike.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/allocation_counter.h"
#include "src/data/image_file.h"
#include "tests/data/dataset_testing.h"
#include "tests/data/test_images.h"

namespace cgrun {
namespace {

// Builds a folder `f` of images and a folder `m` of masks, for an input of [3, 4, 4] and one of [4,
// 4].
class MasksBuilder : public DatasetBuilder {
 public:
  explicit MasksBuilder(DType mask = DType::kI32) : DatasetBuilder("images") {
    Set("folder", "f").Set("masks", "m");
    Input("image", DType::kU8, {3, 4, 4}).Input("mask", mask, {4, 4});
  }
  MasksBuilder& Two() {
    Add("a.png", EncodePng(TestImage::Noise(9, 7, 3)), "a.png", EncodePng(Labels(9, 7)));
    Add("b.JPG", EncodeJpeg(TestImage::Smooth(20, 30, 3)), "b.png", EncodePng(Labels(20, 30)));
    return *this;
  }
  MasksBuilder& Add(const std::string& image, const std::string& image_bytes,
                    const std::string& mask, const std::string& mask_bytes) {
    File("f/" + image, image_bytes);
    File("m/" + mask, mask_bytes);
    return *this;
  }

  // The left half has the label 7, and the right half has 3.
  static TestImage Labels(int width, int height) {
    TestImage mask = TestImage::Constant(width, height, {3});
    for (int i = 0; i < width * height; ++i) {
      if (i % width < width / 2) mask.pixels[static_cast<size_t>(i)] = 7;
    }
    return mask;
  }
};

std::vector<int> Ints(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<int> MaskOf(const Dataset& set, int64_t index) {
  if (set.fields()[1].dtype == DType::kU8) return Ints(ReadField<uint8_t>(set, index, 1));
  const std::vector<int32_t> labels = ReadField<int32_t>(set, index, 1);
  return {labels.begin(), labels.end()};
}

TEST(MasksTest, EveryImageHasTheMaskOfItsName) {
  for (const DType dtype : {DType::kI32, DType::kU8}) {
    for (const char* decode : {"ahead", "stream"}) {
      MasksBuilder builder(dtype);
      builder.Two()
          .Add("street/x.jpeg", EncodeJpeg(TestImage::Constant(4, 4, {9, 9, 9})), "street/x.png",
               EncodePng(TestImage::Constant(4, 4, {200})))
          .File("m/.hidden.png", "no image")
          .File("m/notes.txt", "no image")
          .Set("decode", decode);
      const Opened opened = builder.Open();
      ASSERT_EQ(opened.errors, "");
      const Dataset& set = *opened.dataset;
      EXPECT_EQ(set.fields(), (std::vector<DataField>{{"image", DType::kU8, {3, 4, 4}},
                                                      {"mask", dtype, {4, 4}}}));
      ASSERT_EQ(set.size(), 3);
      const std::vector<int> halves = {7, 7, 3, 3, 7, 7, 3, 3, 7, 7, 3, 3, 7, 7, 3, 3};
      EXPECT_EQ(MaskOf(set, 1), halves);
      EXPECT_EQ(MaskOf(set, 2), std::vector<int>(16, 200));
      if (decode[0] == 's') {
        EXPECT_FALSE(RangeOf(set, 1).has_value());
        continue;
      }
      const int64_t elements = 3 * (48 + 16 * SizeOf(dtype));
      EXPECT_GT(set.decoded_bytes(), elements) << "the paths of masks count, too";
      EXPECT_LT(set.decoded_bytes(), elements + 3 * 256);
      const FieldRange range = *RangeOf(set, 1);
      EXPECT_EQ(range.smallest.value, 3);
      EXPECT_EQ(range.smallest.file, builder.folder() + "/m/a.png");
      EXPECT_EQ(range.largest.value, 200);
      EXPECT_EQ(range.largest.sample, 2);
      EXPECT_EQ(range.largest.file, builder.folder() + "/m/street/x.png");
    }
  }
}

// An image and its mask must agree, whatever the sizes and the orientation. The masks hold the
// image's own red, which is one of two colours in large squares.
TEST(MasksTest, ImageAndMaskAreFittedAlike) {
  MasksBuilder builder;
  for (int i = 0; i < 24; ++i) {
    const int width = 60 + 7 * i % 40, height = 50 + 11 * i % 50;
    TestImage image = TestImage::Constant(width, height, {0, 0, 0});
    TestImage mask = TestImage::Constant(width, height, {0});
    for (int at = 0; at < width * height; ++at) {
      const bool bright = (at % width / 20 + at / width / 25 + i) % 3 == 0;
      image.pixels[static_cast<size_t>(3 * at)] = bright ? 250 : 50;
      mask.pixels[static_cast<size_t>(at)] = bright ? 250 : 50;
    }
    const std::string tiff = ExifTiff(1 + i % 8, i % 2 == 0);
    const std::string name = std::to_string(100 + i);
    builder.Add(name + ".png", EncodePng(image, tiff), name + ".png", EncodePng(mask, tiff));
  }
  for (const char* fit : {"cover", "contain", "stretch"}) {
    const Opened ahead = builder.Set("resize", fit).Set("decode", "ahead").Open();
    const Opened stream = builder.Set("decode", "stream").Open();
    ASSERT_EQ(ahead.errors + stream.errors, "");
    int same = 0, bars = 0, pixels = 0;
    for (int64_t i = 0; i < 24; ++i) {
      EXPECT_EQ(ReadSample(*ahead.dataset, i), ReadSample(*stream.dataset, i)) << i;
      const std::vector<uint8_t> image = ReadField<uint8_t>(*ahead.dataset, i, 0);
      const std::vector<int> mask = MaskOf(*ahead.dataset, i);
      for (size_t at = 0; at < mask.size(); ++at, ++pixels) {
        EXPECT_TRUE(mask[at] == 0 || mask[at] == 50 || mask[at] == 250) << mask[at];
        EXPECT_EQ(mask[at] == 0, image[at] == 0);
        bars += mask[at] == 0;
        same += (mask[at] > 150) == (image[at] > 150);
      }
    }
    EXPECT_GT(same, pixels * 9 / 10) << fit;
    EXPECT_EQ(bars > 0, std::string(fit) == "contain");
  }
}

std::string Png(uint32_t width, uint32_t height, int bits, int colour, const std::string& chunks,
                const std::string& lines) {
  return PngHeader(width, height, bits, colour) + chunks + PngChunk("IDAT", Deflated(lines)) +
         PngChunk("IEND", "");
}

// The numbers that are stored, not the colours that are shown.
TEST(MasksTest, PalettesAndFewBitsAreNumbers) {
  const std::string image = EncodePng(TestImage::Constant(4, 4, {1, 2, 3}));
  const std::string palette = PngChunk("PLTE", std::string("\xFF\0\0\0\xFF\0\0\0\xFF", 9));
  const std::string rows[] = {std::string("\0\0\1\2\2", 5), std::string("\0\2\1\1\0", 5),
                              std::string("\0\0\0\0\0", 5), std::string("\0\1\1\1\2", 5)};
  const std::string lines = rows[0] + rows[1] + rows[2] + rows[3];
  const std::vector<int> labels = {0, 1, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 2};
  // The same, two bits each: the highest bits come first.
  const std::string packed("\0\x1A\0\x94\0\0\0\x56", 8);
  MasksBuilder builder;
  builder.Add("1.png", image, "1.png", Png(4, 4, 8, 3, palette, lines))
      .Add("2.png", image, "2.png",
           Png(4, 4, 8, 3, palette + PngChunk("tRNS", std::string("\0\x80", 2)), lines))
      .Add("3.png", image, "3.png", Png(4, 4, 2, 3, palette, packed))
      .Add("4.png", image, "4.png", Png(4, 4, 2, 0, "", packed))
      .Add("5.png", image, "5.png", Png(4, 4, 8, 0, PngChunk("tRNS", std::string(2, '\0')), lines));
  const Opened opened = builder.Open();
  ASSERT_EQ(opened.errors, "");
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(MaskOf(*opened.dataset, i), labels) << i;
  MasksBuilder bits;
  bits.Add("1.png", image, "1.png", Png(4, 4, 1, 0, "", std::string("\0\x60\0\0\0\xF0\0\x10", 8)));
  EXPECT_EQ(MaskOf(*bits.Open().dataset, 0),
            (std::vector<int>{0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1}));
}

TEST(MasksTest, MasksThatAreNone) {
  const std::string image = EncodePng(TestImage::Constant(6, 4, {1, 2, 3}));
  const std::string help =
      "\nhelp: a mask is a PNG file of one channel of 8 bits, grey or a palette, whose numbers are "
      "the labels; an array of labels makes one with Pillow: "
      "`Image.fromarray(labels.astype('uint8')).save('1.png')`\n";
  MasksBuilder builder;
  builder.Add("1.png", image, "1.jpg", EncodeJpeg(TestImage::Constant(6, 4, {1})))
      .Add("2.png", image, "2.png", EncodePng(TestImage::Constant(6, 4, {1, 1, 1})))
      .Add("3.png", image, "3.png", Png(6, 4, 16, 0, "", std::string(52, '\0')))
      .Add("4.png", image, "4.png", EncodePng(TestImage::Constant(4, 6, {1})))
      .Add("5.png", EncodePng(TestImage::Constant(6, 4, {1, 2, 3}), ExifTiff(6, true)), "5.png",
           EncodePng(TestImage::Constant(6, 4, {1})))
      .Add("6.png", image, "6.png", "GIF89a")
      .Add("7.png", "", "7.png", EncodePng(TestImage::Constant(6, 4, {1})));
  const std::string sizes =
      "help: a mask has a label for each pixel of its image, as it is seen: turned as its Exif "
      "orientation says\n";
  for (const char* decode : {"ahead", "stream"}) {
    EXPECT_EQ(
        builder.Set("decode", decode).Open().errors,
        "DIR/f/7.png: error: this image is empty\n"
        "help: copy or fetch the file again, or leave it out\n"
        "DIR/m/1.jpg: error: this mask is a JPEG image, and JPEG changes the labels" +
            help + "DIR/m/2.png: error: this mask has 3 channels, not a label a pixel" + help +
            "DIR/m/3.png: error: this mask has 16 bits a pixel, not 8" + help +
            "DIR/m/4.png: error: this mask has 4 x 6 pixels, and its image 6 x 4 pixels\n" + sizes +
            "DIR/m/5.png: error: this mask has 6 x 4 pixels, and its image 4 x 6 pixels\n" + sizes +
            "DIR/m/6.png: error: this mask is neither a JPEG nor a PNG image\n"
            "help: the ending of its name does not make it one: convert it, or leave it out\n");
  }
}

TEST(MasksTest, AllThatIsWrongIsToldAtOnce) {
  std::string damaged = EncodePng(TestImage::Noise(9, 7, 3));
  const std::string begun = damaged.substr(0, 20);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  MasksBuilder builder;
  builder.Two()
      .Add("e.png", begun, "e.png", EncodePng(TestImage::Constant(9, 7, {1, 1, 1})))
      .Add("g.png", damaged, "g.png", EncodePng(TestImage::Constant(4, 4, {1})));
  const std::string errors = builder.File("f/c.jpg", "no image").Open().errors;
  std::vector<std::string> told;
  for (size_t at = 0; at < errors.size();) {
    const size_t end = errors.find('\n', at);
    const std::string line = errors.substr(at, end - at);
    if (!line.starts_with("help: ")) told.push_back(line);
    at = end + 1;
  }
  EXPECT_EQ(told, (std::vector<std::string>{
                      "error: 'DIR/m' holds no masks of the images 'c.jpg'",
                      "DIR/f/c.jpg: error: this image is neither a JPEG nor a PNG image",
                      "DIR/f/e.png: error: this image is cut off inside its header",
                      "DIR/f/g.png: error: this image is damaged: the checksum of its part IDAT is "
                      "wrong",
                      "DIR/m/e.png: error: this mask has 3 channels, not a label a pixel",
                      "DIR/m/g.png: error: this mask has 4 x 4 pixels, and its image 9 x 7 "
                      "pixels"}));
}

TEST(MasksTest, ImagesAndMasksThatAreAlone) {
  MasksBuilder builder;
  const std::string image = EncodePng(TestImage::Constant(6, 4, {1, 2, 3}));
  builder.Two().File("f/c.jpg", image).File("f/sub/a.jpg", image).File("m/d.png", image);
  const std::string help =
      "help: a mask belongs to the image of its name, endings apart: '1.png' to '1.jpg'\n";
  EXPECT_EQ(builder.Open().errors,
            "error: 'DIR/m' holds no masks of the images 'c.jpg', 'sub/a.jpg'\n" + help +
                "error: 'DIR/f' holds no images of the masks 'd.png'\n" + help);
  MasksBuilder twice;
  twice.Two().File("f/a.jpg", image);
  EXPECT_EQ(twice.Open().errors,
            "error: 'DIR/f': 'a.jpg' and 'a.png' have the same name\n"
            "help: a mask belongs to the image of its name, endings apart\n");
  MasksBuilder none;
  none.File("f/a.png", image).File("m/a.txt", "");
  EXPECT_EQ(none.Open().errors, "error: 'DIR/m' holds no masks\n");
  EXPECT_EQ(none.Set("masks", "n").Open().errors,
            "error: cannot read the folder 'DIR/n': No such file or directory\n");
  EXPECT_EQ(none.File("n/a.tif", "").Open().errors,
            "error: 'DIR/n': 'a.tif' is neither JPEG nor PNG\n"
            "help: convert such images, or move them away\n");
}

TEST(MasksTest, MasksMayLieInsideTheFolderOfTheImages) {
  MasksBuilder builder;
  builder.Two().Set("folder", ".").Set("masks", "m");
  const Opened opened = builder.File("f/a.png", EncodePng(TestImage::Noise(9, 7, 3))).Open();
  EXPECT_NE(opened.errors.find("holds no masks of the images 'f/a.png', 'f/b.JPG'"),
            std::string::npos)
      << opened.errors;
  MasksBuilder inside;
  inside.File("f/a.png", EncodePng(TestImage::Noise(9, 7, 3)))
      .File("f/m/a.png", EncodePng(MasksBuilder::Labels(9, 7)))
      .Set("masks", "f/m");
  EXPECT_EQ(inside.Open().errors, "");
  EXPECT_EQ(inside.Set("masks", "f").Open().errors,
            "error: 'masks' is the folder of the images itself\n"
            "help: masks lie in a folder of their own\n");
}

TEST(MasksTest, LabelsOfWholeImagesSayNothing) {
  MasksBuilder builder;
  builder.Two().Set("labels", "l.csv").Set("classes", "[a, b]");
  const std::string help =
      "help: the label of each pixel is the number in its mask: take out one of them\n";
  EXPECT_EQ(builder.Open().errors, "error: 'labels' says nothing beside 'masks'\n" + help +
                                       "error: 'classes' says nothing beside 'masks'\n" + help);
}

TEST(MasksTest, DamageIsFoundWhereItIsRead) {
  MasksBuilder builder;
  std::string damaged = EncodePng(TestImage::Noise(9, 7, 1));
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  builder.Two().File("m/a.png", damaged);
  EXPECT_EQ(builder.Open().errors,
            "DIR/m/a.png: error: this mask is damaged: the checksum of its part IDAT is wrong\n"
            "help: copy or fetch the file again, or leave it out\n");
  const Opened stream = builder.Set("decode", "stream").Open();
  ASSERT_EQ(stream.errors, "");
  const std::string error = ErrorOf([&] { ReadSample(*stream.dataset, 0); });
  EXPECT_EQ(error.substr(error.rfind('/')),
            "/a.png' is damaged: the checksum of its part IDAT is wrong\n"
            "help: copy or fetch the file again, or leave it out");
  EXPECT_EQ(MaskOf(*stream.dataset, 1)[0], 7);
}

TEST(MasksTest, ReadingTakesNothingFromTheHeapAndTheLimitHolds) {
  MasksBuilder builder;
  const Opened opened = builder.Two().Set("decode", "stream").Open();
  ASSERT_EQ(opened.errors, "");
  std::byte image[48], mask[64];
  const std::span<std::byte> out[] = {image, mask};
  const int64_t before = CurrentHeapUse().allocations;
  for (int i = 0; i < 10; ++i) opened.dataset->Read(i % 2, out);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
  const int64_t bytes = opened.dataset->decoded_bytes();
  EXPECT_EQ(builder.Limit(bytes).Open().errors, "");
  EXPECT_NE(builder.Limit(bytes - 1).Open().errors.find("error: the buffers of 2 images take "),
            std::string::npos);
  builder.Set("decode", "ahead").Limit(int64_t{1} << 30);
  ASSERT_EQ(builder.Open().errors, "");
}

}  // namespace
}  // namespace cgrun
