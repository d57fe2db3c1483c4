// Programs from damaged files: whatever the bytes, loading ends in an error or in a program that
// runs. The checksum is mended here, or no damage would get beyond it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "src/base/diagnostics.h"
#include "src/io/checksum.h"
#include "src/program/serialize.h"
#include "tests/program/tiny_models.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

using Json = nlohmann::json;

constexpr size_t kHeaderBytes = 24;

const std::vector<std::string>& Files() {
  static const std::vector<std::string> files = {
      SerializeImage(TinyImage("tiny_mlp")),   SerializeImage(TinyImage("tiny_conv")),
      SerializeImage(TinyImage("tiny_paths")), SerializeImage(FusedImage()),
      SerializeImage(IncrementalImage()),      SerializeImage(SwapImage())};
  return files;
}

// Makes a file of this payload, with the right size and checksum.
std::string FileOf(const std::string& payload) {
  std::string bytes = Files()[0].substr(0, 12);
  const uint32_t checksum = Crc32(std::as_bytes(std::span(payload)));
  const uint64_t size = payload.size();
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(checksum >> (8 * i));
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(size >> (8 * i));
  return bytes + payload;
}

std::string PayloadOf(const std::string& file) { return file.substr(kHeaderBytes); }

enum class Fate { kUnreadable, kUnsound, kRuns };

// Loads, verifies, runs every entry point. Only user errors may be thrown.
Fate FateOf(const std::string& bytes) {
  ProgramImage image;
  try {
    image = DeserializeImage(bytes, "m.cgb");
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("m.cgb: ", 0), 0u) << error.what();
    EXPECT_NE(error.help(), "");
    return Fate::kUnreadable;
  }
  Disassemble(image);
  try {
    TinyProgram program(image);
    for (size_t e = 0; e < image.entries.size(); ++e) program.Run(static_cast<int>(e), 1);
  } catch (const UserError&) {
    return Fate::kUnsound;
  }
  return Fate::kRuns;
}

TEST(DamagedFiles, WholeOnesRun) {
  for (const std::string& file : Files()) {
    EXPECT_EQ(FateOf(file), Fate::kRuns);
    EXPECT_EQ(FileOf(PayloadOf(file)), file);
  }
}

TEST(DamagedFiles, TruncatedAtAnyLengthTheyAreRefused) {
  const std::string& file = Files().back();
  for (size_t length = 0; length < file.size(); ++length) {
    ASSERT_EQ(FateOf(file.substr(0, length)), Fate::kUnreadable) << length;
    if (length < kHeaderBytes) continue;
    ASSERT_EQ(FateOf(FileOf(file.substr(kHeaderBytes, length - kHeaderBytes))), Fate::kUnreadable)
        << length;
  }
  EXPECT_EQ(FateOf(file + "\n"), Fate::kUnreadable);
  EXPECT_EQ(FateOf(FileOf(PayloadOf(file) + "\n")), Fate::kUnreadable);
}

TEST(DamagedFiles, DeepNestingIsRefusedWithoutRecursion) {
  EXPECT_EQ(FateOf(FileOf(std::string(1 << 22, '\x81'))), Fate::kUnreadable);
  EXPECT_EQ(FateOf(FileOf(std::string(1 << 22, '\x9f'))), Fate::kUnreadable);
  EXPECT_EQ(FateOf(FileOf("\x9b\xff\xff\xff\xff\xff\xff\xff\xff")), Fate::kUnreadable);
}

RC_GTEST_PROP(DamagedFiles, ChangedBytesDoNoHarm, ()) {
  std::string payload = PayloadOf(Files()[*rc::gen::inRange<size_t>(0, Files().size())]);
  const int times = *rc::gen::inRange(1, 4);
  for (int i = 0; i < times; ++i) {
    const size_t at = *rc::gen::inRange<size_t>(0, payload.size());
    payload[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  }
  FateOf(FileOf(payload));
}

// Collects all scalars of a document.
void Collect(Json& json, std::vector<Json*>& scalars) {
  if (!json.is_structured()) scalars.push_back(&json);
  for (auto it = json.begin(); json.is_structured() && it != json.end(); ++it) {
    Collect(*it, scalars);
  }
}

Json Instead(const Json& scalar, int what) {
  const bool integer = scalar.is_number_integer();
  const int64_t number = integer ? scalar.get<int64_t>() : 0;
  const std::vector<Json> values = {number + 1,
                                    number - 1,
                                    number * 2,
                                    number ^ 64,
                                    -1,
                                    0,
                                    1,
                                    255,
                                    INT64_MAX,
                                    INT64_MIN,
                                    UINT64_MAX,
                                    int64_t{1} << 32,
                                    int64_t{1} << 47,
                                    1e300,
                                    -0.5,
                                    "",
                                    "plain",
                                    "reference.add",
                                    "add",
                                    "Ab16a",
                                    nullptr,
                                    true,
                                    Json::array(),
                                    Json::object(),
                                    Json::array({1, 2, 3})};
  return values[static_cast<size_t>(what) % values.size()];
}

// One field of the document takes another value: each of them, of the largest files some.
TEST(DamagedFiles, ChangedFieldsDoNoHarm) {
  constexpr size_t kMostFields = kSanitized ? 50 : 250;  // of a file
  int fates[3] = {};
  for (const std::string& file : Files()) {
    const Json original = Json::from_cbor(PayloadOf(file));
    Json counted = original;
    std::vector<Json*> scalars;
    Collect(counted, scalars);
    const size_t stride = scalars.size() / kMostFields + 1;
    for (size_t i = 0; i < scalars.size(); i += stride) {
      for (int what = 0; what < 3; ++what) {
        Json changed = original;
        std::vector<Json*> fields;
        Collect(changed, fields);
        *fields[i] = Instead(*fields[i], static_cast<int>(i / stride) * 3 + what);
        const std::vector<uint8_t> payload = Json::to_cbor(changed);
        ++fates[static_cast<int>(FateOf(FileOf({payload.begin(), payload.end()})))];
      }
    }
  }
  EXPECT_GT(fates[static_cast<int>(Fate::kUnreadable)], 2 * kMostFields);
  EXPECT_GT(fates[static_cast<int>(Fate::kUnsound)], kMostFields);
  EXPECT_GT(fates[static_cast<int>(Fate::kRuns)], kMostFields / 3);
}

}  // namespace
}  // namespace cgrun
