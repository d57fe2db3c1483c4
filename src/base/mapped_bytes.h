// Bytes in pages of their own: when they are freed, the system has them back. A block of the heap
// can stay resident then.
#ifndef CGRUN_BASE_MAPPED_BYTES_H_
#define CGRUN_BASE_MAPPED_BYTES_H_

#include <cstddef>
#include <memory>
#include <span>

namespace cgrun {

class MappedBytes {
 public:
  // Zeros, which take no memory before they are touched. Throws std::bad_alloc.
  explicit MappedBytes(size_t bytes);

  std::span<std::byte> bytes() const { return {pages_.get(), pages_.get_deleter().size}; }

 private:
  struct Unmap {
    size_t size;
    void operator()(std::byte* pages) const;
  };
  std::unique_ptr<std::byte, Unmap> pages_;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_MAPPED_BYTES_H_
