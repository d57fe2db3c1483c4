// The page of memory plans: its data, and names that cannot break it.
#include "src/report/memory_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cgrun {
namespace {

PlacedBuffer BufferOf(const std::string& name, int64_t offset, int64_t bytes, int entry,
                      Lifespan lifespan) {
  PlacedBuffer buffer;
  buffer.name = name;
  buffer.values = {name};
  buffer.offset = offset;
  buffer.bytes = bytes;
  buffer.entry = entry;
  buffer.persistent = entry < 0;
  buffer.lifespan = lifespan;
  return buffer;
}

class MemoryPageTest : public testing::Test {
 protected:
  MemoryPageTest() {
    subject_.model = "a < b";
    subject_.device = "cpu";
    subject_.order = "memory";
    subject_.batch = 4;
    subject_.entries = {"train", "eval"};
    layout_.arena_bytes = layout_.lower_bound_bytes = 192;
    layout_.persistent_bytes = 64;
    layout_.optimal = true;
    layout_.planner = "portfolio";
    layout_.entries.resize(2);
    layout_.entries[0].transient_bytes = layout_.entries[0].transient_lower_bound = 128;
    layout_.entries[1].transient_bytes = 64;
    layout_.buffers = {BufferOf("w", 0, 64, -1, {0, 1}), BufferOf("</script>", 64, 128, 0, {0, 2}),
                       BufferOf("y", 64, 64, 1, {0, 1}), BufferOf("empty", 64, 0, 0, {0, 2})};
    layout_.buffers[1].values = {"</script>", "x"};
  }

  static nlohmann::json DataOf(const std::string& page) {
    const std::string begin = "type=\"application/json\">";
    const size_t from = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
  }

  PlanSubject subject_;
  MemoryLayout layout_;
};

TEST_F(MemoryPageTest, HoldsEveryBufferOfEveryEntryPoint) {
  const nlohmann::json data = DataOf(MemoryPageHtml({{"", &subject_, &layout_}}));
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0]["persistent"].size(), 1u);
  EXPECT_EQ(data[0]["persistent"][0]["name"], "w");
  ASSERT_EQ(data[0]["entries"].size(), 2u);
  const nlohmann::json& train = data[0]["entries"][0];
  EXPECT_EQ(train["name"], "train");
  EXPECT_EQ(train["bytes"], 192);
  EXPECT_EQ(train["bound"], 192);
  ASSERT_EQ(train["buffers"].size(), 1u);  // without the one that has no bytes
  EXPECT_EQ(train["buffers"][0]["name"], "</script>");
  EXPECT_EQ(train["buffers"][0]["offset"], 64);
  EXPECT_EQ(train["buffers"][0]["upper"], 2);
  EXPECT_EQ(train["buffers"][0]["values"].size(), 2u);
  EXPECT_FALSE(train["buffers"][0].contains("again"));
  EXPECT_EQ(data[0]["entries"][1]["buffers"][0]["name"], "y");
}

TEST_F(MemoryPageTest, MarksWhatIsThereForLessMemory) {
  PlacedBuffer& buffer = layout_.buffers[1];
  for (const auto& [flag, mark] :
       {std::pair(&PlacedBuffer::recomputed, "again"), std::pair(&PlacedBuffer::swapped, "swapped"),
        std::pair(&PlacedBuffer::single_threaded, "alone")}) {
    const auto json = [&] {
      return DataOf(MemoryPageHtml({{"", &subject_, &layout_}}))[0]["entries"][0]["buffers"][0];
    };
    EXPECT_FALSE(json().contains(mark));
    buffer.*flag = true;
    EXPECT_EQ(json()[mark], true);
  }
}

TEST_F(MemoryPageTest, NamesDoNotEndItsScript) {
  const std::string page = MemoryPageHtml({{"", &subject_, &layout_}});
  const size_t data = page.find("id=\"data\"");
  const size_t end = page.find("</script>", data);
  EXPECT_EQ(page.find("<script>", data), end + std::string("</script>\n").size());
  EXPECT_NE(page.find("<h1>a &lt; b</h1>"), page.npos);
}

TEST_F(MemoryPageTest, PutsPlansSideBySide) {
  MemoryLayout other = layout_;
  other.planner = "naive";
  other.optimal = false;
  const std::string page =
      MemoryPageHtml({{"ours", &subject_, &layout_}, {"planner naive", &subject_, &other}});
  EXPECT_EQ(DataOf(page).size(), 2u);
  EXPECT_NE(page.find("<td>ours</td><td>planner naive</td>"), page.npos);
  EXPECT_NE(page.find("<th>total</th><td>"), page.npos);
  EXPECT_NE(page.find("1.0000, optimal</td><td>192 B, ratio 1.0000</td>"), page.npos);
}

TEST_F(MemoryPageTest, AsksNothingOfANetwork) {
  const std::string page = MemoryPageHtml({{"", &subject_, &layout_}});
  for (size_t at = 0; (at = page.find("http", at)) != page.npos; ++at) {
    EXPECT_EQ(page.substr(at, 26), "http://www.w3.org/2000/svg");  // a name, not an address
  }
  EXPECT_EQ(page.find("src="), page.npos);
  EXPECT_EQ(page.find("@import"), page.npos);
}

}  // namespace
}  // namespace cgrun
