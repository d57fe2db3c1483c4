// The search, its rules, and the trails that take a step back.
#include "src/packing/planners/tree_search.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "src/base/random.h"

namespace cgrun {
namespace {

size_t At(int32_t index) { return static_cast<size_t>(index); }

}  // namespace

TreeSearch::TreeSearch(const MemoryProblem& problem, const TimeSections& sections)
    : alive_(At(sections.count())) {
  const auto count = static_cast<Index>(problem.buffers.size());
  std::vector<std::vector<Index>> begun(alive_.size());  // in each section: those that it begins
  for (Index i = 0; i < count; ++i) {
    const Buffer& buffer = problem.buffers[At(i)];
    const SectionRange time = sections.ranges()[At(i)];
    const double length = static_cast<double>(buffer.upper) - static_cast<double>(buffer.lower);
    items_.push_back({buffer.bytes, buffer.alignment, time, length, buffer.offset.has_value(), -1});
    first_floor_.push_back(buffer.offset.value_or(0));
    if (time.begin < time.end) begun[At(time.begin)].push_back(i);
    for (Index s = time.begin; s < time.end; ++s) alive_[At(s)].push_back(i);
  }
  neighbours_.resize(items_.size());
  for (Index i = 0; i < count; ++i) {
    const SectionRange time = items_[At(i)].time;
    for (Index s = time.begin; s < time.end; ++s) {
      for (Index j : (s == time.begin ? alive_ : begun)[At(s)]) {
        if (j != i) neighbours_[At(i)].push_back(j);
      }
    }
  }
}

SearchOutcome TreeSearch::Run(Bytes capacity, const Preorder& order, int64_t nodes, Effort& effort,
                              uint64_t variation) {
  capacity_ = capacity;
  order_ = order;
  nodes_left_ = nodes;
  steps_ = 0;
  effort_ = &effort;
  VaryRanks(variation);
  ResetState();
  if (pool_.empty()) return SearchOutcome::kFound;
  for (Index i : pool_) {
    if (items_[At(i)].bytes > capacity - first_floor_[At(i)]) return SearchOutcome::kNone;
  }
  Rank(0, pool_.size());
  LinkTwins();
  const SectionRange all = {0, static_cast<Index>(alive_.size())};
  const Part whole = {all, 0, pool_.size(), pool_.size()};
  if (!SectionsHold(all, 0)) return SearchOutcome::kNone;
  return Solve(whole, 0, -1);
}

// Interchangeable buffers stay so.
void TreeSearch::VaryRanks(uint64_t variation) {
  constexpr double kMostChange = 0.4;
  factors_.assign(items_.size(), 1.0);
  for (size_t i = 0; i < items_.size() && variation != 0; ++i) {
    const Item& item = items_[i];
    const uint64_t time =
        static_cast<uint64_t>(item.time.begin) << 32 | static_cast<uint64_t>(item.time.end);
    const uint32_t bits = RandomBits(variation, time, static_cast<uint64_t>(item.bytes));
    factors_[i] += kMostChange * static_cast<double>(UniformFloat(bits));
  }
}

// Brings pool_[begin, end) into the order that is asked for. Equals stay as they are.
void TreeSearch::Rank(size_t begin, size_t end) {
  for (size_t p = begin; p < end; ++p) {
    const Item& item = items_[At(pool_[p])];
    Bytes total = 0;
    for (Index s = item.time.begin; s < item.time.end; ++s) total = std::max(total, total_[At(s)]);
    steps_ += item.time.end - item.time.begin;
    const double factor = factors_[At(pool_[p])];
    const auto value = [&](Key key) {
      if (key == Key::kTotal) return factor * static_cast<double>(total);
      const double length = factor * item.length;
      return key == Key::kLength ? length : length * static_cast<double>(item.bytes);
    };
    std::transform(order_.begin(), order_.end(), keys_[At(pool_[p])].begin(), value);
  }
  const auto at = [this](size_t p) { return pool_.begin() + static_cast<std::ptrdiff_t>(p); };
  std::stable_sort(at(begin), at(end),
                   [this](Index a, Index b) { return keys_[At(a)] > keys_[At(b)]; });
}

// Equals come in the order of their ids, in every part: so do twins.
void TreeSearch::LinkTwins() {
  std::map<std::tuple<Index, Index, Bytes, Bytes>, Index> twins;
  for (Index i : pool_) {
    Item& item = items_[At(i)];
    if (item.fixed) continue;
    const auto key = std::make_tuple(item.time.begin, item.time.end, item.bytes, item.alignment);
    const auto [twin, is_new] = twins.try_emplace(key, i);
    item.twin = is_new ? -1 : twin->second;
    twin->second = i;
  }
}

void TreeSearch::ResetState() {
  floor_ = first_floor_;
  offsets_ = first_floor_;
  total_.assign(alive_.size(), 0);
  bottom_.assign(alive_.size(), kNoLimit);
  witness_.assign(alive_.size(), -1);
  crossing_.assign(alive_.size(), 0);
  keys_.resize(items_.size());
  lowest_.resize(alive_.size());
  pool_.clear();
  for (Index i = 0; At(i) < items_.size(); ++i) {
    const Item& item = items_[At(i)];
    if (item.time.begin == item.time.end) continue;
    pool_.push_back(i);
    for (Index s = item.time.begin; s < item.time.end; ++s) {
      total_[At(s)] += item.bytes;
      crossing_[At(s)] += s > item.time.begin;
      if (floor_[At(i)] >= bottom_[At(s)]) continue;
      bottom_[At(s)] = floor_[At(i)];
      witness_[At(s)] = i;
    }
  }
  placed_.clear();
  floors_.clear();
  bottoms_.clear();
  candidates_.clear();
}

SearchOutcome TreeSearch::Solve(const Part& part, Bytes last_floor, Index last_rank) {
  const size_t begin = candidates_.size();
  const Bytes lowest_end = FindCandidates(part, last_floor, last_rank);
  const size_t end = begin + CountUseful(part, begin, lowest_end);
  SearchOutcome outcome = SearchOutcome::kNone;
  Bytes checked = last_floor;
  for (size_t c = begin; c < end && outcome == SearchOutcome::kNone; ++c) {
    const Candidate candidate = candidates_[c];
    // All that is still to come lies at this floor or above.
    if (candidate.floor > checked && !SectionsHold(part.sections, candidate.floor)) break;
    checked = candidate.floor;
    outcome = Try(part, candidate);
    if (outcome == SearchOutcome::kNone && IsHatless(candidate.item)) break;
  }
  candidates_.resize(begin);
  return outcome;
}

Bytes TreeSearch::FindCandidates(const Part& part, Bytes last_floor, Index last_rank) {
  steps_ += static_cast<int64_t>(part.end - part.begin);
  Bytes lowest_end = kNoLimit;
  for (size_t p = part.begin; p < part.end; ++p) {
    const size_t i = At(pool_[p]);
    if (floor_[i] != kNoLimit) lowest_end = std::min(lowest_end, floor_[i] + items_[i].bytes);
  }
  const size_t begin = candidates_.size();
  for (size_t p = part.begin; p < part.end; ++p) {
    const Index i = pool_[p];
    const Bytes floor = floor_[At(i)];
    const auto rank = static_cast<Index>(p - part.begin);
    const bool in_order = floor > last_floor || (floor == last_floor && rank > last_rank);
    if (floor >= lowest_end || !in_order) continue;
    const Index twin = items_[At(i)].twin;
    if (twin >= 0 && floor_[At(twin)] != kNoLimit) continue;
    candidates_.push_back({floor, rank, i});
  }
  std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(begin), candidates_.end());
  return lowest_end;
}

