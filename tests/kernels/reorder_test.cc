// reorder: there and back is the identity, padding is zero, and elements lie where the layout says.
#include "src/ops/reorder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "src/kernels/reference/library.h"

namespace cgrun {
namespace {

using Floats = std::vector<float>;

Layout Parsed(const std::string& text) {
  Layout layout;
  RC_ASSERT(Layout::Parse(text, &layout));
  return layout;
}

// Runs the kernel on an output that is full of rubbish before.
Floats Reorder(const Shape& shape, const std::string& from, const std::string& to, Floats x) {
  const TensorType type{DType::kF32, shape};
  const NodeSignature node{
      OpId::reorder, Attributes::Of(ReorderAttributes{from, to}), {type}, {type}, {}};
  const auto options = reference::Library().Options(node, {});
  RC_ASSERT(options.size() == 1u);
  RC_ASSERT(options[0].input_layouts[0] == Parsed(from));
  RC_ASSERT(options[0].output_layouts[0] == Parsed(to));
  Floats y(static_cast<size_t>(ByteSize(type, Parsed(to))) / 4, -7.0f);
  const KernelRequest request{node, {{Parsed(from), {}}, {Parsed(to), {}}}, 1};
  const PreparedKernel kernel = reference::Library().Prepare(options[0].kernel, request);
  RunContext context;  // without a base, offsets are addresses
  const Operand operands[] = {
      {reinterpret_cast<int64_t>(x.data()), ArenaKind::kDevice, Access::kRead},
      {reinterpret_cast<int64_t>(y.data()), ArenaKind::kDevice, Access::kWrite}};
  kernel.run(context, {kernel.run, operands, kernel.parameters.get(), 2, 0});
  return y;
}

// 1, 2, 3, …: no element is zero, as padding is.
Floats Counted(int64_t elements) {
  Floats x;
  for (int64_t i = 1; i <= elements; ++i) x.push_back(static_cast<float>(i));
  return x;
}

TEST(Reorder, BlocksByHand) {
  // Three rows of two, in blocks of two rows: the fourth row is padding.
  EXPECT_EQ(Reorder({3, 2}, "plain", "Ab2a", {1, 2, 3, 4, 5, 6}), (Floats{1, 3, 2, 4, 5, 0, 6, 0}));
  EXPECT_EQ(Reorder({2, 3}, "plain", "ba", {1, 2, 3, 4, 5, 6}), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Reorder({1, 3, 1, 1}, "plain", "aBcd4b", {1, 2, 3}), (Floats{1, 2, 3, 0}));
}

RC_GTEST_PROP(Reorder, ThereAndBackIsTheIdentity, ()) {
  const std::vector<std::string> layouts = {"plain",    "abcd",     "acdb",       "dcba",  "aBcd4b",
                                            "ABcd2a3b", "aBcd2b2b", "ABcd16a16b", "dCba3c"};
  const auto size = rc::gen::inRange<int64_t>(1, 6);
  const Shape shape{*size, *size, *size, *size};
  const std::string there = *rc::gen::elementOf(layouts), on = *rc::gen::elementOf(layouts);
  const Floats x = Counted(shape.Elements());
  const Floats y = Reorder(shape, "plain", there, x);
  RC_ASSERT(Reorder(shape, there, "plain", y) == x);
  RC_ASSERT(Reorder(shape, there, on, y) == Reorder(shape, "plain", on, x));
  RC_ASSERT(std::count(y.begin(), y.end(), 0.0f) == std::ssize(y) - std::ssize(x));
  int64_t element = 0;
  std::vector<int64_t> i(4);
  for (i[0] = 0; i[0] < shape[0].size; ++i[0])
    for (i[1] = 0; i[1] < shape[1].size; ++i[1])
      for (i[2] = 0; i[2] < shape[2].size; ++i[2])
        for (i[3] = 0; i[3] < shape[3].size; ++i[3]) {
          const auto at = static_cast<size_t>(ElementOffset(shape, Parsed(there), i));
          RC_ASSERT(y[at] == x[static_cast<size_t>(element++)]);
        }
}

}  // namespace
}  // namespace cgrun
