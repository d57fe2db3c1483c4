// Computes conv_integer, a sum after the other. Unsigned sums wrap around.
#include "src/kernels/integer_product.h"
#include "src/kernels/reference/conv.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// The sum of one filter at one place. `x` is one group of one image.
int32_t SumAt(const ConvIntegerSizes& p, const std::byte* x, int32_t x_zero,
              const std::byte* filter, int32_t filter_zero, int64_t place) {
  const Window& window = p.conv.window;
  const WindowAxis &wy = window.y, &wx = window.x;
  uint32_t sum = 0;
  int64_t tap = 0;
  for (int64_t c = 0; c < p.conv.channels; ++c) {
    for (int64_t u = 0; u < wy.kernel; ++u) {
      for (int64_t v = 0; v < wx.kernel; ++v, ++tap) {
        const int64_t row = wy.InputOf(place / wx.output, u);
        const int64_t column = wx.InputOf(place % wx.output, v);
        if (!IsInside(row, column, window)) continue;
        const int64_t at = c * p.conv.input_plane() + row * wx.input + column;
        const int32_t left = p.weight.At(filter, tap) - filter_zero;
        sum += static_cast<uint32_t>(left * (p.x.At(x, at) - x_zero));
      }
    }
  }
  return static_cast<int32_t>(sum);
}

void RunConvInteger(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConvIntegerSizes*>(i.parameters);
  const ConvSizes& conv = p.conv;
  const auto* x = Data<const std::byte>(context, i, 0);
  const auto* weight = Data<const std::byte>(context, i, 1);
  const int32_t x_zero = p.x_zero.At(Data<const std::byte>(context, i, 2), 0);
  const auto* weight_zero = Data<const std::byte>(context, i, 3);
  auto* y = Data<int32_t>(context, i, 4);
  const int64_t filters = conv.groups * conv.filters;
  for (int64_t n = 0; n < conv.images; ++n) {
    for (int64_t f = 0; f < filters; ++f) {
      const std::byte* group = x + (n * conv.groups + f / conv.filters) * conv.group_input();
      for (int64_t place = 0; place < conv.output_plane(); ++place) {
        *y++ = SumAt(p, group, x_zero, weight + f * conv.taps(), p.weight_zero.At(weight_zero, f),
                     place);
      }
    }
  }
}

PreparedKernel PrepareConvInteger(const KernelRequest& request) {
  return PreparedKernel::Of(&RunConvInteger, ConvIntegerSizes::Of(request.node));
}

}  // namespace

KernelDef conv_integer() {
  return {.name = "reference.conv_integer", .prepare = PrepareConvInteger};
}

}  // namespace cgrun::reference
