// safetensors against the bytes that the reference writer (Python's safetensors 0.8) wrote, round
// trips, and every way in which a header can lie.
#include "src/io/safetensors.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "src/base/allocation_counter.h"
#include "src/base/diagnostics.h"
#include "src/base/random.h"
#include "src/io/endian.h"
#include "tests/io/safetensors_file.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::string Safetensors(std::string_view header, std::string_view data) {
  std::string bytes(8, '\0');
  StoreLittle<uint64_t>(header.size(), reinterpret_cast<std::byte*>(bytes.data()));
  return bytes + std::string(header) + std::string(data);
}

SafetensorsFile Read(std::string_view bytes) {
  static const TempFolder folder;
  WriteBytes(folder / "x", bytes);
  return ReadSafetensors(folder / "x");
}

std::string ReadError(std::string_view bytes) {
  static const TempFolder folder;
  WriteBytes(folder / "x", bytes);
  return folder.Anonymous(ErrorOf([&] { ReadSafetensors(folder / "x"); }));
}

void WriteFile(const std::string& path, const std::vector<NamedTensor>& tensors,
               const SafetensorsMetadata& metadata) {
  std::vector<TensorSpec> specs;
  std::vector<std::span<const std::byte>> data;
  for (const NamedTensor& t : tensors) {
    specs.push_back({t.name, t.tensor.dtype(), t.tensor.shape()});
    data.push_back(t.tensor.bytes());
  }
  SafetensorsWriter(std::move(specs)).Write(path, data, metadata);
}

std::string Written(const std::vector<NamedTensor>& tensors,
                    const SafetensorsMetadata& metadata = {}) {
  static const TempFolder folder;
  WriteFile(folder / "x", tensors, metadata);
  return ReadBytes(folder / "x");
}

HostTensor Half(std::string_view bytes) {
  HostTensor tensor(DType::kF16, {1});
  std::memcpy(tensor.bytes().data(), bytes.data(), 2);
  return tensor;
}

// Returns the tensors that the reference was given, in an order of its own.
std::vector<NamedTensor> GoldenTensors() {
  return {{"b", HostTensor::Of<float>({2, 2}, {1, 2, 3, 4})},
          {"a", HostTensor::Of<int64_t>({1}, {7})},
          {"z\"\xC3\xA9\n", HostTensor::Of<uint8_t>({3}, {1, 2, 3})},
          {"h", Half({"\0\x38", 2})},
          {"flag", HostTensor::Scalar(true)},
          {"n", HostTensor::Of<int32_t>({2}, {1, -1})},
          {"d", HostTensor::Of<double>({1}, {2.0})},
          {"e", HostTensor(DType::kF32, {0, 4})},
          {"g", HostTensor::Of<BFloat16>({1}, {BFloat16(1.0f)})}};
}

std::string GoldenBytes() {
  const std::string header = R"({"__metadata__":{"format":"np","step":"3"},)"
                             R"("a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                             R"("d":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},)"
                             R"("b":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]},)"
                             R"("e":{"dtype":"F32","shape":[0,4],"data_offsets":[32,32]},)"
                             R"("n":{"dtype":"I32","shape":[2],"data_offsets":[32,40]},)"
                             R"("g":{"dtype":"BF16","shape":[1],"data_offsets":[40,42]},)"
                             R"("h":{"dtype":"F16","shape":[1],"data_offsets":[42,44]},)"
                             "\"z\\\"\xC3\xA9\\n\""
                             R"(:{"dtype":"U8","shape":[3],"data_offsets":[44,47]},)"
                             R"("flag":{"dtype":"BOOL","shape":[],"data_offsets":[47,48]}}    )";
  const std::string_view data = {
      "\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0@\0\0\x80?\0\0\0@\0\0@@\0\0\x80@"
      "\1\0\0\0\xFF\xFF\xFF\xFF\x80?\0\x38\1\2\3\1",
      48};
  return Safetensors(header, data);
}

TEST(SafetensorsTest, WritesTheReferencesBytes) {
  EXPECT_EQ(Written(GoldenTensors(), {{"step", "3"}, {"format", "np"}}), GoldenBytes());
  EXPECT_EQ(Written({{"w", HostTensor::Of<float>({1}, {1})}}),
            Safetensors("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}  ",
                        {"\0\0\x80?", 4}));
  EXPECT_EQ(Written({}), Safetensors("{}      ", ""));
}