// Returns how many of the candidates from `begin` on are worth trying. A buffer that is not placed
// at its present floor will begin at `lowest_end` or above. If the bytes of a section do not fit
// above that, one of the candidates must be the lowest in it. When all of these have failed, the
// node has failed.
size_t TreeSearch::CountUseful(const Part& part, size_t begin, Bytes lowest_end) {
  const SectionRange all = part.sections;
  std::fill(lowest_.begin() + all.begin, lowest_.begin() + all.end, -1);
  auto useful = static_cast<Index>(candidates_.size() - begin);
  for (Index c = 0; c < useful; ++c) {
    const Candidate& candidate = candidates_[begin + At(c)];
    const SectionRange time = items_[At(candidate.item)].time;
    steps_ += time.end - time.begin;
    for (Index s = time.begin; s < time.end; ++s) {
      if (candidate.floor <= capacity_ - total_[At(s)]) lowest_[At(s)] = c;
    }
  }
  for (Index s = all.begin; s < all.end; ++s) {
    const Bytes total = total_[At(s)];
    if (total > 0 && lowest_end > capacity_ - total) useful = std::min(useful, lowest_[At(s)] + 1);
  }
  return At(useful);
}

SearchOutcome TreeSearch::Try(const Part& part, const Candidate& candidate) {
  if (nodes_left_ <= 0 || effort_->over()) return SearchOutcome::kStopped;
  // So that a node of many buffers costs as many nodes as it takes time.
  constexpr int64_t kStepsANode = 512;
  const int64_t nodes = 1 + steps_ / kStepsANode;
  steps_ %= kStepsANode;
  nodes_left_ -= nodes;
  effort_->Spend(nodes);
  const Mark mark = {placed_.size(), floors_.size(), bottoms_.size(), pool_.size()};
  SearchOutcome outcome = SearchOutcome::kNone;
  if (Place(candidate)) outcome = SolveRest(part, candidate);
  if (outcome != SearchOutcome::kFound) Undo(mark);
  return outcome;
}

