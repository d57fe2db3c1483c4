// `--debug-sets`: sound operators keep their bits and are not accused; those that read or write
// what they do not declare are found, and what they hit is named.
#include "src/program/debug_sets.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/device/cpu.h"
#include "tests/program/tiny_models.h"

namespace cgrun {
namespace {

// Says what a faulty kernel does around its work. There is one at a time, because kernels are plain
// functions.
using Fault =
    std::function<void(const RunContext&, const Instruction&, const std::function<void()>& work)>;
Fault fault;

struct Wrapped {
  PreparedKernel kernel;
};

void RunWithFault(const RunContext& context, const Instruction& instruction) noexcept {
  const auto* wrapped = static_cast<const Wrapped*>(instruction.parameters);
  Instruction own = instruction;
  own.parameters = wrapped->kernel.parameters.get();
  fault(context, instruction, [&] { wrapped->kernel.run(context, own); });
}

// Holds the kernels of `reference`, one of them with a fault.
class FaultyLibrary final : public KernelLibrary {
 public:
  explicit FaultyLibrary(std::string kernel) : kernel_(std::move(kernel)) {}

  std::string_view name() const override { return sound_.name(); }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    return sound_.Options(node, setting);
  }
  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return sound_.Evaluate(node, inputs);
  }
  std::string fingerprint() const override { return sound_.fingerprint(); }
  PreparedKernel Prepare(std::string_view kernel, const KernelRequest& request) const override {
    PreparedKernel prepared = sound_.Prepare(kernel, request);
    if (kernel != kernel_) return prepared;
    return PreparedKernel::Of(RunWithFault, Wrapped{std::move(prepared)});
  }

 private:
  const KernelLibrary& sound_ = *FindKernelLibrary("reference");
  std::string kernel_;
};

// Holds a program with the operators of `library`, which is run once with its sets checked.
class Checked {
 public:
  explicit Checked(const ProgramImage& image,
                   const KernelLibrary& library = *FindKernelLibrary("reference"))
      : program_(image, device_, library, communicator_, testing::TempDir()), sets_(program_) {}

  RunResult Run(int entry, int64_t step) {
    const ImageEntry& of = program_.image().entries[static_cast<size_t>(entry)];
    for (size_t i = 0; i < of.feeds.size(); ++i) {
      program_.Feed(entry, i, FeedFor(of.feeds[i], step).bytes());
    }
    sets_.Run(entry);
    RunResult result;
    for (size_t i = 0; i < of.results.size(); ++i) {
      result.results.emplace_back(static_cast<size_t>(of.results[i].bytes.bytes));
      program_.Fetch(entry, i, result.results.back());
    }
    for (size_t i = 0; i < program_.image().states.size(); ++i) {
      const HostTensor state = program_.ReadState(i);
      result.states.emplace_back(state.bytes().begin(), state.bytes().end());
    }
    return result;
  }

  const DebugSets& sets() const { return sets_; }

 private:
  CpuDevice device_{"reference"};
  SingleProcess communicator_;
  Program program_;
  DebugSets sets_;
};

// The first instruction of the first entry point that runs this kernel.
size_t Find(const ProgramImage& image, const std::string& kernel) {
  const std::vector<ImageInstruction>& all = image.entries[0].instructions;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].kernel == kernel) return i;
  }
  ADD_FAILURE() << "no kernel " << kernel;
  return 0;
}

// Returns the findings for a program whose kernel `kernel` does `wrong` around its work.
std::vector<std::string> FindingsOf(const ProgramImage& image, const std::string& kernel,
                                    Fault wrong) {
  fault = std::move(wrong);
  const FaultyLibrary library(kernel);
  Checked checked(image, library);
  checked.Run(0, 0);
  checked.Run(0, 1);
  return checked.sets().findings();
}