TEST(SafetensorsTest, ReadsTheReferencesBytes) {
  const SafetensorsFile file = Read(GoldenBytes());
  EXPECT_EQ(file.metadata, (SafetensorsMetadata{{"format", "np"}, {"step", "3"}}));
  ASSERT_EQ(file.tensors.size(), 9u);
  EXPECT_EQ(file.tensors[0].name, "a");  // the file's order
  EXPECT_EQ(file.tensors[8].name, "flag");
  for (const NamedTensor& tensor : GoldenTensors()) {
    ASSERT_NE(file.Find(tensor.name), nullptr) << tensor.name;
    EXPECT_EQ(*file.Find(tensor.name), tensor.tensor) << tensor.name;
  }
  EXPECT_EQ(file.Find("nothing"), nullptr);
  EXPECT_TRUE(Read(Safetensors("{}", "")).tensors.empty());
}

// Makes a header of one tensor `w` with the given fields.
std::string One(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"w\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}}";
}

TEST(SafetensorsTest, ReadsTensorByTensor) {
  const TempFolder folder;
  std::vector<NamedTensor> tensors = {{"big", HostTensor(DType::kF64, {1000})}};
  tensors.push_back({"last", HostTensor::Of<float>({3}, {1, 2, 3})});
  WriteFile(folder / "x", tensors, {{"key", "text"}});
  SafetensorsReader reader(folder / "x");
  ASSERT_EQ(reader.tensors().size(), 2u);
  EXPECT_EQ(reader.tensors()[0].name, "big");
  EXPECT_EQ(reader.tensors()[1].shape, (Shape{3}));
  EXPECT_EQ(reader.metadata().at("key"), "text");
  reader.Skip();
  const HostTensor last = reader.Read();
  EXPECT_EQ(last.dtype(), DType::kF32);
  EXPECT_EQ(last.data<float>()[2], 3.0f);
}

TEST(SafetensorsTest, RefusesHeadersThatAreNone) {
  const std::string other =
      "'DIR/x' is not a safetensors file\n"
      "help: `cgrun train` leaves such files: RUN/checkpoint-STEP.safetensors";
  EXPECT_EQ(ReadError(""), other);
  EXPECT_EQ(ReadError("abc"), other);
  EXPECT_EQ(ReadError("cgrun: 1\nmodel: small\n"), other);
  EXPECT_EQ(ReadError(Safetensors("", "")), other);
  EXPECT_EQ(ReadError("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}"),
            "'DIR/x' declares a header of 18446744073709551615 bytes, but has 2\n"
            "help: the file is cut off");
  const std::string no_json = "'DIR/x': the header is not valid JSON\nhelp: the file is damaged";
  EXPECT_EQ(ReadError(Safetensors("{\"w\":", "")), no_json);
  EXPECT_EQ(ReadError(Safetensors("{\"w\":\"\xFF\"}", "")), no_json);
  EXPECT_EQ(ReadError(Safetensors("[]", "")), "'DIR/x': the header is not a JSON object");
  EXPECT_EQ(ReadError(Safetensors("{\"w\":{\"shape\":[[1]]}}", "")),
            "'DIR/x': the header is nested too deeply");
  EXPECT_EQ(ReadError(Safetensors(std::string(100000, '['), "")),
            "'DIR/x': the header is nested too deeply");
}

