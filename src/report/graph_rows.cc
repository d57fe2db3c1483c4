// Ranks boxes by the longest path, then finds the rows of each band.
#include <algorithm>
#include <limits>
#include <set>

#include "src/report/graph_layout.h"

namespace cgrun {
namespace {

class Rows {
 public:
  explicit Rows(const LayoutGraph& graph)
      : graph_(graph), producers_(graph.boxes.size()), readers_(graph.boxes.size()) {
    for (const LayoutEdge& edge : graph.edges) {
      if (edge.from >= edge.to) continue;
      producers_[static_cast<size_t>(edge.to)].push_back(static_cast<size_t>(edge.from));
      readers_[static_cast<size_t>(edge.from)].push_back(static_cast<size_t>(edge.to));
    }
    rows_.band.assign(graph.boxes.size(), 0);
    rows_.row.assign(graph.boxes.size(), 0);
  }

  GraphRows Find() {
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      rows_.band[i] = Is(i, LaneId::kForward) ? Rank(i) : BandBeside(i);
    }
    MoveLateBoxes();
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      if (!Is(i, LaneId::kForward)) rows_.band[i] = BandBeside(i);  // late boxes were moved
    }
    CloseEmptyBands();
    in_band_.resize(rows_.row_count.size());
    for (size_t i = 0; i < graph_.boxes.size(); ++i) in_band_[Band(i)].push_back(i);
    for (size_t band = 0; band < in_band_.size(); ++band) FillBand(band);
    return rows_;
  }

 private:
  bool Is(size_t box, LaneId lane) const { return graph_.boxes[box].lane == lane; }
  size_t Band(size_t box) const { return static_cast<size_t>(rows_.band[box]); }

  // Rank 0 is left to boxes that come late.
  int Rank(size_t box) const {
    int rank = 1;
    for (const size_t producer : producers_[box]) {
      const bool counts = !graph_.boxes[producer].late;
      if (counts) rank = std::max(rank, rows_.band[producer] + 1);
    }
    return rank;
  }

  // Returns the band of the box's anchor, but not below that of the boxes that it reads in its own
  // lane: gradients flow up.
  int BandBeside(size_t box) const {
    const int named = graph_.boxes[box].anchor;
    const int anchor = named < static_cast<int>(box) ? named : -1;  // its band is known
    int least = std::numeric_limits<int>::max(), most = 0;
    for (const size_t producer : producers_[box]) {
      if (Is(producer, LaneId::kForward)) {
        most = std::max(most, rows_.band[producer]);
      } else if (anchor < 0 || Is(producer, graph_.boxes[box].lane)) {
        least = std::min(least, rows_.band[producer]);
      }
    }
    const bool none = least == std::numeric_limits<int>::max();
    if (anchor >= 0) return std::min(least, rows_.band[static_cast<size_t>(anchor)]);
    return none ? most : least;
  }

  void MoveLateBoxes() {
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      if (!graph_.boxes[i].late) continue;
      int first = std::numeric_limits<int>::max();
      for (const size_t reader : readers_[i]) {
        if (Is(reader, LaneId::kForward)) first = std::min(first, rows_.band[reader]);
      }
      if (first < std::numeric_limits<int>::max()) rows_.band[i] = std::max(0, first - 1);
    }
  }

  void CloseEmptyBands() {
    const std::set<int> used(rows_.band.begin(), rows_.band.end());
    for (int& band : rows_.band) {
      band = static_cast<int>(std::distance(used.begin(), used.find(band)));
    }
    rows_.first_row.assign(used.size(), 0);
    rows_.row_count.assign(used.size(), 1);
  }

  // Rows that one band's boxes of a lane have taken.
  static int TakeRow(std::set<int>& taken, int wanted) {
    while (!taken.insert(wanted).second) ++wanted;
    return wanted;
  }

  void FillBand(size_t band) {
    rows_.first_row[band] = rows_.rows;
    StackBackward(band);
    StackOneARow(band, LaneId::kParameterGradient);
    StackOneARow(band, LaneId::kUpdate);
    int count = 1;
    for (const size_t box : in_band_[band]) count = std::max(count, rows_.row[box] + 1);
    for (const size_t box : in_band_[band]) rows_.row[box] += rows_.rows;
    rows_.row_count[band] = count;
    rows_.rows += count;
  }

  // Places the backward boxes of a band. The last to run is on top.
  void StackBackward(size_t band) {
    int depths = 0;
    for (const size_t box : in_band_[band]) {
      if (!Is(box, LaneId::kBackward)) continue;
      for (const size_t producer : producers_[box]) {
        if (!Is(producer, LaneId::kBackward) || Band(producer) != band) continue;
        rows_.row[box] = std::max(rows_.row[box], rows_.row[producer] + 1);
      }
      depths = std::max(depths, rows_.row[box] + 1);
    }
    for (const size_t box : in_band_[band]) {
      if (Is(box, LaneId::kBackward)) rows_.row[box] = depths - 1 - rows_.row[box];
    }
  }

  // Places each box in the row of the box that it reads, where that is free.
  void StackOneARow(size_t band, LaneId lane) {
    std::set<int> taken;
    for (const size_t box : in_band_[band]) {
      if (!Is(box, lane)) continue;
      int wanted = 0;
      for (const size_t producer : producers_[box]) {
        const bool beside = lane == LaneId::kUpdate && !Is(producer, LaneId::kForward);
        if (beside && Band(producer) == band) wanted = std::max(wanted, rows_.row[producer]);
      }
      rows_.row[box] = TakeRow(taken, wanted);
    }
  }

  const LayoutGraph& graph_;
  std::vector<std::vector<size_t>> producers_, readers_;
  std::vector<std::vector<size_t>> in_band_;
  GraphRows rows_;
};

}  // namespace

GraphRows RowsOf(const LayoutGraph& graph) { return Rows(graph).Find(); }

}  // namespace cgrun
