// Copies between a plain tensor and the same in a layout, a piece at a time: for state, which lies
// as its kernels want it and is plain to all others.
#ifndef CGRUN_PROGRAM_LAYOUT_COPY_H_
#define CGRUN_PROGRAM_LAYOUT_COPY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    ForEachRun([&](size_t from) {
      for (size_t done = 0; done < run_;) {
        const size_t count = std::min(run_ - done, (staging.size() - filled) / bytes_);
        Copy(&staging[filled], bytes_, &plain[from + done * stride_], stride_, count);
        done += count;
        filled += count * bytes_;
        if (filled < staging.size()) continue;
        write(offset, staging);
        offset += filled;
        filled = 0;
      }
    });
    if (filled > 0) write(offset, staging.first(filled));
  }

  // The other way: read(offset, piece) fills pieces.
  template <class Read>
  void ToPlain(std::span<std::byte> plain, std::span<std::byte> staging, Read read) const {
    size_t offset = 0;
    std::span<std::byte> left;  // of the piece that was read last
    ForEachRun([&](size_t to) {
      for (size_t done = 0; done < run_;) {
        if (left.empty()) {
          left = staging.first(std::min(staging.size(), plain.size() - offset));
          read(offset, left);
          offset += left.size();
        }
        const size_t count = std::min(run_ - done, left.size() / bytes_);
        Copy(&plain[to + done * stride_], stride_, left.data(), bytes_, count);
        done += count;
        left = left.subspan(count * bytes_);
      }
    });
  }

 private:
  // Calls f(offset) for each run of the layout's order, with its first byte in the plain tensor.
  template <class F>
  void ForEachRun(F f) const {
    ForEachIndex<1>(runs_, {0}, [&](const auto& at) { f(static_cast<size_t>(at[0]) * bytes_); });
  }

  // Copies `count` elements, each so many bytes behind the one before it.
  void Copy(std::byte* to, size_t to_step, const std::byte* from, size_t from_step,
            size_t count) const;

  StridedSpace<1>
      runs_;           // all but the layout's last axis; offsets are elements of the plain tensor
  size_t run_ = 1;     // elements of that axis …
  size_t stride_ = 0;  // … and the bytes between them in the plain tensor
  size_t bytes_;       // of an element
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_LAYOUT_COPY_H_