TEST(SafetensorsTest, RefusesEntriesThatAreWrong) {
  const auto error = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return ReadError(Safetensors(One(dtype, shape, offsets), "12345678"));
  };
  EXPECT_EQ(error("\"F32\"", "[2]", "[0,8]"), "no error");
  EXPECT_EQ(error("\"F8_E4M3\"", "[8]", "[0,8]"),
            "'DIR/x': tensor 'w' has the type \"F8_E4M3\", which is not supported\n"
            "help: known: I64, U64, F64, F32, I32, U32, BF16, F16, I16, U16, I8, U8, BOOL");
  EXPECT_EQ(error("\"F32\"", "[1]", "[0,8]"),
            "'DIR/x': tensor 'w' lies at bytes 0 to 8, but [1] of f32 take 4");
  EXPECT_EQ(error("\"F32\"", "[2]", "[8,0]"),
            "'DIR/x': tensor 'w' lies at bytes 8 to 0, but [2] of f32 take 8");
  EXPECT_EQ(error("\"F32\"", "[4294967296,4294967296]", "[0,8]"),
            "'DIR/x': tensor 'w' has more elements than can be counted");
  for (const char* shape : {"2", "[2.0]", "[-2]", "[\"2\"]", "[9223372036854775808]", "null"}) {
    EXPECT_EQ(error("\"F32\"", shape, "[0,8]"),
              "'DIR/x': tensor 'w' has a shape that is not a list of sizes");
  }
  for (const char* offsets : {"8", "[8]", "[0,4,8]", "[0,8.0]", "[-8,0]", "{}"}) {
    EXPECT_EQ(error("\"F32\"", "[2]", offsets),
              "'DIR/x': tensor 'w' has data_offsets that are not two numbers");
  }
  EXPECT_EQ(ReadError(Safetensors(R"({"w":{"dtype":"F32","shape":[2]}})", "12345678")),
            "'DIR/x': tensor 'w' has not just the keys dtype, shape and data_offsets");
  EXPECT_EQ(ReadError(Safetensors(R"({"w":7})", "")),
            "'DIR/x': tensor 'w' has not just the keys dtype, shape and data_offsets");
  EXPECT_EQ(ReadError(Safetensors(One("\"BOOL\"", "[1]", "[0,1]"), "\2")),
            "'DIR/x' has a bool that is neither 0 nor 1 in tensor 'w'");
}

TEST(SafetensorsTest, RefusesOverlapsHolesAndOtherLengths) {
  const auto two = [](const std::string& a, const std::string& b, std::string_view data) {
    return ReadError(
        Safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + a +
                        "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + b + "}}",
                    data));
  };
  EXPECT_EQ(two("[4,8]", "[0,4]", "12345678"), "no error");  // any order in the header
  EXPECT_EQ(two("[0,4]", "[3,7]", "1234567"), "'DIR/x': tensors 'a' and 'b' overlap");
  EXPECT_EQ(two("[0,4]", "[0,4]", "1234"), "'DIR/x': tensors 'a' and 'b' overlap");
  EXPECT_EQ(two("[0,4]", "[6,10]", "1234567890"),
            "'DIR/x': 2 bytes before tensor 'b' belong to none");
  EXPECT_EQ(two("[1,5]", "[5,9]", "123456789"),
            "'DIR/x': 1 bytes before tensor 'a' belong to none");
  EXPECT_EQ(two("[0,4]", "[4,8]", "1234567"),
            "'DIR/x' has 7 bytes of tensors, but the header declares 8\n"
            "help: the file is cut off");
  EXPECT_EQ(two("[0,4]", "[4,8]", "123456789"),
            "'DIR/x' has 9 bytes of tensors, but the header declares 8");
}

TEST(SafetensorsTest, RefusesWhatStandsTwice) {
  EXPECT_EQ(ReadError(Safetensors(R"({"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                                  R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                  "1")),
            "'DIR/x': 'w' stands twice in the header");
  EXPECT_EQ(ReadError(Safetensors(
                R"({"w":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", "1")),
            "'DIR/x': 'shape' stands twice in the header");
}

TEST(SafetensorsTest, RefusesMetadataThatIsNotText) {
  EXPECT_EQ(ReadError(Safetensors(R"({"__metadata__":{"step":3}})", "")),
            "'DIR/x': __metadata__ of 'step' is not a text");
  EXPECT_EQ(ReadError(Safetensors(R"({"__metadata__":[]})", "")),
            "'DIR/x': __metadata__ is not a JSON object");
}

TEST(SafetensorsTest, WritesOnlyWhatCanBeRead) {
  for (const char* bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(ErrorOf([&] {
                SafetensorsWriter({{bad, DType::kF32, {}}});
              }),
              "a name or text for a safetensors file is not UTF-8: '" + std::string(bad) + "'");
    EXPECT_NE(ErrorOf([&] { Written({}, {{"key", bad}}); }), "no error");
  }
}

