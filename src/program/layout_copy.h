// Copies between a plain tensor and the same in a layout, a piece at a time: for state, which lies
// as its kernels want it and is plain to all others.
#ifndef CGRUN_PROGRAM_LAYOUT_COPY_H_
#define CGRUN_PROGRAM_LAYOUT_COPY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "src/ir/tensor_type.h"
#include "src/kernels/strided.h"

namespace cgrun {

class LayoutCopy {
 public:
  // `layout` does not pad `type`.
  LayoutCopy(const TensorType& type, const Layout& layout);

  // Calls write(offset, piece) for the bytes of `plain` as they lie in the layout, from offset 0
  // on. Pieces are as large as `staging`, a multiple of eight bytes, in which they stand.
  template <class Write>
  void FromPlain(std::span<const std::byte> plain, std::span<std::byte> staging,
                 Write write) const {
    size_t offset = 0, filled = 0;
    ForEachIndex<1>(space_, {0}, [&](const auto& at) {
      CopyElement(&staging[filled], &plain[static_cast<size_t>(at[0]) * bytes_]);
      filled += bytes_;
      if (filled < staging.size()) return;
      write(offset, staging);
      offset += filled;
      filled = 0;
    });
    if (filled > 0) write(offset, staging.first(filled));
  }

  // The other way: read(offset, piece) fills pieces.
  template <class Read>
  void ToPlain(std::span<std::byte> plain, std::span<std::byte> staging, Read read) const {
    size_t offset = 0, left = 0;
    std::span<std::byte> piece;
    ForEachIndex<1>(space_, {0}, [&](const auto& at) {
      if (left == 0) {
        piece = staging.first(std::min(staging.size(), plain.size() - offset));
        read(offset, piece);
        offset += piece.size();
        left = piece.size();
      }
      CopyElement(&plain[static_cast<size_t>(at[0]) * bytes_], &piece[piece.size() - left]);
      left -= bytes_;
    });
  }

 private:
  // Known sizes are moves, not calls.
  void CopyElement(std::byte* to, const std::byte* from) const {
    if (bytes_ == 4) {
      std::memcpy(to, from, 4);
    } else if (bytes_ == 2) {
      std::memcpy(to, from, 2);
    } else {
      std::memcpy(to, from, bytes_);
    }
  }

  StridedSpace<1> space_;  // the layout's order; offsets are elements of the plain tensor
  size_t bytes_;           // of an element
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_LAYOUT_COPY_H_
