// The sequences, and the rounds that improve them.
#include "src/packing/planners/squeaky_wheel.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "src/base/random.h"

namespace cgrun {
namespace {

constexpr uint64_t kKey = 1;
// A buffer waits until all others are placed, if no section of its lifespan is as full as this part
// of the fullest section.
constexpr double kFull = 0.95;
// A buffer that moves ahead moves by up to this part of its way to the front.
constexpr double kMostAhead = 0.15;
constexpr int kRounds = 40;
constexpr int kFirstRounds = 20;  // of each tie and side, before any is tried again
constexpr double kTurns = 0.3;
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();
// A placement passes others that are placed already: so many count as a node.
constexpr int64_t kPassedANode = 256;

}  // namespace

SqueakyWheel::SqueakyWheel(const MemoryProblem& problem, const TimeSections& sections)
    : problem_(problem),
      sections_(sections),
      totals_(sections.LargestTotals()),
      from_top_(problem.buffers.size()),
      left_over_(problem.buffers.size()),
      place_(problem.buffers.size(), kNowhere),
      taken_(UnitOf(problem)) {
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    offsets_.push_back(buffer.offset.value_or(0));
    fullest_ = std::max(fullest_, totals_[i]);
    if (buffer.bytes > 0) (buffer.offset ? fixed_ : movable_).push_back(i);
  }
}

bool SqueakyWheel::Run(Bytes capacity, int64_t nodes, Effort& effort) {
  capacity_ = capacity;
  const auto too_high = [this](size_t i) {
    return offsets_[i] + problem_.buffers[i].bytes > capacity_;
  };
  if (std::any_of(fixed_.begin(), fixed_.end(), too_high)) return false;
  Effort slice = effort.Slice(nodes);
  bool found = false;
  while (!found && !slice.over()) found = Try(NextBeginning(), slice);
  effort.Spend(slice.spent());
  return found;
}

// Each tie with both sides for a few rounds, then what chance brings.
SqueakyWheel::Beginning SqueakyWheel::NextBeginning() {
  const int64_t turn = begun_++;
  Beginning next;
  if (turn < 2 * kTies) {
    next.tie = static_cast<Tie>(turn % kTies);
    next.peak_from_top = (turn + turn / kTies) % 2 != 0;
    next.rounds = kFirstRounds;
    return next;
  }
  next.tie = static_cast<Tie>(static_cast<int>(Draw() * kTies));
  next.peak_from_top = Draw() < 0.5;
  if (Draw() < 0.5) next.turns = kTurns;
  next.rounds = kRounds;
  return next;
}

// The smaller goes first.
double SqueakyWheel::TieRank(size_t i, Tie tie) const {
  const Buffer& buffer = problem_.buffers[i];
  const auto lower = static_cast<double>(buffer.lower), upper = static_cast<double>(buffer.upper);
  const auto bytes = static_cast<double>(buffer.bytes);
  switch (tie) {
    case Tie::kEndsFirst:
      return upper;
    case Tie::kEndsLast:
      return -upper;
    case Tie::kBeginsFirst:
      return lower;
    case Tie::kBeginsLast:
      return -lower;
    case Tie::kShortest:
      return upper - lower;
    case Tie::kLongest:
      return lower - upper;
    case Tie::kEarliest:
      return lower + upper;
    case Tie::kLatest:
      return -lower - upper;
    case Tie::kLargestArea:
      return bytes * (lower - upper);
    case Tie::kMostBytes:
      return -bytes;
  }
  return 0;
}

void SqueakyWheel::Begin(const Beginning& beginning) {
  std::vector<double> ranks(problem_.buffers.size());
  sequence_.clear();
  waiting_.clear();
  const double full = kFull * static_cast<double>(fullest_);
  for (size_t i : movable_) {
    ranks[i] = TieRank(i, beginning.tie);
    from_top_[i] = beginning.peak_from_top && totals_[i] == fullest_;
    (static_cast<double>(totals_[i]) >= full ? sequence_ : waiting_).push_back(i);
  }
  const auto key = [&](size_t i) {
    const Buffer& buffer = problem_.buffers[i];
    return std::make_tuple(-totals_[i], ranks[i], buffer.lower - buffer.upper, -buffer.bytes,
                           buffer.lower, i);
  };
  const auto before = [&key](size_t a, size_t b) { return key(a) < key(b); };
  std::sort(sequence_.begin(), sequence_.end(), before);
  std::sort(waiting_.begin(), waiting_.end(), before);
  for (size_t k = 0; k < sequence_.size(); ++k) place_[sequence_[k]] = k;
  for (size_t i : waiting_) place_[i] = kNowhere;
  taken_.Clear();
  for (size_t i : fixed_) {
    taken_.Take(sections_.ranges()[i], offsets_[i], offsets_[i] + problem_.buffers[i].bytes, i);
  }
}

