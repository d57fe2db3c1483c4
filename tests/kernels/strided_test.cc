// Strided walks against index arithmetic written out, on random shapes and strides; and that the
// kernels made of them agree with it: reductions, broadcasts, transposes, slices.
#include "src/kernels/strided.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "src/kernels/kernel.h"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"
#include "src/ops/slice.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

using Index = std::vector<int64_t>;

// Calls f for every index of the sizes, in row-major order.
template <class F>
void ForEach(const Index& sizes, F f) {
  Index index(sizes.size());
  for (;;) {
    f(index);
    size_t axis = sizes.size();
    while (axis > 0 && ++index[axis - 1] == sizes[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

int64_t Offset(const Index& index, const Index& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
}

Index RandomSizes(int least_rank = 0) {
  const auto rank = *rc::gen::inRange<size_t>(static_cast<size_t>(least_rank), 6);
  return *rc::gen::container<Index>(rank, rc::gen::inRange<int64_t>(1, 5));
}

// 0, 1, 2, … so that every element tells where it came from.
HostTensor Counted(const Index& sizes) {
  HostTensor tensor(DType::kF64, Shape::Of(sizes));
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.Set(i, static_cast<double>(i));
  return tensor;
}

HostTensor Evaluated(OpId op, const Attributes& attributes, const std::vector<HostTensor>& inputs) {
  NodeSignature node{op, attributes, {}, {}, {}};
  for (const HostTensor& input : inputs) node.inputs.push_back({input.dtype(), input.shape()});
  InferContext context(attributes, node.inputs);
  node.outputs = InferTypes(op, context);
  RC_ASSERT(!context.failed());
  return FindKernelLibrary("reference")->Evaluate(node, inputs).value()[0];
}

TEST(StridedSpaceTest, VisitsEveryIndexInOrder) {
  rc::check([] {
    const Index sizes = RandomSizes();
    const auto strides = [&] {
      return *rc::gen::container<Index>(sizes.size(), rc::gen::inRange<int64_t>(0, 50));
    };
    const Index a = strides(), b = RowMajorStrides(Shape::Of(sizes));
    std::vector<std::array<int64_t, 2>> expected, seen;
    ForEach(sizes, [&](const Index& index) {
      expected.push_back({3 + Offset(index, a), 7 + Offset(index, b)});
    });
    const auto space = MakeSpace<2>(sizes, {a, b});
    ForEachIndex(space, {3, 7}, [&](const auto& at) { seen.push_back(at); });
    RC_ASSERT(seen == expected);
  });
}

TEST(StridedSpaceTest, PlainTensorsAreOneLoop) {
  const Index sizes = {2, 3, 1, 4}, strides = RowMajorStrides(Shape::Of(sizes));
  const auto space = MakeSpace<2>(sizes, {strides, strides});
  EXPECT_TRUE(space.outer.empty());
  EXPECT_EQ(space.inner.size, 24);
}

TEST(StridedKernels, ReductionsAddTheirGroups) {
  rc::check([] {
    const Index sizes = RandomSizes(1);
    IntList axes;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if (*rc::gen::arbitrary<bool>()) axes.push_back(static_cast<int64_t>(axis));
    }
    RC_PRE(!axes.empty());
    const HostTensor x = Counted(sizes);
    const HostTensor y =
        Evaluated(OpId::reduce_sum, Attributes::Of(ReduceAttributes{axes, true}), {x});
    const Index strides = RowMajorStrides(y.shape());
    std::vector<double> sums(static_cast<size_t>(y.elements()));
    int64_t element = 0;
    ForEach(sizes, [&](Index index) {
      for (int64_t axis : axes) index[static_cast<size_t>(axis)] = 0;
      sums[static_cast<size_t>(Offset(index, strides))] += x.At(element++);
    });
    RC_ASSERT(y == HostTensor::Of<double>(y.shape(), sums));
  });
}

TEST(StridedKernels, BroadcastOperandsMeet) {
  rc::check([] {
    const Index sizes = RandomSizes();
    const auto operand = [&] {  // some sizes 1, some leading axes left out
      Index own = sizes;
      for (int64_t& size : own) {
        if (*rc::gen::arbitrary<bool>()) size = 1;
      }
      const auto dropped = *rc::gen::inRange<size_t>(0, sizes.size() + 1);
      own.erase(own.begin(), own.begin() + static_cast<int64_t>(dropped));
      return own;
    };
    const HostTensor a = Counted(operand()), b = Counted(operand());
    const HostTensor y = Evaluated(OpId::sub, Attributes(), {a, b});
    const auto read = [&](const HostTensor& tensor, const Index& index) {
      const Index strides = RowMajorStrides(tensor.shape());
      int64_t offset = 0;
      for (size_t i = 0; i < strides.size(); ++i) {
        const size_t axis = strides.size() - 1 - i;
        const bool repeated = tensor.shape()[static_cast<int>(axis)].size == 1;
        if (!repeated) offset += strides[axis] * index[index.size() - 1 - i];
      }
      return tensor.At(offset);
    };
    int64_t element = 0;
    ForEach(y.shape().Sizes(), [&](const Index& index) {
      RC_ASSERT(y.At(element++) == read(a, index) - read(b, index));
    });
  });
}

TEST(StridedKernels, TransposesMoveEveryElement) {
  rc::check([] {
    const Index sizes = RandomSizes();
    IntList perm(sizes.size());
    std::iota(perm.begin(), perm.end(), int64_t{0});
    for (size_t i = perm.size(); i > 1; --i) {
      std::swap(perm[i - 1], perm[*rc::gen::inRange<size_t>(0, i)]);
    }
    const HostTensor x = Counted(sizes);
    const HostTensor y = Evaluated(OpId::transpose, Attributes::Of(TransposeAttributes{perm}), {x});
    const Index strides = RowMajorStrides(x.shape());
    int64_t element = 0;
    ForEach(y.shape().Sizes(), [&](const Index& index) {
      int64_t offset = 0;
      for (size_t axis = 0; axis < perm.size(); ++axis) {
        offset += index[axis] * strides[static_cast<size_t>(perm[axis])];
      }
      RC_ASSERT(y.At(element++) == x.At(offset));
    });
  });
}

TEST(StridedKernels, SlicesTakeTheirPart) {
  rc::check([] {
    const Index sizes = RandomSizes(1);
    SliceAttributes cut;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      cut.starts.push_back(*rc::gen::inRange<int64_t>(0, sizes[axis]));
      cut.ends.push_back(*rc::gen::inRange<int64_t>(cut.starts[axis] + 1, sizes[axis] + 1));
      cut.steps.push_back(*rc::gen::inRange<int64_t>(1, 4));
    }
    const HostTensor x = Counted(sizes);
    const HostTensor y = Evaluated(OpId::slice, Attributes::Of(cut), {x});
    const Index strides = RowMajorStrides(x.shape());
    int64_t element = 0;
    ForEach(y.shape().Sizes(), [&](Index index) {
      for (size_t axis = 0; axis < index.size(); ++axis) {
        index[axis] = cut.starts[axis] + index[axis] * cut.steps[axis];
        RC_ASSERT(index[axis] < cut.ends[axis]);
      }
      RC_ASSERT(y.At(element++) == x.At(Offset(index, strides)));
    });
  });
}

}  // namespace
}  // namespace cgrun
