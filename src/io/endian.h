// Numbers in files: little- and big-endian words at any address, on a little-endian machine.
#ifndef CGRUN_IO_ENDIAN_H_
#define CGRUN_IO_ENDIAN_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

namespace cgrun {

static_assert(std::endian::native == std::endian::little,
              "tensors are written to files as they lie in memory");

template <class T>
T LoadLittle(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void StoreLittle(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

template <class T>
T LoadBig(const std::byte* from) {
  std::byte reversed[sizeof(T)];
  std::reverse_copy(from, from + sizeof(T), reversed);
  return LoadLittle<T>(reversed);
}

// The bytes of `text` or of `values`, for what writes bytes.
template <class Range>
std::span<const std::byte> AsBytes(const Range& range) {
  return std::as_bytes(std::span(range.data(), range.size()));
}

}  // namespace cgrun

#endif  // CGRUN_IO_ENDIAN_H_
