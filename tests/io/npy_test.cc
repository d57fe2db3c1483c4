// .npy against the bytes that NumPy 2.4 wrote (np.save), and round trips.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/random.h"
#include "src/io/npy_file.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

// A file of version 1 whose header is `text`, padded as NumPy pads it.
std::string Npy(std::string text, std::string_view data) {
  text.resize(117, ' ');
  return std::string("\x93NUMPY\1\0v\0", 10) + text + "\n" + std::string(data);
}

std::string Dictionary(const std::string& descr, const std::string& order,
                       const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

HostTensor Read(std::string_view bytes, int64_t limit = kNoLimit) {
  static const TempFolder folder;
  WriteBytes(folder / "x.npy", bytes);
  return ReadNpy(folder / "x.npy", limit);
}

std::string ReadError(std::string_view bytes, int64_t limit = kNoLimit) {
  static const TempFolder folder;
  WriteBytes(folder / "x.npy", bytes);
  return folder.Anonymous(ErrorOf([&] { ReadNpy(folder / "x.npy", limit); }));
}

std::string Written(const HostTensor& tensor) {
  static const TempFolder folder;
  WriteNpy(folder / "x.npy", tensor);
  return ReadBytes(folder / "x.npy");
}

struct Golden {
  std::string bytes;
  HostTensor tensor;
};

std::vector<Golden> Goldens() {
  HostTensor bf16(DType::kBF16, {2});
  bf16.Set(0, 1.0);
  bf16.Set(1, -2.0);
  return {{Npy(Dictionary("<f4", "False", "(2, 3)"),
               {"\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xA0@\0\0\xC0@", 24}),
           HostTensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
          {Npy(Dictionary("<i8", "False", "()"), "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
           HostTensor::Scalar<int64_t>(-2)},
          {Npy(Dictionary("|b1", "False", "(2,)"), {"\1\0", 2}),
           HostTensor::Of<bool>({2}, {true, false})},
          {Npy(Dictionary("|u1", "False", "(0, 3)"), ""), HostTensor(DType::kU8, {0, 3})},
          {Npy(Dictionary("<V2", "False", "(2,)"), {"\x80?\0\xC0", 4}), bf16}};
}

TEST(NpyTest, WritesNumPysBytes) {
  for (const Golden& golden : Goldens()) EXPECT_EQ(Written(golden.tensor), golden.bytes);
}

TEST(NpyTest, ReadsNumPysBytes) {
  for (const Golden& golden : Goldens()) {
    EXPECT_EQ(Read(golden.bytes), golden.tensor);
    EXPECT_EQ(Read(Gzip(golden.bytes)), golden.tensor);
  }
}

TEST(NpyTest, IsToldByItsBeginning) {
  const TempFolder folder;
  const auto begins = [&](std::string_view bytes) {
    WriteBytes(folder / "x", bytes);
    return BeginsAsNpy(folder / "x");
  };
  EXPECT_TRUE(begins("\x93NUMPY\1"));
  EXPECT_FALSE(begins("\x93NUM"));
  EXPECT_FALSE(begins(""));
  EXPECT_FALSE(BeginsAsNpy(folder / "none"));
}

TEST(NpyTest, ReadsVersion2) {
  std::string text = Dictionary("<f8", "False", "(1,)");
  text.resize(115, ' ');
  EXPECT_EQ(Read(std::string("\x93NUMPY\2\0t\0\0\0", 12) + text + "\n" +
                 std::string("\0\0\0\0\0\0\xF8?", 8)),
            (HostTensor::Of<double>({1}, {1.5})));
}

TEST(NpyTest, TransposesFortransOrder) {
  const HostTensor half =
      Read(Npy(Dictionary("<f2", "True", "(2, 3)"), {"\0<\0D\0@\0E\0B\0F", 12}));  // 1 4 2 5 3 6
  EXPECT_EQ(half.shape(), (Shape{2, 3}));
  const std::string row_major = {"\0<\0@\0B\0D\0E\0F", 12};  // 1 2 3 4 5 6
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(half.bytes().data()), 12), row_major);
  std::string bytes;
  for (int i = 0; i < 24; ++i) bytes += static_cast<char>(i);
  const HostTensor cube = Read(Npy(Dictionary("|u1", "True", "(2, 3, 4)"), bytes));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) EXPECT_EQ(cube.At((i * 3 + j) * 4 + k), i + 2 * (j + 3 * k));
    }
  }
}

