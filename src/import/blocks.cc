// Cuts the items into segments, hashes all short sequences of segments, and takes the repeated ones
// that save most.
#include "src/import/blocks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cgrun {
namespace {

constexpr int kFewestItems = 3;
constexpr int kMostItems = 200, kMostSegments = 64;  // of a block
// A value that lives longer is no part of a block's inside, such as the skips of a U-Net.
constexpr int kLongestLife = 64;
// Blocks of few segments are tried alone, too: they may save more together than longer ones.
constexpr int kSegmentLimits[] = {1, 2, 3, 4, 8, 16, kMostSegments};

uint64_t Mixed(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

bool IsParameter(const Item& item) { return item.op == "parameter"; }

class BlockFinder {
 public:
  BlockFinder(const Network& network, const std::vector<std::string>& outputs)
      : network_(network), outputs_(outputs.begin(), outputs.end()) {}

  BlockPlan Run() {
    FindSegments();
    PlaceItems();
    for (const Item& item : network_.items()) tokens_.push_back(TokenOf(item));
    std::vector<RepeatedBlock> best;
    int most = 0;
    const auto sequences = Sequences();
    for (const int limit : kSegmentLimits) {
      auto [blocks, saved] = Choose(sequences, limit);
      if (saved <= most) continue;
      most = saved;
      best = std::move(blocks);
    }
    return {std::move(order_), std::move(best)};
  }

 private:
  // Holds the places where equal sequences of so many segments begin.
  struct Sequence {
    int segments = 0, length = 0;
    std::vector<int> starts;  // places in segments_
  };

  int items() const { return static_cast<int>(network_.items().size()); }
  const Item& item(int index) const { return network_.items()[static_cast<size_t>(index)]; }
  const std::vector<Network::Input>& InputsOf(int index) const {
    return network_.InputsOf(static_cast<size_t>(index));
  }

  // A segment ends where at most one value is alive. Parameters do not count, since they may stand
  // anywhere.
  void FindSegments() {
    std::vector<int> last(static_cast<size_t>(items()), -1);
    std::map<std::string_view, int> last_of_placeholders;
    for (int i = 0; i < items(); ++i) {
      for (const Network::Input& input : InputsOf(i)) {
        if (!input.number.empty()) continue;
        const int read = input.value.item;
        (read >= 0 ? last[static_cast<size_t>(read)] : last_of_placeholders[input.value.name]) = i;
      }
    }
    std::vector<int> change(static_cast<size_t>(items()) + 2);
    for (const auto& [name, end] : last_of_placeholders) {
      if (end > kLongestLife) continue;
      ++change[0];
      --change[static_cast<size_t>(end) + 1];
    }
    for (int i = 0; i < items(); ++i) {
      const int end = last[static_cast<size_t>(i)];
      if (IsParameter(item(i)) || end < 0 || end - i > kLongestLife) continue;
      ++change[static_cast<size_t>(i) + 1];
      --change[static_cast<size_t>(end) + 1];
    }
    int alive = 0, segment = -1;
    bool follows_parameters = false;
    for (int i = 0; i < items(); ++i) {
      alive += change[static_cast<size_t>(i)];
      if (segment < 0 || (alive <= 1 && !follows_parameters)) ++segment;
      segment_of_.push_back(segment);
      follows_parameters = IsParameter(item(i));
    }
  }

  // Parameters of one segment stand before their first reader, and all others in front.
  void PlaceItems() {
    std::vector<int> only(static_cast<size_t>(items()), -1);
    constexpr int kSeveral = -2;
    for (int i = 0; i < items(); ++i) {
      if (IsParameter(item(i))) continue;
      for (const Network::Input& input : InputsOf(i)) {
        if (input.value.item < 0) continue;
        int& segment = only[static_cast<size_t>(input.value.item)];
        const int own = segment_of_[static_cast<size_t>(i)];
        segment = segment == -1 || segment == own ? own : kSeveral;
      }
    }
    const auto is_shared = [&](int i) {
      return IsParameter(item(i)) &&
             (only[static_cast<size_t>(i)] < 0 || outputs_.contains(item(i).name));
    };
    for (int i = 0; i < items(); ++i) {
      if (is_shared(i)) order_.push_back(i);
    }
    std::vector<bool> is_placed(static_cast<size_t>(items()));
    for (int i = 0, before = -1; i < items(); ++i) {
      if (IsParameter(item(i))) continue;
      const int segment = segment_of_[static_cast<size_t>(i)];
      if (segment != before) segments_.push_back(static_cast<int>(order_.size()));
      before = segment;
      for (const Network::Input& input : InputsOf(i)) {
        const int read = input.value.item;
        if (read < 0 || !IsParameter(item(read)) || is_shared(read)) continue;
        if (is_placed[static_cast<size_t>(read)]) continue;
        is_placed[static_cast<size_t>(read)] = true;
        order_.push_back(read);
      }
      order_.push_back(i);
    }
    segments_.push_back(static_cast<int>(order_.size()));
    place_of_.resize(static_cast<size_t>(items()), -1);
    for (size_t place = 0; place < order_.size(); ++place) {
      place_of_[static_cast<size_t>(order_[place])] = static_cast<int>(place);
    }
  }

  // Items of a block have equal tokens. They may differ in the values of keys and in operands.
  static uint64_t TokenOf(const Item& item) {
    const std::hash<std::string_view> hash;
    uint64_t token = hash(item.op);
    for (const TreeEntry& entry : item.keys) token = Mixed(token, hash(entry.key));
    for (const Weight& weight : item.weights) token = Mixed(token, hash(weight.name));
    return token;
  }

  // Numbers the operands of a sequence that begins at `start`: items within by their distance from
  // it, and values from outside in the order in which they are read first.
  class Operands {
   public:
    Operands(const BlockFinder& finder, int start) : finder_(finder), start_(start) {}

    // A number, or how the value is counted: below 0 if it comes from outside.
    std::pair<std::string_view, int> Of(const Network::Input& input) {
      if (!input.number.empty()) return {input.number, 0};
      const int item = input.value.item;
      const int place = item < 0 ? -1 : finder_.place_of_[static_cast<size_t>(item)];
      if (place >= start_) return {"", place - start_};
      const int next = -1 - static_cast<int>(outside_.size());
      return {"", outside_.try_emplace(input.value.name, next).first->second};
    }

   private:
    const BlockFinder& finder_;
    int start_;
    std::map<std::string_view, int> outside_;
  };

  // All sequences of segments that occur twice, by a hash.
  std::vector<Sequence> Sequences() const {
    const std::hash<std::string_view> hash;
    std::unordered_map<uint64_t, Sequence> found;
    const int count = static_cast<int>(segments_.size()) - 1;
    for (int first = 0; first < count; ++first) {
      const int start = segments_[static_cast<size_t>(first)];
      Operands operands(*this, start);
      uint64_t sum = 0;
      for (int n = 1; n <= kMostSegments && first + n <= count; ++n) {
        const int begin = segments_[static_cast<size_t>(first + n - 1)];
        const int end = segments_[static_cast<size_t>(first + n)];
        if (end - start > kMostItems) break;
        for (int place = begin; place < end; ++place) {
          const int index = order_[static_cast<size_t>(place)];
          sum = Mixed(sum, tokens_[static_cast<size_t>(index)]);
          for (const Network::Input& input : InputsOf(index)) {
            const auto [number, value] = operands.Of(input);
            sum = Mixed(Mixed(sum, hash(number)), static_cast<uint64_t>(value));
          }
        }
        if (end - start < kFewestItems) continue;
        Sequence& sequence = found[Mixed(sum, static_cast<uint64_t>(n))];
        sequence.segments = n;
        sequence.length = end - start;
        sequence.starts.push_back(first);
      }
    }
    std::vector<Sequence> repeated;
    for (auto& [sum, sequence] : found) {
      if (sequence.starts.size() > 1) repeated.push_back(std::move(sequence));
    }
    std::ranges::sort(repeated, {}, [](const Sequence& sequence) {
      return std::pair(sequence.starts[0], sequence.segments);
    });
    return repeated;
  }

  // Hashes may collide.
  bool AreEqual(int a, int b, int length) const {
    Operands of_a(*this, a), of_b(*this, b);
    for (int i = 0; i < length; ++i) {
      const int x = order_[static_cast<size_t>(a + i)], y = order_[static_cast<size_t>(b + i)];
      const Item &first = item(x), &second = item(y);
      const auto same_key = [](const TreeEntry& p, const TreeEntry& q) { return p.key == q.key; };
      const auto same_name = [](const Weight& p, const Weight& q) { return p.name == q.name; };
      if (first.op != second.op || InputsOf(x).size() != InputsOf(y).size() ||
          !std::ranges::equal(first.keys, second.keys, same_key) ||
          !std::ranges::equal(first.weights, second.weights, same_name)) {
        return false;
      }
      for (size_t n = 0; n < InputsOf(x).size(); ++n) {
        if (of_a.Of(InputsOf(x)[n]) != of_b.Of(InputsOf(y)[n])) return false;
      }
    }
    return true;
  }

  // The starts of a sequence that overlap neither each other nor what is taken.
  std::vector<int> FreeStarts(const Sequence& sequence, const std::vector<bool>& is_taken) const {
    std::vector<int> starts;
    int next = 0;
    for (const int start : sequence.starts) {
      if (start < next) continue;
      const auto first = is_taken.begin() + start;
      if (std::find(first, first + sequence.segments, true) != first + sequence.segments) continue;
      starts.push_back(start);
      next = start + sequence.segments;
    }
    return starts;
  }

  // The lines that the model file gets shorter by.
  static int SavedBy(const Sequence& sequence, size_t uses) {
    constexpr int kLinesOfBlock = 2;
    const int count = static_cast<int>(uses);
    return (count - 1) * sequence.length - count - kLinesOfBlock;
  }

  // Takes what saves most, until nothing does.
  std::pair<std::vector<RepeatedBlock>, int> Choose(const std::vector<Sequence>& sequences,
                                                    int most_segments) const {
    std::vector<bool> is_taken(segments_.size());
    // The earlier one of two that save the same comes first.
    std::priority_queue<std::pair<int, int>> queue;
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (sequences[i].segments > most_segments) continue;
      const size_t uses = FreeStarts(sequences[i], is_taken).size();
      queue.emplace(SavedBy(sequences[i], uses), -static_cast<int>(i));
    }
    std::vector<RepeatedBlock> blocks;
    int total = 0;
    while (!queue.empty()) {
      const auto [promised, place] = queue.top();
      queue.pop();
      if (promised <= 0) break;
      const Sequence& sequence = sequences[static_cast<size_t>(-place)];
      const std::vector<int> starts = FreeStarts(sequence, is_taken);
      const int saved = SavedBy(sequence, starts.size());
      if (saved < promised) {
        queue.emplace(saved, place);
        continue;
      }
      RepeatedBlock block{sequence.length, {}};
      for (const int start : starts) {
        const int begin = segments_[static_cast<size_t>(start)];
        if (!block.starts.empty() && !AreEqual(block.starts[0], begin, block.length)) continue;
        block.starts.push_back(begin);
        std::fill_n(is_taken.begin() + start, sequence.segments, true);
      }
      if (block.starts.size() < 2) continue;
      total += saved;
      blocks.push_back(std::move(block));
    }
    return {std::move(blocks), total};
  }

  const Network& network_;
  std::set<std::string_view> outputs_;
  std::vector<int> segment_of_;  // of items
  std::vector<int> order_, place_of_;
  std::vector<int> segments_;  // the places where they begin, and the end
  std::vector<uint64_t> tokens_;
};

}  // namespace

BlockPlan FindBlocks(const Network& network, const std::vector<std::string>& outputs) {
  return BlockFinder(network, outputs).Run();
}

}  // namespace cgrun
