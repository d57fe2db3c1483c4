// PlayPebbles runs an A* search over the sets of pebbles on the board for a number of bytes. A
// bisection finds the number of bytes.
#include "src/plan/pebble_game.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <queue>
#include <unordered_map>

#include "src/base/check.h"

namespace cgrun {
namespace {

using Board = uint64_t;  // a bit a pebble

constexpr double kNever = std::numeric_limits<double>::infinity();

Board Bit(int pebble) { return Board{1} << pebble; }

Board BitsOf(const std::vector<int>& pebbles) {
  Board bits = 0;
  for (int pebble : pebbles) bits |= Bit(pebble);
  return bits;
}

// A move has its pebbles as sets.
struct Move {
  Board reads = 0, writes = 0, takes = 0;
  const PebbleMove* source = nullptr;
};

// A way to a position: the last move, and where that began.
struct Position {
  Board board = 0;
  double seconds = 0;
  Bytes peak = 0;
  int runs = 0;
};

// The least that there is still to do, behind a position with a time.
struct Promise {
  double seconds = 0;  // of the whole game, at least
  int64_t position = 0;
  // The least first; of equals the one that has come furthest.
  friend bool operator<(const Promise& a, const Promise& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.position < b.position;
  }
};

enum class Outcome : uint8_t { kFound, kNone, kStopped };

class Player {
 public:
  Player(const PebbleGame& game, int64_t most_positions)
      : game_(game),
        positions_left_(most_positions),
        tries_left_(kTriesAPosition * most_positions),
        makers_(game.bytes.size()) {
    CGRUN_CHECK(game.bytes.size() <= kMostPebbles) << "too many pebbles";
    for (const PebbleMove& move : game.moves) {
      for (int pebble : move.writes) makers_[At(pebble)].push_back(static_cast<int>(moves_.size()));
      moves_.push_back({BitsOf(move.reads), BitsOf(move.writes), BitsOf(move.takes), &move});
    }
    first_ = BitsOf(game.first);
    last_ = BitsOf(game.last);
  }

  // The least seconds within `budget`, if these are at most `seconds`. `found` takes the game.
  Outcome Play(Bytes budget, double seconds, PebblePoint& found) {
    budget_ = budget;
    limit_ = seconds * (1 + kRounding);
    positions_.clear();
    least_.clear();
    open_ = {};
    if (BytesOf(first_) > budget) return Outcome::kNone;
    Reach({first_, 0, BytesOf(first_), 0});
    while (!open_.empty() && tries_left_ >= 0) {
      const Promise best = open_.top();
      open_.pop();
      const Position position = positions_[static_cast<size_t>(best.position)];
      if (position.seconds > least_[position.board]) continue;
      if ((position.board & last_) == last_) {
        found = {position.peak, position.seconds, position.runs};
        return Outcome::kFound;
      }
      if (--positions_left_ < 0) return Outcome::kStopped;
      for (const Move& move : moves_) Try(position, move);
    }
    return tries_left_ < 0 ? Outcome::kStopped : Outcome::kNone;
  }

 private:
  // This many ways to free memory are tried for a position, on an average. Many small pebbles have
  // more ways than can be tried.
  static constexpr int64_t kTriesAPosition = 5;
  static constexpr double kRounding = 1e-9;  // sums of the same seconds differ by less

  static size_t At(int index) { return static_cast<size_t>(index); }

  Bytes BytesOf(Board board) const {
    Bytes bytes = 0;
    for (; board != 0; board &= board - 1) bytes += game_.bytes[At(std::countr_zero(board))];
    return bytes;
  }

  bool MayRun(Board board, const Move& move) const {
    if ((board & move.reads) != move.reads) return false;
    const Board there = board & move.writes;
    return move.source->once ? there == 0 : there != move.writes;
  }

  void Try(const Position& position, const Move& move) {
    if (!MayRun(position.board, move)) return;
    const Bytes needed = BytesOf(position.board | move.writes) + move.source->workspace;
    // To lower its bytes, a move can take pebbles that it does not touch, and those that it may
    // write over. Pebbles are taken only if the budget lacks bytes. So a game never loses a pebble
    // too early.
    Board loose = position.board & ~move.reads & ~move.writes;
    for (const PebbleMove::Slide& slide : move.source->slides) {
      if ((position.board & Bit(slide.to)) == 0) loose |= Bit(slide.from);
    }
    for (Board rest = loose; rest != 0; rest &= rest - 1) {
      if (game_.bytes[At(std::countr_zero(rest))] == 0) loose &= ~(rest & -rest);
    }
    MakeRoom(position, move, needed, loose, 0);
  }