// Returns false where that leaves too few bytes.
bool TreeSearch::Place(const Candidate& candidate) {
  const Index i = candidate.item;
  const Item& item = items_[At(i)];
  placed_.push_back(i);
  offsets_[At(i)] = candidate.floor;
  floors_.push_back({i, floor_[At(i)]});
  floor_[At(i)] = kNoLimit;
  for (Index s = item.time.begin; s < item.time.end; ++s) {
    total_[At(s)] -= item.bytes;
    crossing_[At(s)] -= s > item.time.begin;
  }
  SectionRange touched = item.time;
  return RaiseNeighbours(i, candidate.floor + item.bytes, touched) &&
         RaiseBottoms(touched, candidate.floor);
}

// All that meets the item in time now begins at `top` or above. `touched` grows to the sections of
// what was raised.
bool TreeSearch::RaiseNeighbours(Index item, Bytes top, SectionRange& touched) {
  steps_ += static_cast<int64_t>(neighbours_[At(item)].size());
  for (Index j : neighbours_[At(item)]) {
    if (floor_[At(j)] >= top) continue;
    const Item& other = items_[At(j)];
    const Bytes floor = RoundUp(top, other.alignment);
    if (other.fixed || other.bytes > capacity_ - floor) return false;
    floors_.push_back({j, floor_[At(j)]});
    floor_[At(j)] = floor;
    touched.begin = std::min(touched.begin, other.time.begin);
    touched.end = std::max(touched.end, other.time.end);
  }
  return true;
}

