// A switch from one model to another of the same program copies the states, and nothing else.
#include "src/run/state_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr char kConvolution[] = R"(cgrun: 1
data: {train: {format: synthetic, samples: 48, classes: 4}}
inputs: {image: {type: uint8, shape: [3, 8, 8]}, label: {type: int32, shape: []}}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 32, kernel: 3}
      - {op: batch_norm}
      - {op: relu}
      - {op: conv, filters: 32, kernel: 3}
      - {op: flatten}
      - z: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [z, label]}
train: {epochs: 1, batch: 16, optimizer: {op: adam, lr: 0.01}}
)";

// Returns the bytes of all states of an engine, plain.
std::vector<std::vector<std::byte>> StatesOf(const Engine& engine) {
  std::vector<std::vector<std::byte>> states;
  for (size_t i = 0; i < engine.model().states.size(); ++i) {
    states.emplace_back(static_cast<size_t>(ByteSize(engine.model().states[i].type)));
    engine.ReadState(i, states.back());
  }
  return states;
}

int64_t LiveBytes(const Engine& engine) {
  int64_t bytes = 0;
  for (const EngineState& state : engine.model().states) bytes += ByteSize(state.type);
  return bytes;
}

TEST(StateImageTest, GoesBackToTheStatesOfItsMoment) {
  for (const std::string device : {"reference", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) continue;
    for (const Mode mode : {Mode::kGraph, Mode::kEager}) {
      const ModelSpec model = ModelOf(kConvolution);
      SessionOptions options;
      options.device = device;
      options.mode = mode;
      Diagnostics diagnostics;
      Session session(model, options, /*train=*/true, diagnostics);
      ASSERT_TRUE(session.ready()) << diagnostics.ToString();
      const auto before = StatesOf(session.engine());
      const StateImage image(session.engine());
      RunObserver unseen;
      session.Train("", unseen);
      EXPECT_NE(StatesOf(session.engine()), before) << device;
      image.Restore(session.engine());
      EXPECT_EQ(StatesOf(session.engine()), before) << device;
      // Padding between states is all that an image has beside them.
      const auto states = std::ssize(session.engine().model().states);
      EXPECT_LE(image.bytes(), LiveBytes(session.engine()) + 64 * states);
    }
  }
}

// Returns the microseconds of the quickest of some calls.
template <class Act>
double Quickest(Act act) {
  double quickest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 30; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    act();
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - begin;
    quickest = std::min(quickest, passed.count());
  }
  return quickest;
}

TEST(StateImageTest, TakesAsLongAsACopyOfTheLiveBytes) {
  const ModelSpec model =
      SmallModel({"paths.classify.ops=[{op: normalize, in: image, scale: 1/255}, {op: flatten}, "
                  "{op: linear, units: 2000}, {op: linear, units: 1000}, {logits: {op: linear, "
                  "units: 4}}]",
                  "train.optimizer={op: adam, lr: 0.01}"});
  Diagnostics diagnostics;
  Session session(model, {}, /*train=*/true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  Engine& engine = session.engine();
  const StateImage image(engine);
  const auto live = static_cast<size_t>(LiveBytes(engine));
  ASSERT_GT(live, size_t{20} << 20);
  std::vector<std::byte> from(live, std::byte{1}), to(live, std::byte{2});
  const double copy = Quickest([&] { std::memcpy(to.data(), from.data(), live); });
  const double restore = Quickest([&] { image.Restore(engine); });
  std::printf("a copy of %.1f MiB takes %.0f us, a switch %.0f us: %.2f times as long\n",
              static_cast<double>(live) / 1048576, copy, restore, restore / copy);
  EXPECT_LE(image.bytes(), static_cast<int64_t>(live + live / 100));
  EXPECT_LT(restore, 3 * copy) << "the machine may be busy, but not so much";
}

}  // namespace
}  // namespace cgrun
