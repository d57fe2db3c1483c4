// Names of devices, with and without a number, and what is known of them without opening one.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
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

TEST(CpuDeviceTest, RefusesWhatIsNotFree) {
  CheckRoom(1 << 20, 1 << 20);
  try {
    CheckRoom(6 << 20, 5 << 20);
    FAIL() << "more than what is free was taken";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "cannot take 6 MiB of memory: 5 MiB are free");
    EXPECT_NE(error.help().find("--batch N"), std::string::npos);
  }
}

// No machine has as much; without a look at what is free some hand it out.
TEST(CpuDeviceTest, AnArenaThatDoesNotFitIsAnError) {
  const std::unique_ptr<Device> device = OpenDevice("reference");
  EXPECT_THROW(device->Allocate(ArenaKind::kDevice, FreeHostMemory() + (int64_t{1} << 40)),
               UserError);
  EXPECT_EQ(device->counters().bytes, 0);
}

}  // namespace
}  // namespace cgrun
