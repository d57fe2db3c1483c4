// Compares our own kernels for CPUs with the reference kernels, on random nodes. There are small
// nodes with odd sizes, and large ones that take several threads. Operands are unaligned or in
// place, with channels last and in blocks. The bits on one thread, two and three are equal.
// CGRUN_TEST_TARGET names an instruction set other than the best.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/kernel.h"
#include "tests/kernels/cpu_cases.h"
#include "tests/kernels/own_kernels.h"
#include "tests/support/run_option.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

TEST(CpuTargets, TheOneAskedForIsUsed) {
  const std::string fingerprint = FindKernelLibrary("blas")->fingerprint();
  EXPECT_NE(fingerprint.find("Highway"), std::string::npos) << fingerprint;
  if (TestTarget() == "AVX2" && (hwy::SupportedTargets() & HWY_AVX2) == 0)
    GTEST_SKIP() << "a lesser CPU";
  EXPECT_NE(fingerprint.find(TestTarget() + ", "), std::string::npos) << fingerprint;
}

void ExpectClose(const HostTensor& actual, const HostTensor& wanted, const Tolerance& tolerance,
                 const std::string& what) {
  const bool same_bits = tolerance.relative == 0;
  double scale = 0;
  for (int64_t i = 0; i < wanted.elements(); ++i) {
    if (std::isfinite(wanted.At(i))) scale = std::max(scale, std::abs(wanted.At(i)));
  }
  double most = tolerance.relative * scale + tolerance.absolute;
  if (wanted.dtype() == DType::kBF16) most = 0.01 * scale;  // on the other side of a tie
  for (int64_t i = 0; i < wanted.elements(); ++i) {
    const double a = actual.At(i), w = wanted.At(i);
    if (std::isnan(w)) {
      ASSERT_TRUE(std::isnan(a)) << what << " element " << i << ": " << a;
    } else if (std::isinf(w) || same_bits) {
      ASSERT_EQ(a, w) << what << " element " << i;
      ASSERT_TRUE(w != 0 || std::signbit(a) == std::signbit(w)) << what << " element " << i;
    } else {
      ASSERT_NEAR(a, w, most) << what << " element " << i;
    }
  }
}

// Runs a node every way and returns whether there is a kernel for it.
bool Check(const CpuCase& c, const RandomNode& random, int64_t shift) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  const auto option = OwnOption(library, random.node, 1);
  if (!option) return false;
  const auto wanted = FindKernelLibrary("reference")->Evaluate(random.node, random.inputs).value();
  const OptionRun alone = RunOption(library, random.node, *option, random.inputs, 1, {shift, {}});
  EXPECT_EQ(alone.fault, "");
  EXPECT_EQ(alone.allocations, 0);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ExpectClose(alone.outputs[i], wanted[i], c.tolerance, "output " + std::to_string(i));
  }
  for (int threads : {2, 3}) {
    const KernelOption more = OwnOption(library, random.node, threads).value();
    const OptionRun run =
        RunOption(library, random.node, more, random.inputs, threads, {shift, {}});
    EXPECT_EQ(run.fault, "") << threads << " threads";
    EXPECT_EQ(run.outputs, alone.outputs) << threads << " threads";
  }
  for (const InPlacePair& pair : option->in_place) {
    const auto input = static_cast<size_t>(pair.input), output = static_cast<size_t>(pair.output);
    if (input >= random.node.inputs.size() || output >= random.node.outputs.size()) continue;
    if (random.node.inputs[input] != random.node.outputs[output]) continue;
    const OptionRun run = RunOption(library, random.node, *option, random.inputs, 1, {shift, pair});
    EXPECT_EQ(run.fault, "") << "in place";
    EXPECT_EQ(run.outputs[output], alone.outputs[output]) << "in place";
  }
  return true;
}

// Runs a node of images with channels last and in blocks where there is a kernel for that, which
// need not be the one for plain ones, and counts those of each layout.
void CheckInLayouts(const CpuCase& c, const RandomNode& random, int64_t shift,
                    std::map<std::string, int>& checked) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  for (const Layout& layout : {Layout{{0, 2, 3, 1}, {}}, Layout{{0, 1, 2, 3}, {{1, 16}}}}) {
    std::vector<Layout> layouts;
    for (const TensorType& type : random.node.inputs) {
      layouts.push_back(type.shape.rank() == 4 ? layout : Layout());
    }
    SCOPED_TRACE(layout.ToString());
    std::vector<HostTensor> alone;
    for (const int threads : {1, 2, 3}) {
      for (const KernelOption& option : library.Options(random.node, {threads, layouts})) {
        const bool as_it_comes = std::ranges::count(option.input_layouts, layout) > 0;
        if (!option.kernel.starts_with("cpu.") || !as_it_comes) continue;
        const OptionRun run =
            RunOption(library, random.node, option, random.inputs, threads, {shift, {}});
        EXPECT_EQ(run.fault, "") << option.kernel;
        if (threads > 1) {
          EXPECT_EQ(run.outputs, alone) << option.kernel << " " << threads << " threads";
          continue;
        }
        alone = run.outputs;
        EXPECT_EQ(run.allocations, 0) << option.kernel;
        const auto wanted =
            FindKernelLibrary("reference")->Evaluate(random.node, random.inputs).value();
        for (size_t i = 0; i < wanted.size(); ++i) {
          ExpectClose(run.outputs[i], wanted[i], c.tolerance, "output " + std::to_string(i));
        }
        ++checked[layout.ToString()];
      }
    }
  }
}

class CpuKernels : public testing::TestWithParam<CpuCase> {};

