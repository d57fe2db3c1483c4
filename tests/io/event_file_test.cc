// Event files: bytes that TensorBoard reads, and files that go on after a cut.
#include "src/io/event_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

std::string FreshPath() {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                     testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove(path);
  return path.string();
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteStep(EventFileWriter& writer, int64_t step, double loss) {
  writer.Begin(step, 1e9 + static_cast<double>(step));
  writer.Add("train/loss", loss);
  writer.Add("train/accuracy", 0.5);
  writer.End();
}

// Returns the events, each checked against its length and checksums.
std::vector<std::string> Events(const std::string& file) {
  std::vector<std::string> events;
  for (size_t at = 0; at < file.size();) {
    uint64_t size = 0;
    uint32_t of_size = 0, of_data = 0;
    std::memcpy(&size, file.data() + at, 8);
    std::memcpy(&of_size, file.data() + at + 8, 4);
    EXPECT_EQ(of_size, MaskedCrc32c(file.substr(at, 8)));
    events.push_back(file.substr(at + 12, size));
    std::memcpy(&of_data, file.data() + at + 12 + size, 4);
    EXPECT_EQ(of_data, MaskedCrc32c(events.back()));
    at += 12 + size + 4;
  }
  return events;
}

// RFC 3720, B.4: the CRC-32C of 32 zeros is 8A9136AA.
TEST(Crc32c, IsThatOfTheStandard) {
  const uint32_t crc = 0x8A9136AA;
  EXPECT_EQ(MaskedCrc32c(std::string(32, '\0')), ((crc >> 15) | (crc << 17)) + 0xA282EAD8);
}

TEST(EventFile, HoldsVersionAndScalars) {
  const std::string path = FreshPath();
  { EventFileWriter writer(path); }
  EXPECT_EQ(Events(ReadAll(path)).at(0).substr(11),
            "\x1A\x0D"
            "brain.Event:2");
  EventFileWriter writer(path);
  WriteStep(writer, 300, 0.25);
  const std::vector<std::string> events = Events(ReadAll(path));
  ASSERT_EQ(events.size(), 2u);
  // step = 300, then a summary of two values of 17 and 21 bytes.
  const std::string summary = std::string("\x0A\x11\x0A\x0Atrain/loss\x15\x00\x00\x80\x3E", 19) +
                              std::string("\x0A\x15\x0A\x0Etrain/accuracy\x15\x00\x00\x00\x3F", 23);
  EXPECT_EQ(events[1].substr(9), std::string("\x10\xAC\x02\x2A\x2A") + summary);
}

TEST(EventFile, GoesOnFromAStep) {
  const std::string path = FreshPath();
  {
    EventFileWriter writer(path);
    for (int64_t step : {10, 20, 30}) WriteStep(writer, step, 1);
  }
  const std::string whole = ReadAll(path);
  std::filesystem::resize_file(path, whole.size() - 3);  // the last record is not whole
  {
    EventFileWriter writer(path, 20);
    EXPECT_EQ(Events(ReadAll(path)).size(), 3u);
    WriteStep(writer, 30, 1);
  }
  EXPECT_EQ(ReadAll(path), whole);
  { EventFileWriter writer(path, 10); }
  EXPECT_EQ(Events(ReadAll(path)).size(), 2u);
}

TEST(EventFile, SaysWhyItCannotBeWritten) {
  EXPECT_THROW(EventFileWriter("/nowhere/events"), UserError);
}

}  // namespace
}  // namespace cgrun