TEST(NpyTest, ReadsHeadersThatOthersWrite) {
  const HostTensor expected = HostTensor::Of<uint8_t>({2}, {7, 8});
  EXPECT_EQ(Read(Npy("{\"shape\":(2),\"descr\":\"<u1\",\"fortran_order\":False}", "\7\x8")),
            expected);
  EXPECT_EQ(Read(Npy("  { 'fortran_order' : False,'descr': '|u1' , 'shape':( 2 , ) } ", "\7\x8")),
            expected);
}

TEST(NpyTest, ReadsLongIntegersOfPython2) {
  EXPECT_EQ(Read(Npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2L,), }", "\7\x8")),
            HostTensor::Of<uint8_t>({2}, {7, 8}));
  EXPECT_EQ(Read(Npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 1L), }", "\7\x8")),
            HostTensor::Of<uint8_t>({2, 1}, {7, 8}));
}

TEST(NpyTest, ReadsUnicodeTextsOfPython2) {
  EXPECT_EQ(Read(Npy("{u'descr': u'|u1', u\"fortran_order\": False, u'shape': (2L,), }", "\7\x8")),
            Read(Npy(Dictionary("|u1", "False", "(2,)"), "\7\x8")));
}

TEST(NpyTest, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(ReadError("PK\3\4 an .npz"),
            "'DIR/x.npy' is not an .npy file: it does not begin with \\x93NUMPY\n"
            "help: an .npz file holds several arrays: `numpy.save(FILE, numpy.load(NPZ)[NAME])` "
            "makes a file of one");
  EXPECT_EQ(ReadError(std::string("\x93NUMPY\4\0", 8)), "'DIR/x.npy': .npy version 4 is not known");
  EXPECT_EQ(ReadError(std::string("\x93NUMPY\1\0v\0{'descr'", 18)),
            "'DIR/x.npy' declares a header of 118 bytes, but has 8\nhelp: the file is cut off");
  EXPECT_EQ(ReadError(std::string("\x93NUMPY\2\0\1\0\x10\0", 12) + std::string(0x100001, ' ')),
            "'DIR/x.npy' declares a header of 1048577 bytes, which no array needs");
  EXPECT_EQ(ReadError(Npy(Dictionary(">f4", "False", "(1,)"), "?\x80..")),
            "'DIR/x.npy': elements of type '>f4' are not supported\n"
            "help: known: <f8, <f4, <f2, <V2 (bf16), <i8, <i4, <i2, |i1, <u8, <u4, <u2, |u1, |b1");
  EXPECT_EQ(
      ReadError(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
      "'DIR/x.npy': the .npy header is not {'descr': TEXT, 'fortran_order': BOOL, 'shape': "
      "TUPLE}\nhelp: arrays of records are not supported");
  EXPECT_EQ(ReadError(Npy(Dictionary("<f4", "False", "(3,)"), "12345678")),
            "'DIR/x.npy' declares more elements than it can hold");
  EXPECT_EQ(ReadError(Gzip(Npy(Dictionary("<f4", "False", "(3,)"), "12345678"))),
            "'DIR/x.npy' ends after 136 bytes, inside its elements");
  EXPECT_EQ(ReadError(Npy(Dictionary("<f4", "False", "(1,)"), "12345678")),
            "'DIR/x.npy' goes on after 132 bytes, where it should end");
  EXPECT_EQ(ReadError(Npy(Dictionary("<f4", "False", "(9223372036854775807, 4)"), "1234")),
            "'DIR/x.npy' declares more elements than it can hold");
  EXPECT_EQ(ReadError(Npy(Dictionary("<f4", "False", "(99999999999999999999,)"), "")),
            "'DIR/x.npy' declares a size of 99999999999999999999, which no array has\n"
            "help: the file is damaged: save the array again");
  EXPECT_EQ(ReadError(Npy(Dictionary("<f4", "False", "(2, -1)"), "")),
            "'DIR/x.npy' declares a size of -1");
  EXPECT_EQ(ReadError(Npy(Dictionary("|b1", "False", "(1,)"), "\2")),
            "'DIR/x.npy' has a bool that is neither 0 nor 1 in its elements");
  EXPECT_EQ(ReadError(Npy(Dictionary("|u1", "False", "(4,)"), "1234"), 3),
            "'DIR/x.npy' has 4 bytes of elements, over 3, the most that is expected here");
}

TEST(NpyTest, BombsAreRefusedBeforeMemoryIsTaken) {
  EXPECT_EQ(ReadError(Gzip(Npy(Dictionary("<f4", "False", "(1000000000000,)"), ""))),
            "'DIR/x.npy' declares more elements than it can hold");
}

TEST(NpyTest, AnyTensorComesBack) {
  EXPECT_TRUE(rc::check([] {
    const DType dtype =
        *rc::gen::elementOf(std::vector<DType>(std::begin(kAllDTypes), std::end(kAllDTypes)));
    const auto sizes =
        *rc::gen::resize(4, rc::gen::container<std::vector<int64_t>>(rc::gen::inRange(0, 6)));
    HostTensor tensor(dtype, Shape::Of(sizes));
    const uint64_t key = *rc::gen::arbitrary<uint64_t>();
    uint64_t i = 0;
    for (std::byte& byte : tensor.bytes()) {
      const uint32_t bits = RandomBits(key, 0, i++);
      byte = static_cast<std::byte>(dtype == DType::kBool ? bits & 1 : bits);
    }
    RC_ASSERT(Read(Written(tensor)) == tensor);
  }));
}

TEST(NpyTest, DamageNeverCrashes) {
  const std::string whole = Npy(Dictionary("<f4", "True", "(2, 3)"), std::string(24, 'x'));
  const std::string packed = Gzip(whole);
  int refused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string damaged = Damage(seed % 2 ? packed : whole, seed);
    refused += ReadError(damaged, 1 << 20).starts_with("'DIR/x.npy': ");
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);  // elements may be anything
}

