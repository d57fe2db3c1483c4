// Stores decoded samples in memory, or in a file where they do not fit there.
#ifndef CGRUN_DATA_SAMPLE_STORE_H_
#define CGRUN_DATA_SAMPLE_STORE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/options.h"

namespace cgrun {

// Bytes that are written once, while a data set is opened, and are then read at any place by
// several threads at once.
class SampleStore {
 public:
  SampleStore();  // of no bytes
  ~SampleStore();
  SampleStore(SampleStore&& other) noexcept;
  SampleStore& operator=(SampleStore&& other) noexcept;

  // Zeros in memory. Throws std::bad_alloc.
  static SampleStore InMemory(int64_t bytes);
  // Makes zeros in a file without a name, which has all of its bytes on the disk of `folder`.
  // `path`, whose samples they are, is for errors. Throws UserError if the disk is full.
  static SampleStore InUnnamedFile(const std::string& path, int64_t bytes,
                                   const std::string& folder);
  // The bytes of the file `path` from `begin` on, which need not be written. UserError where it
  // cannot be opened.
  static SampleStore OfFile(const std::string& path, int64_t begin, int64_t bytes);

  int64_t bytes() const { return bytes_; }
  // Bytes in the process's memory; 0 for a file.
  int64_t memory_bytes() const { return memory_ != nullptr ? bytes_ : 0; }

  // Returns whether somebody has to write the bytes.
  bool needs_writing() const { return writable_ != nullptr; }
  // All bytes, until Seal().
  std::span<std::byte> Writable() { return {writable_, static_cast<size_t>(bytes_)}; }
  // Ends writing. A file is no longer mapped then, so that reading it takes no memory.
  void Seal();

  // Copies the bytes from `at` on into `out`. Does not allocate, except for an error: UserError
  // where the file has become shorter, or cannot be read.
  void Read(int64_t at, std::span<std::byte> out) const;
  // Does the same as a view, which is valid as long as `buffer` is left as it is. Bytes that lie in
  // a file are read into `buffer`.
  std::span<const std::byte> View(int64_t at, int64_t bytes, std::vector<std::byte>& buffer) const;

 private:
  int64_t bytes_ = 0;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  std::byte* writable_ = nullptr;
  bool mapped_ = false;  // `writable_` is a mapping of the file
  int file_ = -1;
  int64_t begin_ = 0;  // in the file
  std::string path_;   // whose samples they are
};

// Calls `act(at, bytes)` for all of a store, in pieces of whole records of `record` bytes each.
template <class Act>
void ForEachPiece(const SampleStore& store, int64_t record, Act act) {
  constexpr int64_t kPiece = 1 << 18;
  const int64_t piece = std::max<int64_t>(1, kPiece / record) * record;
  std::vector<std::byte> buffer;
  for (int64_t at = 0; at < store.bytes(); at += piece) {
    act(at, store.View(at, std::min(piece, store.bytes() - at), buffer));
  }
}

// Hands out the memory budget for the samples of one data set, file by file.
class SampleRoom {
 public:
  // Takes the limits of `options`.
  explicit SampleRoom(const DataOptions& options);
  // Allows memory only: nothing streams.
  explicit SampleRoom(const MemoryLeft& left) : left_(left), in_memory_(left.bytes) {}

  // A store for `bytes` that are decoded from the file `path`: in memory where they fit, else in a
  // file without a name. `what` begins the error where neither can be: ": 60000 x 28 elements of
  // uint8 take". No `bytes`: more than 64 bits count.
  SampleStore Take(const std::string& path, const std::string& what, std::optional<int64_t> bytes);
  // Works as Take() for bytes that need no decoding. If they do not fit, they are read from the
  // file itself, from `begin` on.
  SampleStore TakeAsTheyAre(const std::string& path, const std::string& what, int64_t begin,
                            int64_t bytes);

  // Dataset::Notes(): which samples lie in files.
  std::vector<std::string> notes() const;
  // Returns whether samples that do not fit may lie in files.
  bool streams() const { return !folder_.empty(); }
  // The most bytes that can be taken, as far as memory counts.
  int64_t most() const { return streams() ? kNoLimit : in_memory_; }

 private:
  bool Fits(int64_t bytes) const { return bytes <= in_memory_; }
  SampleStore TakeMemory(const std::string& path, int64_t bytes);
  void Note(const std::string& path, int64_t bytes, bool in_own_file);

  // Describes the samples of a file that do not lie in memory.
  struct Streamed {
    std::string path;
    bool in_own_file = false;
    int64_t bytes = 0;
  };

  MemoryLeft left_;     // for errors
  int64_t in_memory_;   // bytes that may still be taken
  std::string folder_;  // for files without a name; "": there may be none
  std::vector<Streamed> streamed_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_SAMPLE_STORE_H_
