// Tuning records: files, and what is measured.
#include "src/fit/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

const KernelLibrary& Blas() { return *FindKernelLibrary("blas"); }

std::string FaultOf(const std::string& path) {
  try {
    LoadTuning(path, Blas());
  } catch (const InputError& error) {
    EXPECT_NE(error.help(), "");
    return error.what();
  }
  return "";
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(Tuning, ARecordIsReadAsItWasWritten) {
  TuningRecord record;
  record.Add("blas.linear on 1: linear f32[2, 3] -> f32[2, 4]", 1.5e-6);
  record.Add("blas.relu on 2: relu f32[2] -> f32[2]", 0.1);
  const std::string path = FreshFolder() + "/deep/down/record.json";
  EXPECT_EQ(LoadTuning(path, Blas()), nullptr);
  SaveTuning(path, record, Blas());
  const auto read = LoadTuning(path, Blas());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->seconds(), record.seconds());
  EXPECT_EQ(read->Name(), record.Name());
}

TEST(Tuning, OtherFilesAndOtherKernelsAreRefused) {
  const std::string path = FreshFolder() + "/record.json";
  for (const char* text : {"", "{", "[]", "{}", R"({"cgrun_tuning": 1})",
                           R"({"cgrun_tuning": 1, "kernels": 3, "seconds": {}})"}) {
    Write(path, text);
    EXPECT_NE(FaultOf(path).find("is no tuning record"), std::string::npos) << text;
  }
  Write(path, R"({"cgrun_tuning": 2, "kernels": "", "seconds": {}})");
  EXPECT_NE(FaultOf(path).find("another version"), std::string::npos);
  Write(path, R"({"cgrun_tuning": 1, "kernels": "cpu 0", "seconds": {}})");
  EXPECT_NE(FaultOf(path).find("it is of cpu 0"), std::string::npos);
  SaveTuning(path, TuningRecord(), Blas());
  std::string text = ReadText(path);
  const size_t at = text.find("\"seconds\": {}");
  ASSERT_NE(at, std::string::npos) << text;
  Write(path, text.replace(at, 13, "\"seconds\": {\"a\": -1}"));
  EXPECT_NE(FaultOf(path).find("a time of -1"), std::string::npos) << FaultOf(path);
}

// Kernels are measured for the batches and the kinds that a run has, and in both modes.
TEST(Tuning, TheKernelsOfARunAreMeasured) {
  const ModelSpec model = SmallModel();
  CompileOptions options;
  const int64_t count = TuneKernels(model, Blas(), options);
  ASSERT_NE(options.tuning, nullptr);
  EXPECT_EQ(count, static_cast<int64_t>(options.tuning->seconds().size()));
  const auto knows = [&](const std::string& part) {
    return std::ranges::any_of(options.tuning->seconds(), [&](const auto& item) {
      return item.first.find(part) != std::string::npos && item.second > 0;
    });
  };
  EXPECT_TRUE(knows("[100, ")) << "a full batch";
  EXPECT_TRUE(knows("[65, ")) << "the last one of 1065 samples";
  EXPECT_TRUE(knows("linear"));
  EXPECT_TRUE(knows("sgd"));
  EXPECT_FALSE(knows(" on 2: "));
}

TEST(Tuning, EqualRecordsGiveEqualWeightsInBothModes) {
  const ModelSpec model = SmallModel();
  SessionOptions options;
  options.device = "blas";
  TuneKernels(model, Blas(), options.compile);
  const uint64_t hash = TrainPlanned(model, options).weights_hash;
  EXPECT_EQ(TrainPlanned(model, options).weights_hash, hash);
  options.mode = Mode::kEager;
  EXPECT_EQ(TrainPlanned(model, options).weights_hash, hash);
}

}  // namespace
}  // namespace cgrun
