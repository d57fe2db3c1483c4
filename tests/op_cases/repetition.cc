// Cases of tile, expand and trilu. Known results: NumPy's tile, broadcast_to, tril and triu.
#include "src/ops/tile.h"
#include "src/ops/trilu.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Repeats(IntList repeats) { return Attributes::Of(TileAttributes{std::move(repeats)}); }
Attributes Sizes(IntList sizes) { return Attributes::Of(ExpandAttributes{std::move(sizes)}); }
Attributes Triangle(bool upper, int64_t diagonal) {
  return Attributes::Of(TriluAttributes{upper, diagonal});
}

}  // namespace

std::vector<OpCase> tile() {
  const CaseInput x = Given({2, 2}, {1, 2, 3, 4});
  return {
      {"both axes", Repeats({2, 2}), {x}, {{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}}},
      {"columns", Repeats({1, 3}), {x}, {{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}}},
      {"bools", Repeats({2}), {Given({2}, {0, 1}, DType::kBool)}, {{0, 1, 0, 1}}},
      {"nothing", Repeats({1, 1}), {x}, {{1, 2, 3, 4}}},
      {"random", Repeats({2, 1, 3}), {Uniform({2, 3, 4})}},
      Refused("axes", Repeats({2}), {x},
              "`repeats` [2] must have a number for each axis of [2, 2]"),
      Refused("too many", Repeats({1 << 30, 1 << 30}), {x}, "too large"),
      Refused("none", Repeats({0, 1}), {x}, "`repeats` must be at least 1"),
      Refused("batch axis", Repeats({2, 1}), {Uniform({kBatchDim, 2})}, "the batch axis"),
  };
}

std::vector<OpCase> expand() {
  const CaseInput column = Given({2, 1}, {1, 2});
  return {
      {"columns", Sizes({2, 3}), {column}, {{1, 1, 1, 2, 2, 2}}},
      {"leading axis", Sizes({2, 1, 1}), {column}, {{1, 2, 1, 2}}},
      {"smaller shape", Sizes({3}), {column}, {{1, 1, 1, 2, 2, 2}}},
      {"scalar", Sizes({2, 2}), {Given({}, {7}, DType::kI32)}, {{7, 7, 7, 7}}},
      {"random", Sizes({2, 3, 5}), {Uniform({3, 1})}},
      Refused("does not fit", Sizes({3, 1}), {column}, "cannot repeat [2, 1] to [3, 1]"),
      Refused("negative", Sizes({-1}), {column}, "`sizes` must be at least 0"),
  };
}

std::vector<OpCase> trilu() {
  const CaseInput x = Given({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"lower", Triangle(false, 0), {x}, {{1, 0, 0, 4, 5, 0}}},
      {"upper", Triangle(true, 0), {x}, {{1, 2, 3, 0, 5, 6}}},
      {"above the diagonal", Triangle(true, 1), {x}, {{0, 2, 3, 0, 0, 6}}},
      {"below the diagonal", Triangle(false, -1), {x}, {{0, 0, 0, 4, 0, 0}}},
      {"all", Triangle(true, -5), {x}, {{1, 2, 3, 4, 5, 6}}},
      {"none", Triangle(false, -5), {x}, {{0, 0, 0, 0, 0, 0}}, {}, false},
      {"bools", Triangle(false, 0), {Given({2, 2}, {1, 1, 1, 1}, DType::kBool)}, {{1, 0, 1, 1}}},
      {"stack", Triangle(false, 1), {Uniform({2, 4, 5})}},
      Refused("no matrix", Triangle(false, 0), {Uniform({3})}, "of matrices"),
      Refused("batch axis", Triangle(false, 0), {Uniform({kBatchDim, 3})}, "the batch axis"),
  };
}

}  // namespace cgrun::op_cases
