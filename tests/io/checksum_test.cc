// CRC-32 and XXH64 against published values and against a second, slow implementation.
#include "src/io/checksum.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <string>
#include <vector>

#include "src/io/endian.h"

namespace cgrun {
namespace {

TEST(Crc32Test, IsGzips) {
  const std::string check = "123456789";
  EXPECT_EQ(Crc32(AsBytes(check)), 0xCBF43926u);  // the check value of every CRC catalogue
  EXPECT_EQ(Crc32({}), 0u);
}

TEST(Crc32Test, IsTheBitwiseDefinitionInAnyPieces) {
  EXPECT_TRUE(rc::check([](const std::vector<uint8_t>& bytes, uint32_t cut) {
    uint32_t slow = 0xFFFFFFFF;
    for (uint8_t byte : bytes) {
      slow ^= byte;
      for (int bit = 0; bit < 8; ++bit) slow = (slow >> 1) ^ (slow & 1 ? 0xEDB88320 : 0);
    }
    const auto all = AsBytes(bytes);
    const size_t first = bytes.empty() ? 0 : cut % bytes.size();
    RC_ASSERT(Crc32(all) == ~slow);
    RC_ASSERT(Crc32(all.subspan(first), Crc32(all.first(first))) == ~slow);
  }));
}

// Returns the bytes of the reference implementation's own sanity check.
std::vector<uint8_t> SanityBuffer(size_t size) {
  std::vector<uint8_t> bytes;
  uint64_t generator = 2654435761u;
  for (size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<uint8_t>(generator >> 56));
    generator *= 11400714785074694797u;
  }
  return bytes;
}

TEST(HashBytesTest, IsXxh64) {
  EXPECT_EQ(HashBytes({}), 0xEF46DB3751D8E999u);
  EXPECT_EQ(HashBytes(AsBytes(std::string("a"))), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(HashBytes(AsBytes(std::string("abc"))), 0x44BC2CF5AD770999u);
  const std::vector<uint8_t> sanity = SanityBuffer(222);
  constexpr uint64_t kSeed = 2654435761u;
  const auto first = [&](size_t size) { return AsBytes(sanity).first(size); };
  EXPECT_EQ(HashBytes(first(0), kSeed), 0xAC75FDA2929B17EFu);
  EXPECT_EQ(HashBytes(first(1)), 0xE934A84ADB052768u);
  EXPECT_EQ(HashBytes(first(1), kSeed), 0x5014607643A9B4C3u);
  EXPECT_EQ(HashBytes(first(4)), 0x9136A0DCA57457EEu);
  EXPECT_EQ(HashBytes(first(14)), 0x8282DCC4994E35C8u);
  EXPECT_EQ(HashBytes(first(14), kSeed), 0xC3BD6BF63DEB6DF0u);
  EXPECT_EQ(HashBytes(first(222)), 0xB641AE8CB691C174u);
  EXPECT_EQ(HashBytes(first(222), kSeed), 0x20CB8AB7AE10C14Au);
}

TEST(HashBytesTest, EveryBitCounts) {
  std::vector<uint8_t> bytes(77, 0);
  std::set<uint64_t> hashes = {HashBytes(AsBytes(bytes))};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<uint8_t>(1 << bit % 8);
    hashes.insert(HashBytes(AsBytes(bytes)));
    bytes[bit / 8] = 0;
  }
  EXPECT_EQ(hashes.size(), bytes.size() * 8 + 1);
}

TEST(HashBytesTest, AChainKnowsWhereOneTensorEnds) {
  const std::string ab = "ab", c = "c", a = "a", bc = "bc";
  EXPECT_NE(HashBytes(AsBytes(c), HashBytes(AsBytes(ab))),
            HashBytes(AsBytes(bc), HashBytes(AsBytes(a))));
}

}  // namespace
}  // namespace cgrun
