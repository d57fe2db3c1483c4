// Mappings of files, and the handler of SIGBUS for those that get shorter.
#include "src/io/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/base/file_kind.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

[[noreturn]] void ThrowSpecialFile(const std::string& path, std::string_view kind) {
  ThrowFileError(path, "is " + std::string(kind) + ", not a file");
}

}  // namespace

int OpenRegular(const std::string& path, int64_t* size) {
  if (path.find('\0') != path.npos) ThrowSystemError("open", path, EINVAL);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENXIO) ThrowSpecialFile(path, SpecialKindOf(path));  // a socket
  if (fd < 0) ThrowSystemError("open", path, errno);
  try {
    *size = RegularSize(fd, path);
  } catch (...) {
    close(fd);
    throw;
  }
  return fd;
}

int64_t RegularSize(int fd, const std::string& path) {
  struct stat status;
  if (fstat(fd, &status) != 0) ThrowSystemError("open", path, errno);
  if (!S_ISREG(status.st_mode)) ThrowSpecialFile(path, SpecialKind(status.st_mode));
  return status.st_size;
}

// Addresses whose bytes may vanish. The handler walks a list of them, to which only is added: it
// may run between any two instructions. An entry without addresses is used again.
struct MappedFile::Region {
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<bool> used = true, cut = false;
  Region* next = nullptr;

  static Region* Take();
  static void OnBusError(int signal, siginfo_t* info, void* context);
};

namespace {

std::atomic<MappedFile::Region*> g_regions = nullptr;
struct sigaction g_former_action;

}  // namespace

// Zeros take the place of what is gone.
void MappedFile::Region::OnBusError(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Region* region = g_regions.load(); region != nullptr; region = region->next) {
    const uintptr_t end = region->end.load();
    if (address < region->begin.load() || address >= end) continue;
    const uintptr_t page = address & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
    void* const zeros = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    region->cut.store(true);
    if (zeros != MAP_FAILED) return;
  }
  sigaction(SIGBUS, &g_former_action, nullptr);  // the access is tried again, and fails as before
  if (info->si_code <= 0) raise(SIGBUS);         // there was no access: somebody sent the signal
}

MappedFile::Region* MappedFile::Region::Take() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGBUS, &action, &g_former_action);
  });
  for (Region* region = g_regions.load(); region != nullptr; region = region->next) {
    if (!region->used.exchange(true)) return region;
  }
  auto* const region = new Region;  // never freed: the handler may look at it
  region->next = g_regions.load();
  while (!g_regions.compare_exchange_weak(region->next, region)) {
  }
  return region;
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  int64_t size = 0;
  const int fd = OpenRegular(path, &size);
  try {
    Map(fd, size);
  } catch (...) {
    close(fd);
    throw;
  }
  close(fd);
}

MappedFile::MappedFile(int fd, const std::string& path) : path_(path) {
  Map(fd, RegularSize(fd, path));
}

void MappedFile::Map(int fd, int64_t size) {
  if (size == 0) return;
  const auto bytes = static_cast<size_t>(size);
  void* const pages = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (pages == MAP_FAILED) ThrowSystemError("map", path_, errno);
  bytes_ = {static_cast<const std::byte*>(pages), bytes};
  region_ = Region::Take();
  region_->cut = false;
  region_->begin = reinterpret_cast<uintptr_t>(pages);
  region_->end = region_->begin + bytes;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  region_->end = 0;
  region_->begin = 0;
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  region_->used = false;
}

void MappedFile::CheckWhole() const {
  if (region_ == nullptr || !region_->cut) return;
  ThrowFileError(path_, "has become shorter while it was read",
                 "another program writes it: wait until it is whole");
}

}  // namespace cgrun
