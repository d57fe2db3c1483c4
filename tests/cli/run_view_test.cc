// The note about a busy machine behind a training's summary.
#include "src/cli/run_view.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

TEST(BusyNoteTest, NamesWhatItIsToldBy) {
  EXPECT_EQ(BusyNote(0, 0, 8), "");
  EXPECT_EQ(BusyNote(3.96, 0, 8),
            "note: steps took 4.0 times as long as the quickest of them, as on a busy machine: "
            "`--threads 1` may be faster\n");
  EXPECT_EQ(
      BusyNote(0, 0.434, 8),
      "note: other programs took 43 % of the processors' time: `--threads 1` may be faster\n");
  EXPECT_EQ(BusyNote(3.96, 0.434, 8),
            "note: steps took 4.0 times as long as the quickest of them, and other programs took "
            "43 % of the processors' time: `--threads 1` may be faster\n");
}

TEST(BusyNoteTest, OfOneThreadOffersNoFewer) {
  EXPECT_EQ(BusyNote(0, 0.434, 1),
            "note: other programs took 43 % of the processors' time: on a quiet machine the run is "
            "faster\n");
}

}  // namespace
}  // namespace cgrun