TEST(SafetensorsTest, AnyTextComesBack) {
  std::string all;
  for (char c = 1; c < 127; ++c) all += c;
  all += std::string("\0\x7F", 2) + "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  const SafetensorsFile file = Read(Written({{all, HostTensor::Scalar(1.0f)}}, {{all, all}}));
  EXPECT_EQ(file.tensors.at(0).name, all);
  EXPECT_EQ(file.metadata, (SafetensorsMetadata{{all, all}}));
}

HostTensor RandomTensor(uint64_t key) {
  const auto draw = [&](uint64_t i) { return RandomBits(key, 0, i); };
  std::vector<int64_t> sizes(draw(0) % 4);
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = draw(1 + i) % 6;
  HostTensor tensor(kAllDTypes[draw(5) % std::size(kAllDTypes)], Shape::Of(sizes));
  uint64_t i = 8;
  for (std::byte& byte : tensor.bytes()) {
    byte = static_cast<std::byte>(tensor.dtype() == DType::kBool ? draw(i++) & 1 : draw(i++));
  }
  return tensor;
}

TEST(SafetensorsTest, AnyTensorsComeBackInAnyOrderOfWriting) {
  EXPECT_TRUE(rc::check([](uint64_t key, uint8_t count) {
    std::vector<NamedTensor> tensors;
    for (uint64_t i = 0; i < count % 12u; ++i) {
      tensors.push_back({"t" + std::to_string(i), RandomTensor(RandomKey(key, std::to_string(i)))});
    }
    const std::string bytes = Written(tensors);
    const SafetensorsFile file = Read(bytes);
    RC_ASSERT(file.tensors.size() == tensors.size());
    for (const NamedTensor& tensor : tensors) RC_ASSERT(*file.Find(tensor.name) == tensor.tensor);
    std::reverse(tensors.begin(), tensors.end());
    RC_ASSERT(Written(tensors) == bytes);
  }));
}

TEST(SafetensorsTest, DamageNeverCrashes) {
  const std::string whole = GoldenBytes();
  int refused = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    refused += ReadError(Damage(whole, seed)).starts_with("'DIR/x': ");
  }
  EXPECT_GT(refused, 1500);
  EXPECT_LT(refused, 3000);  // elements and names may be anything
}

class SpanSource final : public TensorSource {
 public:
  explicit SpanSource(std::vector<std::span<const std::byte>> spans) : spans_(std::move(spans)) {}
  std::span<const std::byte> BytesOf(size_t index) override { return spans_[index]; }

 private:
  std::vector<std::span<const std::byte>> spans_;
};

TEST(SafetensorsTest, AWriterThatIsReadyDoesNotAllocate) {
  const TempFolder folder;
  const std::string path = folder / "checkpoint.safetensors";
  std::vector<TensorSpec> specs;
  std::vector<std::span<const std::byte>> data;
  const std::vector<NamedTensor> tensors = GoldenTensors();
  for (const NamedTensor& t : tensors) {
    specs.push_back({t.name, t.tensor.dtype(), t.tensor.shape()});
    data.push_back(t.tensor.bytes());
  }
  const SafetensorsMetadata metadata = {{"format", "np"}, {"step", "3"}};
  SafetensorsWriter writer(specs);
  const int64_t before = CurrentHeapUse().allocations;
  writer.Write(path, data, metadata);
  writer.Write(path, data, metadata);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(ReadBytes(path), GoldenBytes());
  const SafetensorsMetadata with_checksum = {{kChecksumKey, std::string(16, '0')}};
  SpanSource source(data);
  const int64_t begin = CurrentHeapUse().allocations;
  writer.WriteWithChecksum(path, source, with_checksum);
  EXPECT_EQ(CurrentHeapUse().allocations, begin);
}

// The file holds two tensors, one of them larger than a block.
std::string WithChecksum(SafetensorsMetadata metadata) {
  static const TempFolder folder;
  HostTensor large(DType::kF32, {5000});
  for (size_t i = 0; i < 5000; ++i) large.data<float>()[i] = static_cast<float>(i);
  const HostTensor small = HostTensor::Of<int64_t>({2}, {7, 8});
  SafetensorsWriter writer({{"large", DType::kF32, {5000}}, {"small", DType::kI64, {2}}});
  SpanSource source({large.bytes(), small.bytes()});
  metadata.insert({kChecksumKey, std::string(16, '0')});
  writer.WriteWithChecksum(folder / "x", source, metadata);
  return ReadBytes(folder / "x");
}

