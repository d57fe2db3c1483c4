// A list of items for each of many keys, all in one vector: a vector for each key would take most
// of the time of a pass.
#ifndef CGRUN_BASE_FLAT_LISTS_H_
#define CGRUN_BASE_FLAT_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/ids.h"

namespace cgrun {

// Made in two rounds: Count() for each item, then Allot(), then Add() for each item. A list may
// get fewer items than were counted.
template <class IdType, class T>
class FlatLists {
 public:
  FlatLists() = default;
  explicit FlatLists(size_t keys) : places_(keys) {}

  void Count(IdType key) { ++places_[key].end; }
  void Allot() {
    uint32_t next = 0;
    for (Place& place : places_) {
      const uint32_t count = place.end;
      place = {next, next};
      next += count;
    }
    items_.resize(next);
  }
  void Add(IdType key, const T& item) { items_[places_[key].end++] = item; }

  size_t size() const { return places_.size(); }
  // In the order in which they were added.
  std::span<const T> operator[](IdType key) const {
    const Place place = places_[key];
    return {items_.data() + place.begin, place.end - place.begin};
  }

 private:
  struct Place {
    uint32_t begin = 0, end = 0;  // in items_; while items are counted, their number is the end
  };

  IdVector<IdType, Place> places_;
  std::vector<T> items_;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_FLAT_LISTS_H_