TEST(DebugSetsTest, SoundProgramsKeepTheirBits) {
  std::vector<ProgramImage> images = {FusedImage(), IncrementalImage(), SwapImage(), PartsImage()};
  for (const std::string& model : TinyModels()) images.push_back(TinyImage(model));
  for (const ProgramImage& image : images) {
    Checked checked(image);
    TinyProgram plain(image);
    for (int step = 0; step < 2 * std::ssize(image.entries); ++step) {
      const int entry = step % static_cast<int>(image.entries.size());
      EXPECT_EQ(checked.Run(entry, step), plain.Run(entry, step)) << image.model;
    }
    EXPECT_EQ(checked.sets().findings(), std::vector<std::string>()) << image.model;
    for (size_t e = 0; e < image.entries.size(); ++e) {
      const DebugSets::Coverage& coverage = checked.sets().coverage()[e];
      EXPECT_EQ(coverage.runs, 2);
      EXPECT_EQ(coverage.checked + coverage.left_out, std::ssize(image.entries[e].instructions));
      EXPECT_GT(coverage.checked, 0);
    }
  }
}

TEST(DebugSetsTest, TransfersAreLeftOut) {
  const ProgramImage image = SwapImage();
  Checked checked(image);
  checked.Run(0, 0);
  EXPECT_GT(checked.sets().coverage()[0].left_out, 0);
}

constexpr char kKernel[] = "reference.softmax_cross_entropy";

// A program with that kernel, once, and what the tests look for.
struct Guilty {
  ProgramImage image = TinyImage("tiny_mlp");
  const ImageInstruction& instruction = image.entries[0].instructions[Find(image, kKernel)];
  int output = static_cast<int>(instruction.node.inputs.size());
  int64_t state = image.states[0].offset;  // it neither reads nor writes this

  std::vector<std::string> FindingsWith(Fault wrong) const {
    return FindingsOf(image, kKernel, std::move(wrong));
  }
};

void ExpectOne(const std::vector<std::string>& found, const std::string& part) {
  ASSERT_EQ(found.size(), 1);
  EXPECT_NE(found[0].find(part), std::string::npos) << found[0];
}

TEST(DebugSetsTest, NamesWhatIsWrittenWithoutBeingDeclared) {
  const Guilty guilty;
  const auto found = guilty.FindingsWith([&](auto& context, auto&, auto& work) {
    work();
    context.arenas[0][guilty.state] = ~context.arenas[0][guilty.state];
  });
  const ImageInstruction& by = guilty.instruction;
  ExpectOne(found, "'" + by.name + "' of 'train' (" + by.source + ", kernel " + kKernel +
                       ") writes to '" + guilty.image.states[0].name +
                       "', which it does not declare");
}

TEST(DebugSetsTest, FindsWhatIsWrittenBehindTheEnd) {
  const Guilty guilty;
  const auto found =
      guilty.FindingsWith([&](auto& context, const Instruction& instruction, auto& work) {
        work();
        Data<std::byte>(
            context, instruction,
            guilty.output)[guilty.instruction.operands[static_cast<size_t>(guilty.output)].bytes] =
            std::byte{1};
      });
  ExpectOne(found, "writes to ");
}

TEST(DebugSetsTest, AnInputIsNotToBeWritten) {
  const Guilty guilty;
  const auto found =
      guilty.FindingsWith([](auto& context, const Instruction& instruction, auto& work) {
        work();
        *Data<std::byte>(context, instruction, 0) ^= std::byte{1};
      });
  ExpectOne(found, "writes to '");
}

TEST(DebugSetsTest, NamesWhatIsReadWithoutBeingDeclared) {
  const Guilty guilty;
  const auto found =
      guilty.FindingsWith([&](auto& context, const Instruction& instruction, auto& work) {
        work();
        *Data<float>(context, instruction, guilty.output) +=
            *reinterpret_cast<const float*>(context.arenas[0] + guilty.state);
      });
  ExpectOne(found, "'" + guilty.instruction.name + "' of 'train' (");
  ExpectOne(found, "reads '" + guilty.image.states[0].name + "', which it does not declare");
}

TEST(DebugSetsTest, FindsAResultThatIsLeftUnwritten) {
  const Guilty guilty;
  const auto found =
      guilty.FindingsWith([&](auto& context, const Instruction& instruction, auto& work) {
        std::byte* const result = Data<std::byte>(context, instruction, guilty.output);
        const std::byte before = *result;
        work();
        *result = before;
      });
  ExpectOne(found, "depend on what lay in '" + guilty.instruction.name + "' before");
}

}  // namespace
}  // namespace cgrun
