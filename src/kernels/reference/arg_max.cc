// Computes arg_max and arg_min, and top_k by sorting the places of a line.
#include "src/ops/arg_max.h"

#include <algorithm>
#include <numeric>

#include "src/kernels/reference/axis_walk.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/top_k.h"

namespace cgrun::reference {
namespace {

// A NaN is beyond all numbers, in both directions.
struct IsLarger {
  template <class C>
  bool operator()(C a, C b) const {
    const bool a_is_nan = a != a, b_is_nan = b != b;
    return a_is_nan || b_is_nan ? a_is_nan && !b_is_nan : a > b;
  }
};

struct IsSmaller {
  template <class C>
  bool operator()(C a, C b) const {
    const bool a_is_nan = a != a, b_is_nan = b != b;
    return a_is_nan || b_is_nan ? a_is_nan && !b_is_nan : a < b;
  }
};

struct SearchParameters {
  AxisLines lines;
  bool last = false;
};

template <class Better>
struct Search {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const SearchParameters*>(i.parameters);
      const T* x = Data<const T>(context, i, 0);
      int64_t* y = Data<int64_t>(context, i, 1);
      ForEachLine(p.lines, [&](int64_t line, int64_t first) {
        const auto at = [&](int64_t k) { return Load(x[first + k * p.lines.inner]); };
        int64_t best = 0;
        for (int64_t k = 1; k < p.lines.size; ++k) {
          const bool takes = p.last ? !Better()(at(best), at(k)) : Better()(at(k), at(best));
          if (takes) best = k;
        }
        y[line] = best;
      });
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    const auto& a = request.node.attributes.As<ArgMaxAttributes>();
    const TensorType& x = request.node.inputs[0];
    return PreparedKernel::Of(ForNumber<Kernel>(x.dtype),
                              SearchParameters{LinesOf(x.shape, a.axis), a.last});
  }
};

bool FirstInputIsNumber(const NodeSignature& node) {
  return !IsStorageType(node.inputs[0].dtype) && node.inputs[0].dtype != DType::kBool;
}

struct TopPlacesParameters {
  AxisLines lines;
  int64_t k = 1;
};

// Equal numbers keep their order. The least elements end with a NaN, as the largest begin with one.
template <class Better>
struct TopPlaces {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const TopPlacesParameters*>(i.parameters);
      const T* x = Data<const T>(context, i, 0);
      int64_t* y = Data<int64_t>(context, i, 1);
      int64_t* places = Data<int64_t>(context, i, 2);
      ForEachLine(p.lines, [&](int64_t line, int64_t first) {
        const auto at = [&](int64_t k) { return Load(x[first + k * p.lines.inner]); };
        std::iota(places, places + p.lines.size, int64_t{0});
        std::partial_sort(places, places + p.k, places + p.lines.size, [&](int64_t a, int64_t b) {
          if (Better()(at(a), at(b))) return true;
          return !Better()(at(b), at(a)) && a < b;
        });
        const int64_t outer = line / p.lines.inner, inner = line % p.lines.inner;
        int64_t* to = y + outer * p.k * p.lines.inner + inner;
        for (int64_t k = 0; k < p.k; ++k) to[k * p.lines.inner] = places[k];
      });
    }
  };
};

struct NanLast {
  template <class C>
  bool operator()(C a, C b) const {
    return IsLarger()(b, a);
  }
};

PreparedKernel PrepareTopPlaces(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<TopKAttributes>();
  const TensorType& x = request.node.inputs[0];
  return PreparedKernel::Of(a.smallest ? ForNumber<TopPlaces<NanLast>::Kernel>(x.dtype)
                                       : ForNumber<TopPlaces<IsLarger>::Kernel>(x.dtype),
                            TopPlacesParameters{LinesOf(x.shape, a.axis), a.k});
}

// The places of a line.
int64_t TopPlacesWorkspaceBytes(const NodeSignature& node, int) {
  const auto lines = LinesOf(node.inputs[0].shape, node.attributes.As<TopKAttributes>().axis);
  return lines.size * static_cast<int64_t>(sizeof(int64_t));
}

}  // namespace

KernelDef arg_max() {
  return {.name = "reference.arg_max",
          .supports = FirstInputIsNumber,
          .prepare = Search<IsLarger>::Prepare};
}

KernelDef arg_min() {
  return {.name = "reference.arg_min",
          .supports = FirstInputIsNumber,
          .prepare = Search<IsSmaller>::Prepare};
}

KernelDef top_k() {
  return {.name = "reference.top_k",
          .supports = FirstInputIsNumber,
          .workspace_bytes = TopPlacesWorkspaceBytes,
          .prepare = PrepareTopPlaces};
}

}  // namespace cgrun::reference
