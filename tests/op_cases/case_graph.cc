// Makes tensors and graphs from cases.
#include "tests/op_cases/case_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/base/random.h"
#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun {
namespace {

bool IsIntegral(const CaseInput& input) { return !IsFloat(input.dtype); }

DType TypeOf(const CaseInput& input, DType float_type) {
  if (IsIntegral(input) || input.fixed_dtype) return input.dtype;
  return input.at_least_f32 && SizeOf(float_type) < SizeOf(DType::kF32) ? DType::kF32 : float_type;
}

double ToleranceOf(DType dtype) {
  if (dtype == DType::kF64) return 1e-12;
  return dtype == DType::kF32 ? 2e-5 : 6e-2;
}

}  // namespace

std::vector<NamedCase> AllCases() {
  std::vector<NamedCase> all;
  const auto add = [&](OpId op, std::vector<OpCase> cases) {
    for (OpCase& op_case : cases) all.push_back({op, std::move(op_case)});
  };
#define CGRUN_OP(name, cpu, cuda) add(OpId::name, op_cases::name());
#include "src/ir/op_list.inc"
#undef CGRUN_OP
  return all;
}

HostTensor MakeInput(const CaseInput& input, DType float_type, uint64_t key) {
  const DType dtype = TypeOf(input, float_type);
  HostTensor tensor(dtype, input.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (!input.values.empty()) {
      tensor.Set(i, input.values.at(static_cast<size_t>(i)));
      continue;
    }
    const double unit = UniformFloat(RandomBits(key, 0, static_cast<uint64_t>(i)));
    const double span = input.high - input.low + (IsIntegral(input) ? 1 : 0);
    const double value = input.low + unit * span;
    tensor.Set(i, IsIntegral(input) ? std::floor(value) : value);
  }
  return tensor;
}

std::vector<HostTensor> MakeInputs(const NamedCase& c, DType float_type) {
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < c.op_case.inputs.size(); ++i) {
    const std::string name = std::string(NameOf(c.op)) + "/" + c.op_case.name;
    tensors.push_back(MakeInput(c.op_case.inputs[i], float_type, RandomKey(i, name)));
  }
  return tensors;
}

CaseGraph MakeGraph(const NamedCase& c, DType float_type) {
  CaseGraph result;
  Builder builder(result.graph);
  const std::vector<HostTensor> tensors = MakeInputs(c, float_type);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ValueId id =
        builder.AddSource(Role::kPlaceholder, Zone::kForward,
                          {tensors[i].dtype(), tensors[i].shape()}, "input" + std::to_string(i));
    result.inputs.push_back(id);
    result.sources.emplace(id, tensors[i]);
  }
  result.outputs = builder.AddNode(c.op, c.op_case.attributes, result.inputs, "node", {});
  return result;
}

void ExpectClose(const HostTensor& actual, const HostTensor& wanted, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.shape(), wanted.shape()) << what;
  double scale = 1;
  for (int64_t i = 0; i < wanted.elements(); ++i) {
    if (std::isfinite(wanted.At(i))) scale = std::max(scale, std::abs(wanted.At(i)));
  }
  for (int64_t i = 0; i < wanted.elements(); ++i) {
    const double a = actual.At(i), w = wanted.At(i);
    if (std::isnan(w) || std::isinf(w)) {
      EXPECT_TRUE(std::isnan(w) ? std::isnan(a) : a == w) << what << " element " << i;
    } else {
      EXPECT_NEAR(a, w, tolerance * scale) << what << " element " << i;
      if (w == 0 && a == 0) {
        EXPECT_EQ(std::signbit(a), std::signbit(w)) << what << " sign of element " << i;
      }
    }
  }
}

void ExpectAgreement(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& exact,
                     const std::vector<HostTensor>* same, DType dtype, const std::string& what) {
  ASSERT_EQ(actual.size(), exact.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string output = what + " output " + std::to_string(i);
    if (IsFloat(actual[i].dtype())) {
      ExpectClose(actual[i], exact[i], ToleranceOf(dtype), output);
    } else if (same != nullptr) {
      ExpectClose(actual[i], (*same)[i], 0, output);
    }
  }
}

}  // namespace cgrun
