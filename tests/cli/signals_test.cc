// Signals that come before there is a run to tell.
#include "src/cli/signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace cgrun {
namespace {

TEST(Signals, ACheckpointIsWantedOnceTheRunBegins) {
  ExitOnInterrupts();
  ASSERT_EQ(std::raise(SIGUSR1), 0);
  const RunSignals signals = WatchSignals("");
  EXPECT_NE(*signals.checkpoint, 0);
  EXPECT_EQ(*signals.stop, 0);
}

}  // namespace
}  // namespace cgrun