TEST_P(CpuKernels, SmallNodesAgreeWithReference) {
  Dice dice(RandomKey(1, NameOf(GetParam().op)));
  constexpr int kRounds = kSanitized ? 15 : 60;
  int checked = 0;
  for (int round = 0; round < kRounds; ++round) {
    const RandomNode random = GetParam().make(dice, dice.Of<int64_t>({1, 40, 300, 3000}));
    SCOPED_TRACE("round " + std::to_string(round) + " " + random.node.inputs[0].ToString());
    checked += Check(GetParam(), random, 8 * dice.Between(0, 7));
    if (HasFailure()) return;
  }
  EXPECT_GT(checked, kRounds / 3) << "hardly ever is there a kernel";
}

// These nodes are large enough for several threads.
TEST_P(CpuKernels, LargeNodesAgreeWithReference) {
  Dice dice(RandomKey(2, NameOf(GetParam().op)));
  constexpr int kWanted = kSanitized ? 1 : 2;
  int checked = 0;
  for (int round = 0; round < 60 && checked < kWanted; ++round) {
    const RandomNode random = GetParam().make(dice, 200000);
    if (OperandBytes(random.node) < cpu::LeastParallelBytes(cpu::Work::kMoves)) continue;
    SCOPED_TRACE("round " + std::to_string(round) + " " + random.node.inputs[0].ToString());
    checked += Check(GetParam(), random, 8 * dice.Between(0, 7));
    if (HasFailure()) return;
  }
  EXPECT_GT(checked, 0) << "all too small for threads";
}

// These operators stand beside convolutions, so that their layouts can go on.
TEST(CpuKernelsInLayouts, AgreeWithReference) {
  for (const CpuCase& c : AllCpuCases()) {
    constexpr OpId kBetween[] = {OpId::batch_norm,
                                 OpId::batch_norm_apply,
                                 OpId::batch_norm_grad,
                                 OpId::batch_norm_add,
                                 OpId::batch_norm_add_apply,
                                 OpId::batch_norm_add_grad,
                                 OpId::max_pool,
                                 OpId::max_pool_grad,
                                 OpId::avg_pool,
                                 OpId::avg_pool_grad,
                                 OpId::global_avg_pool,
                                 OpId::relu_bits,
                                 OpId::relu_grad_by_bits,
                                 OpId::concat,
                                 OpId::concat_grad};
    if (std::ranges::find(kBetween, c.op) == std::end(kBetween)) continue;
    SCOPED_TRACE(NameOf(c.op));
    Dice dice(RandomKey(4, NameOf(c.op)));
    std::map<std::string, int> checked;
    constexpr int kRoundsOfEach = kSanitized ? 20 : 80, kMostRounds = 2000;
    for (int round = 0; round < kMostRounds; ++round) {  // few channels fill vectors, by chance
      if (round >= kRoundsOfEach && checked.size() == 2) break;
      const RandomNode random =
          c.make(dice, round < kRoundsOfEach ? dice.Of<int64_t>({300, 3000, 60000}) : 3000);
      if (random.node.inputs[0].shape.rank() != 4) continue;
      SCOPED_TRACE("round " + std::to_string(round) + " " + random.node.inputs[0].ToString());
      CheckInLayouts(c, random, 8 * dice.Between(0, 7), checked);
      if (HasFailure()) return;
    }
    EXPECT_EQ(checked.size(), 2u) << "not in blocks, or not with channels last";
  }
}

std::string CaseName(const testing::TestParamInfo<CpuCase>& info) {
  return std::string(NameOf(info.param.op)) + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(All, CpuKernels, testing::ValuesIn(AllCpuCases()), CaseName);

// A weight's gradient is added up by each thread: the number of threads alone decides on its bits.
TEST(ConvWeightGrad, HasTheSameBitsInEveryRun) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  Dice dice(3);
  for (int round = 0; round < (kSanitized ? 8 : 40); ++round) {
    const RandomNode random = AnyConvWeightGrad(dice, dice.Of<int64_t>({40, 300, 3000, 60000}));
    const auto wanted =
        FindKernelLibrary("reference")->Evaluate(random.node, random.inputs).value();
    for (int threads : {1, 2, 3, 16}) {
      SCOPED_TRACE("round " + std::to_string(round) + ", " + std::to_string(threads) + " threads");
      const auto option = OwnOption(library, random.node, threads);
      ASSERT_TRUE(option.has_value());
      const OptionRun run = RunOption(library, random.node, *option, random.inputs, threads);
      EXPECT_EQ(run.fault, "");
      ExpectClose(run.outputs[0], wanted[0], {1e-5, 1e-6}, "dweight");
      const OptionRun again = RunOption(library, random.node, *option, random.inputs, threads);
      EXPECT_EQ(again.outputs, run.outputs);
    }
    if (HasFailure()) return;
  }
}

// An operator that gets a kernel of our own gets a case, too.
TEST(CpuCases, EveryKernelHasOne) {
  std::set<OpId> covered = {OpId::flatten, OpId::parameter};  // as reshape
  for (const CpuCase& c : AllCpuCases()) covered.insert(c.op);
#define CGRUN_WITH_cpu(op) EXPECT_TRUE(covered.contains(OpId::op)) << #op;
#define CGRUN_WITH_none(op)
#define CGRUN_OP(name, on_cpu, on_cuda) CGRUN_WITH_##on_cpu(name)
  covered.insert({OpId::conv_weight_grad, OpId::fused});  // tested above and in cpu_fused_test.cc
#include "src/ir/op_list.inc"
#undef CGRUN_OP
}

}  // namespace
}  // namespace cgrun
