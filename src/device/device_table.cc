// The devices of device_list.inc, and how each is opened.
#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
#include "src/device/cuda.h"
#include "src/device/device.h"

namespace cgrun {
namespace {

struct DeviceEntry {
  DeviceKind kind;
  std::unique_ptr<Device> (*open)(std::string_view name);
  std::vector<std::string> (*describe)();  // null: a host is always there
};

std::unique_ptr<Device> OpenHostDevice(std::string_view name) {
  return std::make_unique<CpuDevice>(std::string(name));
}

constexpr DeviceEntry kDevices[] = {
#define HOST_DEVICE(name) {{#name, true}, OpenHostDevice, nullptr},
#define NUMBERED_DEVICE(name, Name) {{#name, false}, Open##Name##Device, Describe##Name##Devices},
#include "src/base/device_list.inc"
#undef NUMBERED_DEVICE
#undef HOST_DEVICE
};

// The entry of a device's name, with or without a number, or null.
const DeviceEntry* FindDevice(std::string_view name) {
  for (const DeviceEntry& device : kDevices) {
    const bool numbered = !device.kind.on_host && name.find(':') != std::string_view::npos;
    if (device.kind.name == (numbered ? name.substr(0, name.find(':')) : name)) return &device;
  }
  return nullptr;
}

}  // namespace

std::vector<DeviceKind> DeviceKinds() {
  std::vector<DeviceKind> kinds;
  for (const DeviceEntry& device : kDevices) kinds.push_back(device.kind);
  return kinds;
}

const DeviceKind& KindOfDevice(std::string_view name) {
  const DeviceEntry* const device = FindDevice(name);
  CGRUN_CHECK(device != nullptr) << "there is no device '" << name << "'";
  return device->kind;
}

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names;
  for (const DeviceEntry& device : kDevices) names.emplace_back(device.kind.name);
  return names;
}

std::vector<std::string> DescribeDevices(const DeviceKind& kind) {
  const DeviceEntry* const device = FindDevice(kind.name);
  CGRUN_CHECK(device != nullptr) << "no device " << kind.name;
  return device->describe == nullptr ? std::vector<std::string>() : device->describe();
}

std::unique_ptr<Device> OpenDevice(std::string_view name) {
  if (const DeviceEntry* const device = FindDevice(name)) return device->open(name);
  throw UserError("there is no device '" + std::string(name) + "'",
                  SuggestName(name, DeviceNames()));
}

}  // namespace cgrun
