// Reads how much memory the system counts for this process, and keeps the peak so far.
#ifndef CGRUN_BASE_PROCESS_MEMORY_H_
#define CGRUN_BASE_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <new>

namespace cgrun {

// Bytes, from /proc/self/status; 0 where the system does not tell.
struct ProcessMemory {
  int64_t anonymous = 0;      // resident, of the process alone (RssAnon)
  int64_t mapped_files = 0;   // resident code, libraries and other files (RssFile)
  int64_t page_tables = 0;    // of the kernel, for the process (VmPTE)
  int64_t address_space = 0;  // VmSize
  int64_t data = 0;           // addresses of the process alone that it can write to (VmData)
  int64_t most_resident = 0;  // of both kinds, the most since the process began (VmHWM)
  int64_t threads = 0;        // a count
};

// Allocates nothing.
ProcessMemory ReadProcessMemory();

// Returns the most anonymous memory that the process has taken since it began, in bytes. Linux
// keeps such a figure only together with what is mapped from files. So operator new and delete take
// samples: after each kSampleBytes that were taken, and before a larger block is given back. The
// result is at most about kSampleBytes below the truth, if users of malloc and mmap call
// SampleMemory(). Under a sanitizer, which brings its own operator new, their samples alone count.
int64_t PeakAnonymousBytes();

// Takes a sample; call it while the memory is in use. Allocates nothing.
void SampleMemory();

// Has all threads share one heap, and gives large blocks pages of their own. A heap of its own
// reserves 64 MiB of addresses for each thread, and keeps what the thread has freed. Call it before
// there are threads.
void ShareOneHeap();

// Forgets the peak, for tests that run several models in one process.
void ForgetPeak();

// Thrown by operator new if too little memory is left: the system would kill the process.
class RoomRanOut : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "too little memory is left"; }
};

// Has operator new ask how many bytes are left: at once, and then each time that half of what was
// left above kLeastRoom has been taken, but not within kSampleBytes. If fewer than kLeastRoom are
// left, it throws RoomRanOut. Null ends the watch. A run that has been planned
// may fill what there is: end the watch before it takes its arena.
void WatchRoom(int64_t (*bytes_left)());
inline constexpr int64_t kLeastRoom = int64_t{1} << 20;

// For operator new and operator delete. NoteTaken() may throw RoomRanOut.
inline constexpr size_t kSampleBytes = size_t{256} << 10;
void NoteTaken(size_t bytes);
void NoteGivenBack(size_t bytes);

}  // namespace cgrun

#endif  // CGRUN_BASE_PROCESS_MEMORY_H_