// Rows of which fewer came than were announced, one digit and many digits fewer.
TEST(NpyWriter, WritesWhatWriteNpyWrites) {
  const TempFolder folder;
  for (const auto& [rows, most] : {std::pair{3, 3}, {1, 3}, {3, 12}, {1, 1'000'000'000}}) {
    HostTensor all(DType::kF32, Shape{rows, 2});
    for (int64_t i = 0; i < all.elements(); ++i) all.Set(i, static_cast<double>(i) + 0.5);
    NpyWriter writer(folder / "x.npy", DType::kF32, Shape{2}, most);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      writer.Add(all.bytes().subspan(row * 8, 8));
    }
    writer.Commit();
    const HostTensor read = ReadNpy(folder / "x.npy");
    EXPECT_EQ(read.shape(), all.shape());
    EXPECT_TRUE(std::ranges::equal(read.bytes(), all.bytes())) << rows << " of " << most;
  }
  NpyWriter(folder / "none.npy", DType::kF32, Shape{2}, 1)
      .Add(HostTensor(DType::kF32, {2}).bytes());
  EXPECT_FALSE(std::filesystem::exists(folder / "none.npy"));
  EXPECT_FALSE(std::filesystem::exists(folder / "none.npy.tmp"));
}

}  // namespace
}  // namespace cgrun
