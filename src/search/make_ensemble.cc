#include "src/search/make_ensemble.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "src/device/device.h"
#include "src/io/checksum.h"
#include "src/run/checkpoint.h"
#include "src/search/ensemble.h"
#include "src/search/ensemble_engine.h"
#include "src/search/ensemble_files.h"
#include "src/search/ensemble_model.h"

namespace cgrun {
namespace {

// So many of the best trials can be members, unless more are asked for.
constexpr int64_t kCandidates = 20;

// A trial that can be a member, with what it predicts.
struct Usable {
  MemberModel member;
  std::string weights;  // a file
  MemberNumbers numbers;
};

std::string IdentityOf(const std::vector<EnsembleCandidate>& candidates) {
  std::string text;
  for (const EnsembleCandidate& candidate : candidates) {
    text += std::to_string(candidate.trial) + ":" + candidate.weights + "\n";
  }
  return HashText(HashBytes(std::as_bytes(std::span(text))));
}

// One call of MakeEnsemble().
class Maker {
 public:
  Maker(const EnsembleRequest& request, const TrialPlace& place, SharedData& data,
        const RunSignals& signals)
      : request_(request), place_(place), data_(data), signals_(signals) {
    result_.greedy = request.spec.greedy;
    result_.folder = request.folder + "/ensemble";
  }

  EnsembleResult Run() {
    const std::string identity = IdentityOf(request_.candidates);
    if (auto former = ReadEnsemble(result_.folder, identity)) return *former;
    for (const EnsembleCandidate& candidate : request_.candidates) Take(candidate);
    if (usable_.empty()) {
      throw UserError(result_.refused.empty() ? "no trial has weights"
                                              : "no trial can be a member, as of trial " +
                                                    std::to_string(result_.refused[0].trial) +
                                                    ": " + result_.refused[0].reason);
    }
    Choose();
    Write(identity);
    return std::move(result_);
  }

  EnsembleResult Failed(const UserError& error) {
    result_.members.clear();
    result_.folder.clear();
    result_.problem = error.what();
    return std::move(result_);
  }

 private:
  const Usable& first() const { return usable_.front(); }

  // Adds a candidate to the usable ones or to the refused ones.
  void Take(const EnsembleCandidate& candidate) {
    Usable usable;
    usable.weights = candidate.folder + "/" + kBestFileName;
    std::error_code error;
    if (!std::filesystem::is_regular_file(usable.weights, error)) {
      return Refuse(candidate.trial, "its weights are gone");
    }
    ReadMember read = ReadMemberModel(candidate.trial, candidate.folder, request_.metric);
    if (!read.reason.empty()) return Refuse(candidate.trial, read.reason);
    usable.member = std::move(read.member);
    if (!usable_.empty()) {
      const std::string reason = ReasonAgainst(usable.member, first().member);
      if (!reason.empty()) return Refuse(candidate.trial, reason);
    }
    try {
      usable.numbers = NumbersOf(usable);
    } catch (const UserError& failure) {
      return Refuse(candidate.trial, failure.what());
    }
    if (!usable_.empty() && usable.numbers.shapes != first().numbers.shapes) {
      return Refuse(candidate.trial, "it predicts " + usable.numbers.shapes[0].ToString() +
                                         " for a sample, and trial " +
                                         std::to_string(first().member.trial) + " predicts " +
                                         first().numbers.shapes[0].ToString());
    }
    usable_.push_back(std::move(usable));
  }

  void Refuse(int64_t trial, const std::string& reason) {
    result_.refused.push_back({trial, reason});
  }

  // The first member says which data count.
  MemberNumbers NumbersOf(const Usable& usable) {
    if (usable_.empty()) {
      Diagnostics diagnostics;
      const auto data = data_.Open(usable.member.model, diagnostics);
      if (!data || !data->valid) throw UserError("its data cannot be opened");
      samples_.emplace(usable.member.model, data);
    }
    return RunMember(usable.member, usable.weights, *samples_, place_, RoomForOne(), signals_);
  }

  // Bytes for the predictions of one more candidate, if the others need as much. The means that are
  // compared take four times that, at most.
  int64_t RoomForOne() const {
    constexpr int64_t kMeans = 4;
    const int64_t taken = std::ssize(usable_) + std::ssize(result_.refused);
    const int64_t left = std::ssize(request_.candidates) - taken;
    int64_t room = FreeHostMemory();
    if (place_.cap) room = std::min(room, *place_.cap);
    return room / (left + kMeans);
  }

  std::vector<CandidateNumbers> Half(size_t half) const {
    std::vector<CandidateNumbers> numbers;
    for (const Usable& usable : usable_) numbers.emplace_back(usable.numbers.halves[half]);
    return numbers;
  }

  EnsembleJudge JudgeOf(int half) {
    return EnsembleJudge(first().member, first().numbers.shapes, request_.metric, *samples_, half,
                         place_);
  }

  void Choose() {
    result_.choosing_samples = samples_->size_of(0);
    result_.samples = samples_->size_of(1);
    if (result_.samples == 0) throw UserError("`valid` has one sample, and no second half");
    EnsembleJudge judge = JudgeOf(0);
    const EnsembleLoss loss = [&](std::span<const double> mean) {
      if (signals_.stop != nullptr && *signals_.stop != 0) throw RunStopped();
      const double value = judge.Measure(mean);
      return request_.higher_is_better ? -value : value;
    };
    const auto& [greedy, picks] = request_.spec;
    choice_ =
        greedy ? ChooseGreedily(Half(0), picks.value, loss) : ChooseTop(Half(0), picks.value, loss);
    if (std::accumulate(choice_.begin(), choice_.end(), int64_t{0}) == 0) {
      throw UserError("'" + request_.metric + "' of no trial is a number");
    }
    EnsembleJudge other = JudgeOf(1);
    result_.value = other.Measure(MeanOf(Half(1), choice_));
    EnsembleChoice alone(usable_.size());
    alone[0] = 1;
    result_.alone = other.Measure(MeanOf(Half(1), alone));
    result_.best_trial = first().member.trial;
  }

  // Members are written in the order of their trials' ranks.
  void Write(const std::string& identity) {
    std::vector<EnsembleSource> sources;
    for (size_t i = 0; i < usable_.size(); ++i) {
      if (choice_[i] == 0) continue;
      sources.push_back({&usable_[i].member, choice_[i], usable_[i].weights});
      result_.members.push_back({usable_[i].member.trial, choice_[i]});
    }
    WriteEnsemble(result_, sources, identity, place_);
  }

  const EnsembleRequest& request_;
  const TrialPlace& place_;
  SharedData& data_;
  const RunSignals& signals_;
  EnsembleResult result_;
  std::deque<Usable> usable_;  // the best first
  std::optional<ValidSamples> samples_;
  EnsembleChoice choice_;  // of usable_
};

}  // namespace

int64_t CandidatesOf(const EnsembleSpec& spec) {
  return spec.greedy ? kCandidates : std::max(kCandidates, spec.picks.value);
}

EnsembleResult MakeEnsemble(const EnsembleRequest& request, const TrialPlace& place,
                            SharedData& data, const RunSignals& signals) {
  Maker maker(request, place, data, signals);
  try {
    return maker.Run();
  } catch (const UserError& error) {
    return maker.Failed(error);
  }
}

}  // namespace cgrun