  // Tries each way to take away no more than is necessary, in the order of the pebbles.
  void MakeRoom(const Position& position, const Move& move, Bytes needed, Board loose, Board gone) {
    if (--tries_left_ < 0) return;
    if (needed <= budget_) {
      const Board board = (position.board & ~gone & ~move.takes) | move.writes;
      Reach({board, position.seconds + move.source->seconds, std::max(position.peak, needed),
             position.runs + 1});
      return;
    }
    if (needed - BytesOf(loose) > budget_) return;
    for (; loose != 0; loose &= loose - 1) {
      const int pebble = std::countr_zero(loose);
      MakeRoom(position, move, needed - game_.bytes[At(pebble)], loose & (loose - 1),
               gone | Bit(pebble));
    }
  }

  void Reach(const Position& position) {
    const auto [known, is_new] = least_.try_emplace(position.board, position.seconds);
    if (!is_new && known->second <= position.seconds) return;
    const double promised = position.seconds + SecondsLeft(position.board);
    if (promised > limit_) return;
    known->second = position.seconds;
    open_.push({promised, static_cast<int64_t>(positions_.size())});
    positions_.push_back(position);
  }

  // Returns a lower bound of the seconds from a board to the end. Each missing value must be made.
  // If one operator alone makes the value, the inputs of this operator are needed too. If several
  // operators make the value, the quickest counts, without its inputs.
  double SecondsLeft(Board board) const {
    double seconds = 0;
    Board seen = board, ran_writes = 0;
    std::vector<int> wanted, of_several;
    const auto want = [&](Board pebbles) {
      for (Board rest = pebbles & ~seen; rest != 0; rest &= rest - 1) {
        wanted.push_back(std::countr_zero(rest));
      }
      seen |= pebbles;
    };
    want(last_);
    while (!wanted.empty()) {
      const int pebble = wanted.back();
      wanted.pop_back();
      if ((ran_writes & Bit(pebble)) != 0) continue;
      const std::vector<int>& makers = makers_[At(pebble)];
      if (makers.empty()) return kNever;
      if (makers.size() > 1) {
        of_several.push_back(pebble);
        continue;
      }
      const Move& move = moves_[At(makers[0])];
      if (move.source->once && (board & move.writes) != 0) return kNever;
      seconds += move.source->seconds;
      ran_writes |= move.writes;
      want(move.reads);
    }
    for (int pebble : of_several) {
      if ((ran_writes & Bit(pebble)) != 0) continue;
      seconds += QuickestMaker(pebble);
      for (int maker : makers_[At(pebble)]) ran_writes |= moves_[At(maker)].writes;
    }
    return seconds;
  }

  double QuickestMaker(int pebble) const {
    double least = kNever;
    for (int maker : makers_[At(pebble)]) {
      least = std::min(least, moves_[At(maker)].source->seconds);
    }
    return least;
  }

  const PebbleGame& game_;
  int64_t positions_left_, tries_left_;
  std::vector<std::vector<int>> makers_;  // of each pebble, moves that write it
  std::vector<Move> moves_;
  Board first_ = 0, last_ = 0;
  Bytes budget_ = 0;
  double limit_ = 0;
  std::vector<Position> positions_;
  std::unordered_map<Board, double> least_;  // seconds to a board
  std::priority_queue<Promise> open_;
};

// Returns the greatest number of bytes that divides every sum of bytes.
Bytes GrainOf(const PebbleGame& game) {
  Bytes grain = 0;
  for (Bytes bytes : game.bytes) grain = std::gcd(grain, bytes);
  for (const PebbleMove& move : game.moves) grain = std::gcd(grain, move.workspace);
  return std::max<Bytes>(grain, 1);
}

// The least bytes in which `best.seconds` can be kept: between those of `best`, which are enough,
// and `too_few`. Returns false where the search has ended.
bool FewestBytes(Player& player, Bytes grain, Bytes too_few, PebblePoint& best) {
  while (best.bytes - too_few > grain) {
    const Bytes middle = too_few + (best.bytes - too_few) / grain / 2 * grain;
    PebblePoint found;
    const Outcome outcome = player.Play(middle, best.seconds, found);
    if (outcome == Outcome::kStopped) return false;
    if (outcome == Outcome::kFound) {
      best.bytes = found.bytes;
      best.runs = found.runs;
    } else {
      too_few = middle;
    }
  }
  return true;
}

}  // namespace

PebbleFrontier PlayPebbles(const PebbleGame& game, int64_t most_positions) {
  Player player(game, most_positions);
  const Bytes grain = GrainOf(game);
  PebbleFrontier frontier;
  constexpr Bytes kAnyBytes = std::numeric_limits<Bytes>::max();
  for (Bytes budget = kAnyBytes;;) {
    PebblePoint point;
    const Outcome outcome = player.Play(budget, kNever, point);
    if (outcome != Outcome::kFound) {
      frontier.complete = outcome == Outcome::kNone;
      return frontier;
    }
    if (!FewestBytes(player, grain, -grain, point)) return frontier;
    frontier.points.push_back(point);
    budget = point.bytes - grain;
  }
}

}  // namespace cgrun
