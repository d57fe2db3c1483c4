// Names of devices, with and without a number, and what is known of them without opening one.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/diagnostics.h"
#include "src/device/device.h"

namespace cgrun {
namespace {

TEST(DeviceTableTest, HostDevicesAreOpenedByNameAlone) {
  for (const DeviceKind& kind : DeviceKinds()) {
    if (!kind.on_host) continue;
    EXPECT_EQ(OpenDevice(kind.name)->Info().name, kind.name);
    EXPECT_TRUE(DescribeDevices(kind).empty());
    EXPECT_THROW(OpenDevice(std::string(kind.name) + ":1"), UserError) << kind.name;
  }
}

TEST(DeviceTableTest, ANumberBelongsToTheKind) {
  for (const char* name : {"cuda", "cuda:0", "cuda:1"}) {
    EXPECT_EQ(KindOfDevice(name).name, "cuda");
    EXPECT_FALSE(KindOfDevice(name).on_host);
  }
  EXPECT_TRUE(KindOfDevice("cpu").on_host);
  EXPECT_FALSE(DescribeDevices(KindOfDevice("cuda")).empty());
}

TEST(DeviceTableTest, AnUnknownNameIsAnError) {
  for (const char* name : {"", "gpu", "cudax", "host", "x:1"}) {
    EXPECT_THROW(OpenDevice(name), UserError) << name;
  }
  EXPECT_EQ(std::ranges::count(DeviceNames(), "reference"), 1);
}

}  // namespace
}  // namespace cgrun
