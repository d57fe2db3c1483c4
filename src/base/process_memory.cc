// The figures come from files of /proc/self.
#include "src/base/process_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace cgrun {
namespace {

// A block of at least this many bytes gets pages of its own, which return to the system when it is
// freed. This is glibc's initial threshold. If nobody sets it, glibc raises it to the size of each
// such block that is freed. The heap then keeps up to twice as much free.
constexpr int kOwnPages = 128 << 10;

std::atomic<int64_t (*)()> room{nullptr};  // of WatchRoom()
std::atomic<int64_t> unasked_bytes{0};     // that may be taken before it is asked again
thread_local bool is_asking = false;
std::atomic<int64_t> peak_bytes{0};
std::atomic<size_t> taken_bytes{0};  // since the last sample

// Ends in a 0; empty where the file cannot be read.
template <size_t kBytes>
std::array<char, kBytes> TextOf(const char* path) {
  std::array<char, kBytes> text = {};
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  if (read(file, text.data(), kBytes - 1) < 0) text[0] = '\0';
  close(file);
  return text;
}

// The number of a line as "RssAnon:      1234 kB".
int64_t NumberBehind(const char* text, const char* key) {
  const char* const line = std::strstr(text, key);
  return line == nullptr ? 0 : std::strtoll(line + std::strlen(key), nullptr, 10);
}

// Reads "size resident shared …" in pages, from a shorter file than `status`. Shared pages are
// mapped from files, or are shared memory.
int64_t AnonymousBytes() {
  const auto text = TextOf<128>("/proc/self/statm");
  char* next = const_cast<char*>(text.data());
  std::strtoll(next, &next, 10);
  const int64_t resident = std::strtoll(next, &next, 10);
  const int64_t shared = std::strtoll(next, &next, 10);
  return (resident - shared) * sysconf(_SC_PAGESIZE);
}

}  // namespace

ProcessMemory ReadProcessMemory() {
  constexpr int64_t kKiB = 1024;
  const auto text = TextOf<4096>("/proc/self/status");
  const auto bytes = [&](const char* key) { return NumberBehind(text.data(), key) * kKiB; };
  return {.anonymous = bytes("RssAnon:"),
          .mapped_files = bytes("RssFile:"),
          .page_tables = bytes("VmPTE:"),
          .address_space = bytes("VmSize:"),
          .data = bytes("VmData:"),
          .most_resident = bytes("VmHWM:"),
          .threads = NumberBehind(text.data(), "\nThreads:")};
}

void SampleMemory() {
  taken_bytes.store(0, std::memory_order_relaxed);
  const int64_t bytes = AnonymousBytes();
  int64_t before = peak_bytes.load(std::memory_order_relaxed);
  while (before < bytes &&
         !peak_bytes.compare_exchange_weak(before, bytes, std::memory_order_relaxed)) {
  }
}

int64_t PeakAnonymousBytes() {
  SampleMemory();
  return peak_bytes.load(std::memory_order_relaxed);
}

void ShareOneHeap() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kOwnPages);
}

void ForgetPeak() { peak_bytes.store(0, std::memory_order_relaxed); }

void WatchRoom(int64_t (*bytes_left)()) {
  unasked_bytes.store(0, std::memory_order_relaxed);
  room.store(bytes_left, std::memory_order_relaxed);
}

namespace {

// Whoever asks allocates, too. `taken`: bytes since the last call.
void CheckRoomLeft(int64_t taken) {
  const auto bytes_left = room.load(std::memory_order_relaxed);
  if (bytes_left == nullptr || is_asking) return;
  if (unasked_bytes.fetch_sub(taken, std::memory_order_relaxed) > taken) return;
  is_asking = true;
  const int64_t left = bytes_left();
  is_asking = false;
  if (left < kLeastRoom) throw RoomRanOut();
  unasked_bytes.store((left - kLeastRoom) / 2, std::memory_order_relaxed);
}

}  // namespace

void NoteTaken(size_t bytes) {
  const size_t before = taken_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes < kSampleBytes) return;
  SampleMemory();
  CheckRoomLeft(static_cast<int64_t>(before + bytes));
}

void NoteGivenBack(size_t bytes) {
  if (bytes >= kSampleBytes || taken_bytes.load(std::memory_order_relaxed) >= kSampleBytes) {
    SampleMemory();
  }
}

}  // namespace cgrun
