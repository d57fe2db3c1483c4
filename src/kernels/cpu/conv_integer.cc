// Computes conv_integer: the patches that the filters read are packed as rows of 16-bit integers,
// some places at a time, and multiplied with packed filters.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/conv_integer.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/integer_tiles.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/integer_product.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kMostPlaces = 64;  // of a part, a multiple of kIntegerTile

struct Parameters {
  ConvIntegerSizes sizes;
  int threads = 1;

  const ConvSizes& conv() const { return sizes.conv; }
  int64_t filters() const { return conv().groups * conv().filters; }
  int64_t width() const { return IntegerRowWidth(conv().taps()); }
  int64_t parts() const { return (conv().output_plane() + kMostPlaces - 1) / kMostPlaces; }
  int64_t packed_filters() const { return filters() * width(); }
  int64_t packed_places() const { return kMostPlaces * width(); }  // of a thread
};

// The columns [first, last) of a filter's row that lie inside the image when it begins at `x`.
struct Inside {
  int64_t first = 0, last = 0;

  Inside(const WindowAxis& axis, int64_t x) : last(axis.kernel) {
    while (first < last && x + first * axis.dilation < 0) ++first;
    while (last > first && x + (last - 1) * axis.dilation >= axis.input) --last;
  }
};

// Packs what the filters of a group read for output `place`. Padding is the zero point.
template <class Byte>
void PackPlace(const ConvSizes& conv, const Byte* x, int32_t zero, int64_t place, int16_t* to) {
  const WindowAxis &wy = conv.window.y, &wx = conv.window.x;
  const int64_t top = wy.InputOf(place / wx.output, 0), left = wx.InputOf(place % wx.output, 0);
  const Inside columns(wx, left), rows(wy, top);
  std::fill_n(to, IntegerRowWidth(conv.taps()), int16_t{0});
  for (int64_t c = 0; c < conv.channels; ++c) {
    for (int64_t u = rows.first; u < rows.last; ++u) {
      const Byte* row = x + c * conv.input_plane() + (top + u * wy.dilation) * wx.input;
      int16_t* taps = to + (c * wy.kernel + u) * wx.kernel;
      for (int64_t v = columns.first; v < columns.last; ++v) {
        taps[v] = static_cast<int16_t>(row[left + v * wx.dilation] - zero);
      }
    }
  }
}

// One part of the places of one group of one image, in `packed`, times the group's filters.
void RunPart(const Parameters& p, const std::byte* x, int32_t zero, const int16_t* filters,
             int64_t first, int16_t* packed, int32_t* y) {
  const ConvSizes& conv = p.conv();
  const int64_t count = std::min(kMostPlaces, conv.output_plane() - first);
  for (int64_t j = 0; j < count; ++j) {
    int16_t* to = packed + j * p.width();
    if (p.sizes.x.is_signed) {
      PackPlace(conv, reinterpret_cast<const int8_t*>(x), zero, first + j, to);
    } else {
      PackPlace(conv, reinterpret_cast<const uint8_t*>(x), zero, first + j, to);
    }
  }
  MultiplyIntegerRows(filters, conv.filters, packed, count, p.width(), y + first,
                      conv.output_plane());
}

void PackFilters(const Parameters& p, const std::byte* weight, const std::byte* zero, int16_t* to) {
  const int64_t taps = p.conv().taps();
  Split(p.threads, p.filters(), kIntegerTile, [=, &p](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      PackIntegerRow(weight + f * taps, p.sizes.weight.is_signed, 1, taps,
                     p.sizes.weight_zero.At(zero, f), to + f * p.width());
    }
  });
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const ConvSizes& conv = p.conv();
  const auto* x = Data<const std::byte>(context, i, 0);
  const int32_t x_zero = p.sizes.x_zero.At(Data<const std::byte>(context, i, 2), 0);
  auto* y = Data<int32_t>(context, i, 4);
  auto* filters = Data<int16_t>(context, i, 5);
  PackFilters(p, Data<const std::byte>(context, i, 1), Data<const std::byte>(context, i, 3),
              filters);
  const int64_t parts = conv.images * conv.groups * p.parts();
  SplitParts(p.threads, parts, 1, [=, &p, &conv](int thread, int64_t begin, int64_t end) {
    int16_t* packed = filters + p.packed_filters() + thread * p.packed_places();
    for (int64_t part = begin; part < end; ++part) {
      const int64_t group = part / p.parts();  // of all images
      const int16_t* of_group = filters + group % conv.groups * conv.filters * p.width();
      RunPart(p, x + group * conv.group_input(), x_zero, of_group, part % p.parts() * kMostPlaces,
              packed, y + group * conv.group_output());
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(
      &Run, Parameters{ConvIntegerSizes::Of(request.node), ThreadsFor(request, Work::kComputes)});
}

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  const Parameters p{ConvIntegerSizes::Of(node)};
  return (p.packed_filters() + threads * p.packed_places()) * static_cast<int64_t>(sizeof(int16_t));
}

KernelDef conv_integer() {
  return {.name = "cpu.conv_integer",
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .flops_per_second = 30e9};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(conv_integer)

}  // namespace cgrun::cpu
#endif