// Floors only rise: a section's bottom stays until its witness leaves it.
bool TreeSearch::RaiseBottoms(SectionRange touched, Bytes floor) {
  for (Index s = touched.begin; s < touched.end; ++s) {
    const Bytes old = bottom_[At(s)];
    if (total_[At(s)] == 0 || floor_[At(witness_[At(s)])] == old) continue;
    steps_ += static_cast<int64_t>(alive_[At(s)].size());
    Bytes lowest = kNoLimit;
    Index witness = -1;
    for (Index j : alive_[At(s)]) {
      if (floor_[At(j)] >= lowest) continue;
      lowest = floor_[At(j)];
      witness = j;
      if (lowest == old) break;
    }
    bottoms_.push_back({s, witness_[At(s)], old});
    bottom_[At(s)] = lowest;
    witness_[At(s)] = witness;
    if (std::max(lowest, floor) > capacity_ - total_[At(s)]) return false;
  }
  return true;
}

bool TreeSearch::SectionsHold(SectionRange sections, Bytes floor) const {
  for (Index s = sections.begin; s < sections.end; ++s) {
    const Bytes total = total_[At(s)];
    if (total > 0 && std::max(bottom_[At(s)], floor) > capacity_ - total) return false;
  }
  return true;
}

bool TreeSearch::IsHatless(Index item) const {
  for (Index j : neighbours_[At(item)]) {
    if (floor_[At(j)] != kNoLimit) return false;
  }
  return true;
}

SearchOutcome TreeSearch::SolveRest(const Part& part, const Candidate& candidate) {
  Part rest = part;
  if (--rest.left == 0) return SearchOutcome::kFound;
  if (!IsCut(part, items_[At(candidate.item)].time)) {
    return Solve(rest, candidate.floor, candidate.rank);
  }
  for (const Part& piece : Pieces(rest)) {
    Rank(piece.begin, piece.end);
    const SearchOutcome outcome = Solve(piece, candidate.floor, -1);
    if (outcome != SearchOutcome::kFound) return outcome;
  }
  return SearchOutcome::kFound;
}

// Returns whether placing something that lives for `time` can have taken a part to pieces.
bool TreeSearch::IsCut(const Part& part, SectionRange time) const {
  const Index last = std::min(time.end, part.sections.end - 1);
  for (Index s = std::max(time.begin, part.sections.begin + 1); s <= last; ++s) {
    if (crossing_[At(s)] == 0) return true;
  }
  return false;
}

// The pieces that have something left, the smallest first: it fails soonest.
std::vector<TreeSearch::Part> TreeSearch::Pieces(const Part& part) {
  std::vector<Part> pieces;
  for (Index s = part.sections.begin; s < part.sections.end; ++s) {
    if (pieces.empty() || crossing_[At(s)] == 0) pieces.push_back({{s, s}, 0, 0, 0});
    pieces.back().sections.end = s + 1;
  }
  for (Part& piece : pieces) {
    piece.begin = pool_.size();
    for (size_t p = part.begin; p < part.end; ++p) {
      const Index i = pool_[p];
      const Index first = items_[At(i)].time.begin;
      const bool inside = piece.sections.begin <= first && first < piece.sections.end;
      if (inside && floor_[At(i)] != kNoLimit) pool_.push_back(i);
    }
    piece.end = pool_.size();
    piece.left = piece.end - piece.begin;
  }
  std::erase_if(pieces, [](const Part& piece) { return piece.left == 0; });
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Part& a, const Part& b) { return a.left < b.left; });
  return pieces;
}

void TreeSearch::Undo(const Mark& mark) {
  for (; placed_.size() > mark.placed; placed_.pop_back()) {
    const Item& item = items_[At(placed_.back())];
    for (Index s = item.time.begin; s < item.time.end; ++s) {
      total_[At(s)] += item.bytes;
      crossing_[At(s)] += s > item.time.begin;
    }
  }
  for (; floors_.size() > mark.floors; floors_.pop_back()) {
    floor_[At(floors_.back().item)] = floors_.back().old;
  }
  for (; bottoms_.size() > mark.bottoms; bottoms_.pop_back()) {
    const BottomChange& change = bottoms_.back();
    bottom_[At(change.section)] = change.old;
    witness_[At(change.section)] = change.witness;
  }
  pool_.resize(mark.pool);
}

}  // namespace cgrun
