// NumPy's .npy files (NEP 1), versions 1 to 3.
#ifndef CGRUN_IO_NPY_FILE_H_
#define CGRUN_IO_NPY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/io/atomic_file.h"
#include "src/io/read_file.h"

namespace cgrun {

struct NpyHeader {
  std::string descriptor;      // of an element, as "<f4"
  bool fortran_order = false;  // the first axis varies fastest
  std::vector<int64_t> sizes;  // not checked
};

// Returns whether a file begins as they do, uncompressed; false where it cannot be read.
bool BeginsAsNpy(const std::string& path);

// Reads up to the first element. UserError where that is no header.
NpyHeader ReadNpyHeader(FileReader& reader);

// Little-endian arrays of our number types; one in Fortran's order is transposed into row-major
// order. bf16 is '<V2', as the ml_dtypes package writes it. The file may be compressed by gzip.
// UserError names the file; an array of more than `limit` bytes is refused before memory is taken.
HostTensor ReadNpy(const std::string& path, int64_t limit = kNoLimit);

// The bytes that NumPy 2 writes for the array, atomically. `shape` is bound; `bytes` are its
// elements in row-major order.
void WriteNpy(std::string_view path, DType dtype, const Shape& shape,
              std::span<const std::byte> bytes);
void WriteNpy(std::string_view path, const HostTensor& tensor);

// Does the same row by row, where nobody knows how many there will be. No row is kept in memory.
// Without Commit() no file comes to be. Throws what AtomicFile throws.
class NpyWriter {
 public:
  // An array of rows of `row`, which is bound, `most` of them at the most.
  NpyWriter(std::string_view path, DType dtype, const Shape& row, int64_t most);

  void Add(std::span<const std::byte> row);
  void Commit();

 private:
  DType dtype_;
  Shape row_;
  int64_t most_;
  int64_t rows_ = 0;
  size_t header_bytes_ = 0;
  AtomicFile file_;
};

}  // namespace cgrun

#endif  // CGRUN_IO_NPY_FILE_H_
