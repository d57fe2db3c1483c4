// Cases of swapping: where the file is memory, each of its operators is a copy. Known results: the
// inputs.
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

CaseInput Token() { return Given({}, {1}, DType::kU8); }

}  // namespace

std::vector<OpCase> swap_out() {
  return {
      {.name = "known", .inputs = {Given({4}, {-2, 0, 1, 3})}, .expected = {{-2, 0, 1, 3}}},
      {.name = "random", .inputs = {Uniform({2, 3, 4, 5})}},
      {.name = "integers",
       .inputs = {Given({3}, {7, -1, 0}, DType::kI64)},
       .expected = {{7, -1, 0}}},
      {.name = "nothing of it in two", .inputs = {Uniform({3}), Uniform({3})}, .error = "input"},
  };
}

std::vector<OpCase> swap_out_wait() {
  return {
      {.name = "known", .inputs = {Uniform({2, 3}), Uniform({2, 3})}, .expected = {{1}}},
      {.name = "another tensor", .inputs = {Uniform({2, 3}), Uniform({3, 2})}, .error = "must be"},
  };
}

std::vector<OpCase> swap_in() {
  return {
      {.name = "known", .inputs = {Given({3}, {5, -6, 7}), Token()}, .expected = {{5, -6, 7}}},
      {.name = "random", .inputs = {Uniform({2, 3, 4, 5}), Token()}},
      {.name = "no token", .inputs = {Uniform({2}), Uniform({2})}, .error = "must be"},
  };
}

std::vector<OpCase> swap_in_wait() {
  return {
      {.name = "known",
       .inputs = {Given({3}, {5, -6, 7}), Given({3}, {0, 0, 0})},
       .expected = {{5, -6, 7}}},
      {.name = "random", .inputs = {Uniform({2, 3, 4, 5}), Uniform({2, 3, 4, 5})}},
      {.name = "another tensor", .inputs = {Uniform({2, 3}), Uniform({6})}, .error = "must be"},
  };
}

}  // namespace cgrun::op_cases
