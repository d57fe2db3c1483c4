// The devices' kernel libraries, a line each.
#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/kernels/cpu/library.h"
#include "src/kernels/cuda/library.h"
#include "src/kernels/kernel.h"
#include "src/kernels/reference/library.h"

namespace cgrun {
namespace {

struct LibraryEntry {
  std::string_view device;
  const KernelLibrary* (*find)();  // null in a build without it
  std::string_view absent;         // the message of such a build
};

constexpr LibraryEntry kLibraries[] = {
    {"reference", [] { return &reference::Library(); }, ""},
    {"blas", [] { return &cpu::BlasLibrary(); }, ""},
    {"cpu", cpu::Library, "built without oneDNN"},
    {"cuda", cuda::Library, "built without CUDA"},
};

const LibraryEntry* FindEntry(std::string_view device) {
  for (const LibraryEntry& entry : kLibraries) {
    if (entry.device == device.substr(0, device.find(':'))) return &entry;
  }
  return nullptr;
}

}  // namespace

const KernelLibrary* FindKernelLibrary(std::string_view device) {
  const LibraryEntry* const entry = FindEntry(device);
  return entry == nullptr ? nullptr : entry->find();
}

std::string DescribeKernels(std::string_view device) {
  const LibraryEntry* const entry = FindEntry(device);
  CGRUN_CHECK(entry != nullptr) << "no kernels for " << device;
  try {
    const KernelLibrary* const library = entry->find();
    return library == nullptr ? std::string(entry->absent) : library->fingerprint();
  } catch (const UserError& error) {
    return std::string("none: ") + error.what();
  }
}

std::string_view FastestHostDevice() { return cpu::HasLibrary() ? "cpu" : "blas"; }

}  // namespace cgrun
