// Lists of images and labels: their forms, names that are nearly right, images that they leave out.
#include "src/data/label_list.h"

#include <gtest/gtest.h>

#include "tests/data/dataset_testing.h"
#include "tests/data/test_images.h"

namespace cgrun {
namespace {

const std::string kGrey = EncodePng(TestImage::Constant(4, 4, {9}));

// Builds a folder with the images a.png and b.png, and a list.
class ListBuilder : public DatasetBuilder {
 public:
  explicit ListBuilder(std::string_view list) : DatasetBuilder("images") {
    File("f/a.png", kGrey).File("f/b.png", kGrey).File("l.csv", list);
    Set("folder", "f").Set("labels", "l.csv");
    Input("image", DType::kU8, {1, 4, 4}).Input("label", DType::kI32, {});
  }
};

TEST(LabelListTest, SemicolonsAndTabsSeparateToo) {
  for (const char* list :
       {"a.png;dog\nb.png;cat\n", "a.png\tdog\nb.png\tcat\n", "file;label\na.png;dog\nb.png;cat\n",
        "\"a.png\";\"dog\"\n\"b.png\";\"cat\"\n", "a.png,dog\nb.png,cat\n",
        "\xEF\xBB\xBFname,label,\r\na.png, dog,\r\nb.png,cat,\r\n"}) {
    for (const char* decode : {"ahead", "stream"}) {
      ListBuilder builder(list);
      const Opened opened = builder.Set("decode", decode).Open();
      ASSERT_EQ(opened.errors, "") << list;
      EXPECT_EQ(opened.dataset->ClassNames(1)[0], "cat");
      EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 1)[0], 1);
      EXPECT_TRUE(opened.dataset->Notes().empty()) << opened.dataset->Notes()[0];
    }
  }
  ListBuilder builder("a.png;3\nb.png;5\n");
  const Opened numbers = builder.Open();
  ASSERT_EQ(numbers.errors, "");
  EXPECT_EQ(RangeOf(*numbers.dataset, 1)->largest.mark.column, 7);
}

// A file that is neither JPEG nor PNG is left out, as all that the list does not name.
TEST(LabelListTest, OtherKindsOfImagesAreErrorsWhereTheyAreNamed) {
  ListBuilder unnamed("a.png,x\nb.png,y\n");
  EXPECT_EQ(unnamed.File("f/c.ppm", "P6").Open().errors, "");
  ListBuilder named("a.png,x\nb.png,y\nc.ppm,y\n");
  EXPECT_NE(named.File("f/c.ppm", "P6")
                .Open()
                .errors.find(
                    "DIR/l.csv:3:1: error: 'DIR/f': the image 'c.ppm' is neither JPEG nor PNG\n"),
            std::string::npos);
}

TEST(LabelListTest, FurtherColumnsAreWarnedOf) {
  const Opened named = ListBuilder("file,label,split\na.png,x,train\nb.png,y,test\n").Open();
  EXPECT_EQ(named.errors,
            "DIR/l.csv:1:1: warning: this list has 3 columns: 'file' is taken for the images, "
            "'label' for their labels, and 'split' is not read\n"
            "    file,label,split\n"
            "    ^~~~~~~~~~~~~~~~\n"
            "help: a line is `NAME,LABEL`; samples of another set stand in a list of their own\n");
  EXPECT_NE(named.dataset, nullptr);
  const std::string bare = ListBuilder("a.png,x,train\nb.png,y,test\n").Open().errors;
  EXPECT_NE(bare.find("1 is taken for the images, 2 for their labels, and 3 is not read"),
            bare.npos)
      << bare;
}

TEST(LabelListTest, ImagesInAnotherColumnAndLinesWithBlanks) {
  const std::string second = ListBuilder("id,file,label\n1,a.png,x\n2,b.png,y\n").Open().errors;
  EXPECT_NE(second.find("help: column 2 names images: a line is `NAME,LABEL`\n"), second.npos)
      << second;
  EXPECT_EQ(ListBuilder("a.png x\nb.png y\n").Open().errors,
            "DIR/l.csv:1:1: error: this line has no label; and 1 more such line, in line 2\n"
            "    a.png x\n"
            "    ^~~~~~~\n"
            "help: a line is `NAME,LABEL`, separated by a comma\n");
}

TEST(LabelListTest, ImagesThatAreNotNamedAreNoted) {
  ListBuilder builder("a.png,x\nc.png,y\n");
  builder.File("f/c.png", kGrey).File("f/d.png", kGrey);
  for (const char* decode : {"ahead", "stream"}) {
    const Opened opened = builder.Set("decode", decode).Open();
    ASSERT_EQ(opened.errors, "");
    const std::string folder = builder.folder();
    EXPECT_EQ(
        opened.dataset->Notes(),
        (std::vector<std::string>{"'" + folder + "/f': 2 of its 4 images are left out, which '" +
                                  folder + "/l.csv' does not name: 'b.png', 'd.png'"}));
  }
}

TEST(LabelListTest, NamesThatAreNearlyRight) {
  const std::vector<std::string> images = {"im10.png", "im9.png", "im_two.JPG", "x.jpg", "x.png"};
  EXPECT_EQ(MeantImage("im009.png", images), "im9.png");
  EXPECT_EQ(MeantImage("im9.jpg", images), "im9.png");
  EXPECT_EQ(MeantImage("IM0010.JPEG", images), "im10.png");
  EXPECT_EQ(MeantImage("im_two", images), "im_two.JPG");
  EXPECT_EQ(MeantImage("im_twp.jpg", images), "im_two.JPG");
  EXPECT_EQ(MeantImage("im8.png", images), "") << "another number is another image";
  EXPECT_EQ(MeantImage("c.png", images), "");
}

}  // namespace
}  // namespace cgrun
