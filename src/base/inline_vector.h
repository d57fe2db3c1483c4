// A vector whose first few elements lie within it: the shapes of a graph are copied a million times
// in a compile, and nearly all have no more than four dimensions.
#ifndef CGRUN_BASE_INLINE_VECTOR_H_
#define CGRUN_BASE_INLINE_VECTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace cgrun {

// The members that are there are those of std::vector. More than `kInside` elements lie on the
// heap.
template <class T, size_t kInside>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> items) { Append(items.begin(), items.end()); }
  template <std::forward_iterator Iterator>
  InlineVector(Iterator first, Iterator last) {
    Append(first, last);
  }
  InlineVector(const InlineVector& other) { Append(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { TakeFrom(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this == &other) return *this;
    size_ = 0;
    Append(other.begin(), other.end());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) TakeFrom(other);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return outside_ ? outside_.get() : inside_; }
  const T* data() const { return outside_ ? outside_.get() : inside_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(T item) {
    Reserve(size_ + 1);
    data()[size_++] = item;
  }
  T* insert(const T* at, T item) { return insert(at, &item, &item + 1); }
  template <std::forward_iterator Iterator>
  T* insert(const T* at, Iterator first, Iterator last) {
    const std::ptrdiff_t place = at - begin(), size = size_;
    Append(first, last);
    std::rotate(begin() + place, begin() + size, end());
    return begin() + place;
  }
  T* erase(const T* at) { return erase(at, at + 1); }
  T* erase(const T* first, const T* last) {
    T* const place = begin() + (first - begin());
    std::copy(last, static_cast<const T*>(end()), place);
    size_ -= static_cast<uint32_t>(last - first);
    return place;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  template <std::forward_iterator Iterator>
  void Append(Iterator first, Iterator last) {
    const auto count = static_cast<size_t>(std::distance(first, last));
    Reserve(size_ + count);
    std::copy(first, last, end());
    size_ += static_cast<uint32_t>(count);
  }

  void Reserve(size_t size) {
    if (size <= capacity_) return;
    const size_t capacity = std::max<size_t>(size, 2 * size_t{capacity_});
    auto grown = std::make_unique<T[]>(capacity);
    std::copy(begin(), end(), grown.get());
    outside_ = std::move(grown);
    capacity_ = static_cast<uint32_t>(capacity);
  }

  void TakeFrom(InlineVector& other) {
    outside_ = std::move(other.outside_);
    std::copy(other.inside_, other.inside_ + kInside, inside_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, static_cast<uint32_t>(kInside));
  }

  std::unique_ptr<T[]> outside_;  // null: the elements lie inside
  uint32_t size_ = 0;
  uint32_t capacity_ = kInside;
  T inside_[kInside];
};

}  // namespace cgrun

#endif  // CGRUN_BASE_INLINE_VECTOR_H_
