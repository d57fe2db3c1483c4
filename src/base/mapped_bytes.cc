// Each object has an anonymous, private mapping.
#include "src/base/mapped_bytes.h"

#include <sys/mman.h>

#include <new>

#include "src/base/process_memory.h"

namespace cgrun {

MappedBytes::MappedBytes(size_t bytes) : pages_(nullptr, Unmap{bytes}) {
  if (bytes == 0) return;
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  pages_.reset(static_cast<std::byte*>(pages));
}

void MappedBytes::Unmap::operator()(std::byte* pages) const {
  NoteGivenBack(size);  // the peak of the process counts them
  munmap(pages, size);
}

}  // namespace cgrun