TEST(SafetensorsTest, ADamagedKeyOfTheChecksumIsFound) {
  const std::string whole = WithChecksum({{"step", "3"}});
  const size_t key = whole.find(kChecksumKey);
  ASSERT_NE(key, std::string::npos);
  for (size_t i = 0; i < std::string_view(kChecksumKey).size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[key + i] = static_cast<char>(damaged[key + i] ^ (1 << bit));
      EXPECT_NE(ReadError(damaged), "no error") << i << ", bit " << bit;
    }
  }
  EXPECT_NE(Read(Written({}, {{"cgrun:unknown1", "x"}})).metadata.at("cgrun:unknown1"), "");
}

TEST(SafetensorsTest, MetadataAloneAreCompared) {
  static const TempFolder folder;
  std::string bytes = WithChecksum({{"names", "alpha"}});
  WriteBytes(folder / "y", bytes);
  EXPECT_EQ(ReadSafetensorsMetadata(folder / "y").at("names"), "alpha");
  bytes[bytes.find("alpha")] = 'b';
  WriteBytes(folder / "y", bytes);
  EXPECT_NE(ErrorOf([&] { ReadSafetensorsMetadata(folder / "y"); }).find("is damaged"),
            std::string::npos);
}

TEST(SafetensorsTest, AHeaderOfManyTensorsTakesNoLongerForEach) {
  const auto seconds = [](int tensors) {
    std::string header = "{";
    for (int i = 0; i < tensors; ++i) {
      header += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) +
                R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    }
    const std::string bytes = Safetensors(header + "}", "");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Read(bytes).tensors.size(), static_cast<size_t>(tensors));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double few = std::min(seconds(2'000), seconds(2'000));
  EXPECT_LT(seconds(20'000), 50 * few + 0.1);
}

TEST(SafetensorsTest, AChecksumFindsEachChangedByte) {
  const std::string whole = WithChecksum({{"step", "3"}});
  EXPECT_EQ(whole, WithChecksum({{"step", "3"}, {kChecksumKey, "the former one  "}}));
  EXPECT_EQ(Read(whole).metadata.at(kChecksumKey).size(), 16u);
  const std::string refused =
      "'DIR/x' is damaged: it is not as its checksum says\n"
      "help: a file that was changed on purpose must not keep `cgrun:checksum` in its metadata";
  const size_t data = whole.size() - 5000 * 4 - 2 * 8;
  for (size_t at = data; at < whole.size(); at += at < data + 20 ? 1 : 997) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    EXPECT_EQ(ReadError(damaged), refused) << at;
  }
  for (const auto& [from, to] : {std::pair("\"3\"", "\"4\""),
                                 {"\"small\"", "\"smell\""},
                                 {"\"I64\"", "\"F64\""},
                                 {"[5000]", "[50e2]"}}) {
    std::string damaged = whole;
    damaged.replace(damaged.find(from), std::strlen(from), to);
    EXPECT_NE(ReadError(damaged), "no error") << from;
  }
  std::string without = whole;
  without.replace(without.find(kChecksumKey), std::strlen(kChecksumKey), "other:checksum");
  without[data] ^= 1;
  EXPECT_EQ(ReadError(without), "no error");
}

// Tensors that nobody asks for count, too.
TEST(SafetensorsTest, TheLastTensorEndsTheChecksum) {
  const TempFolder folder;
  std::string damaged = WithChecksum({});
  damaged[damaged.size() - 5000 * 4 - 1] ^= 1;  // of the first tensor
  WriteBytes(folder / "x", damaged);
  for (const bool skip : {false, true}) {
    SafetensorsReader reader(folder / "x");
    skip ? reader.Skip() : static_cast<void>(reader.Read());
    EXPECT_NE(ErrorOf([&] { reader.Skip(); }).find("is damaged"), std::string::npos);
  }
}

TEST(SafetensorsDeathTest, NamesAreDistinct) {
  EXPECT_DEATH(SafetensorsWriter({{"w", DType::kF32, {}}, {"w", DType::kF32, {}}}),
               "two tensors are named w");
}

}  // namespace
}  // namespace cgrun