bool SqueakyWheel::Try(const Beginning& beginning, Effort& effort) {
  Begin(beginning);
  effort.Spend(1 + std::ssize(movable_) / 16);  // for the sorting
  size_t first = 0;                             // all before it stays where it is
  for (int round = 0; round < beginning.rounds && !effort.over(); ++round) {
    PlaceFrom(first, effort);
    const bool all = std::none_of(sequence_.begin(), sequence_.end(),
                                  [this](size_t i) { return left_over_[i]; });
    if (all && PlaceWaiting(effort)) return true;
    first = MoveAhead(beginning.turns);
  }
  return false;
}

// Places sequence_[first, …), behind what comes before it.
void SqueakyWheel::PlaceFrom(size_t first, Effort& effort) {
  taken_.KeepIf([&](size_t i) { return problem_.buffers[i].offset || place_[i] < first; });
  passed_ += 8 * std::ssize(sequence_);
  for (size_t k = first; k < sequence_.size(); ++k) left_over_[sequence_[k]] = !Place(sequence_[k]);
  effort.Spend(1 + passed_ / kPassedANode);
  passed_ %= kPassedANode;
}

// Places the rest; what is left over joins the sequence.
bool SqueakyWheel::PlaceWaiting(Effort& effort) {
  for (size_t i : waiting_) left_over_[i] = !Place(i);
  effort.Spend(passed_ / kPassedANode);
  passed_ %= kPassedANode;
  const auto left_over = std::stable_partition(waiting_.begin(), waiting_.end(),
                                               [this](size_t i) { return !left_over_[i]; });
  const bool all = left_over == waiting_.end();
  sequence_.insert(sequence_.end(), left_over, waiting_.end());
  waiting_.erase(left_over, waiting_.end());
  return all;
}

bool SqueakyWheel::Place(size_t i) {
  const Buffer& buffer = problem_.buffers[i];
  const SectionRange time = sections_.ranges()[i];
  passed_ += static_cast<int64_t>(taken_.size());
  const Bytes offset = from_top_[i]
                           ? taken_.LastFit(time, buffer.bytes, buffer.alignment, capacity_)
                           : taken_.FirstFit(time, buffer.bytes, buffer.alignment);
  if (offset < 0 || offset > capacity_ - buffer.bytes) return false;
  offsets_[i] = offset;
  taken_.Take(time, offset, offset + buffer.bytes, i);
  return true;
}

// Moves what was left over ahead. Returns the first place that it changed.
size_t SqueakyWheel::MoveAhead(double turns) {
  ahead_.clear();
  for (size_t k = 0; k < sequence_.size(); ++k) {
    const size_t i = sequence_[k];
    if (!left_over_[i]) continue;
    ahead_.emplace_back(static_cast<double>(k) * (1 - kMostAhead * Draw()) - 0.5, i);
    if (turns > 0 && Draw() < turns) from_top_[i] = !from_top_[i];
  }
  std::stable_sort(ahead_.begin(), ahead_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const size_t first = MergeAhead();
  for (size_t k = first; k < sequence_.size(); ++k) place_[sequence_[k]] = k;
  return first;
}

// The rest stays in its order. Returns where the first of those is.
size_t SqueakyWheel::MergeAhead() {
  size_t first = sequence_.size();
  merged_.clear();
  auto next = ahead_.begin();
  const auto take_ahead_of = [&](double place) {
    for (; next != ahead_.end() && next->first < place; ++next) {
      first = std::min(first, merged_.size());
      merged_.push_back(next->second);
    }
  };
  for (size_t k = 0; k < sequence_.size(); ++k) {
    if (left_over_[sequence_[k]]) continue;
    take_ahead_of(static_cast<double>(k));
    merged_.push_back(sequence_[k]);
  }
  take_ahead_of(static_cast<double>(sequence_.size()));
  sequence_.swap(merged_);
  return first;
}

double SqueakyWheel::Draw() {
  return static_cast<double>(UniformFloat(RandomBits(kKey, 0, draws_++)));
}

}  // namespace cgrun
