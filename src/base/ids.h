// Strong integer ids: a ValueId cannot be passed where a NodeId is meant, and both index flat
// vectors.
#ifndef CGRUN_BASE_IDS_H_
#define CGRUN_BASE_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace cgrun {

// An index into a flat vector of things named by `Tag`; default-constructed it names nothing.
template <class Tag>
struct Id {
  int32_t index = -1;

  constexpr Id() = default;
  constexpr explicit Id(int64_t i) : index(static_cast<int32_t>(i)) {}

  constexpr bool valid() const { return index >= 0; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// A vector that is indexed by its own kind of id only.
template <class IdType, class T>
class IdVector {
 public:
  using value_type = T;

  IdVector() = default;
  explicit IdVector(size_t size, T value = T()) : items_(size, std::move(value)) {}

  decltype(auto) operator[](IdType id) { return items_[static_cast<size_t>(id.index)]; }
  decltype(auto) operator[](IdType id) const { return items_[static_cast<size_t>(id.index)]; }

  IdType push_back(T item) {
    items_.push_back(std::move(item));
    return IdType(static_cast<int64_t>(items_.size()) - 1);
  }

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void reserve(size_t size) { items_.reserve(size); }
  void resize(size_t size, const T& value = T()) { items_.resize(size, value); }
  void clear() { items_.clear(); }
  bool contains(IdType id) const { return id.valid() && static_cast<size_t>(id.index) < size(); }
  IdType last() const { return IdType(static_cast<int64_t>(items_.size()) - 1); }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  // The ids 0 … size−1, for `for (NodeId node : nodes.ids())`.
  class IdRange {
   public:
    class Iterator {
     public:
      explicit Iterator(int64_t i) : i_(i) {}
      IdType operator*() const { return IdType(i_); }
      Iterator& operator++() {
        ++i_;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return i_ != other.i_; }

     private:
      int64_t i_;
    };
    explicit IdRange(size_t size) : size_(static_cast<int64_t>(size)) {}
    Iterator begin() const { return Iterator(0); }
    Iterator end() const { return Iterator(size_); }

   private:
    int64_t size_;
  };
  IdRange ids() const { return IdRange(size()); }

 private:
  std::vector<T> items_;
};

}  // namespace cgrun

template <class Tag>
struct std::hash<cgrun::Id<Tag>> {
  size_t operator()(cgrun::Id<Tag> id) const { return std::hash<int32_t>()(id.index); }
};

#endif  // CGRUN_BASE_IDS_H_
