// Files that are replaced as a whole or not at all, whatever kills the program or the machine.
#ifndef CGRUN_IO_ATOMIC_FILE_H_
#define CGRUN_IO_ATOMIC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Writes files again and again. After its construction it does not allocate (except for an error,
// or a path of over 1,000 bytes). It writes to PATH.tmp in the same folder, which must exist.
// Commit() syncs that, renames it to PATH and syncs the folder. PATH.tmp is locked meanwhile: one
// that a killed run left is taken over, and beside one that lives PATH.tmp1, … is used. If PATH is
// a symbolic link, the link is replaced.
//
// Open, Write and Commit throw UserError "cannot write 'PATH': No space left on device". The
// temporary file is then gone and PATH is as it was (except if the folder's sync fails, the last
// step).
class AtomicFile {
 public:
  static constexpr size_t kBufferBytes = size_t{1} << 18;

  explicit AtomicFile(size_t buffer_bytes = kBufferBytes);
  ~AtomicFile();  // as Discard()
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Begins a new file; one that was not committed is discarded.
  void Open(std::string_view path);
  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text);
  // Replaces bytes that were written, from `offset` on.
  void Rewrite(int64_t offset, std::string_view text);
  void Commit();
  // Removes the temporary file. PATH stays as it was.
  void Discard() noexcept;

 private:
  void RefuseSpecialFile();
  void OpenTemporary();
  void Flush();
  void WriteOut(std::span<const std::byte> bytes);
  void SyncFolder();
  [[noreturn]] void Fail(int error);

  std::vector<std::byte> buffer_;
  size_t buffered_ = 0;
  std::string path_, temporary_;
  int fd_ = -1;
};

// One file of `bytes`, in one call.
void WriteFileAtomically(std::string_view path, std::span<const std::byte> bytes);

// The path that "PATH.tmp", "PATH.tmp1", … is the temporary file of; "" of every other name.
std::string_view PathOfTemporary(std::string_view path);

// Removes a temporary file unless its writer lives. It is no error where that fails: the next
// writer takes the file over.
void RemoveLeftTemporary(const std::string& temporary);

}  // namespace cgrun

#endif  // CGRUN_IO_ATOMIC_FILE_H_
