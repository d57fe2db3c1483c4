// Reads tensors from text by recursive descent.
#include "src/base/tensor_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cgrun {
namespace {

constexpr size_t kMostAxes = 8;

class TensorParser {
 public:
  TensorParser(std::string_view text, DType dtype) : rest_(text), dtype_(dtype) {}

  std::optional<HostTensor> Run() {
    if (!Value(0) || !SkipTo('\0')) return std::nullopt;
    HostTensor tensor(dtype_, Shape::Of(sizes_));
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      if (IsWhole()) {
        std::memcpy(tensor.bytes().data() + i * sizeof(int64_t), &numbers_[i].whole,
                    sizeof(int64_t));
        continue;
      }
      tensor.Set(at, numbers_[i].real);
      if (!IsFloat(dtype_) && tensor.At(at) != numbers_[i].real) return std::nullopt;
    }
    return tensor;
  }

 private:
  struct Number {
    double real = 0;
    uint64_t whole = 0;  // the bits of an integer of 64
  };

  // Returns whether a double does not hold all numbers of the type.
  bool IsWhole() const { return dtype_ == DType::kI64 || dtype_ == DType::kU64; }

  template <class T>
  bool Whole(const char* last, uint64_t* bits) const {
    T value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    *bits = static_cast<uint64_t>(value);
    return read.ec == std::errc() && read.ptr == last;
  }

  // Passes over spaces. Returns whether `c` follows, '\0' being the end, and takes it.
  bool SkipTo(char c) {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    if (c == '\0') return rest_.empty();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Value(size_t depth) {
    if (!SkipTo('[')) return is_leaf_depth_known_ ? depth == sizes_.size() && Leaf() : FirstLeaf();
    if (depth == kMostAxes || (is_leaf_depth_known_ && depth >= sizes_.size())) return false;
    if (depth == sizes_.size()) sizes_.push_back(0);
    int64_t count = 0;
    do {
      if (!Value(depth + 1)) return false;
      ++count;
    } while (SkipTo(','));
    if (sizes_[depth] == 0) sizes_[depth] = count;
    return SkipTo(']') && sizes_[depth] == count;
  }

  bool FirstLeaf() {
    is_leaf_depth_known_ = true;
    return Leaf();
  }

  bool Leaf() {
    for (const auto& [word, value] : {std::pair("true", 1), std::pair("false", 0)}) {
      if (dtype_ != DType::kBool || !rest_.starts_with(word)) continue;
      rest_.remove_prefix(std::string_view(word).size());
      numbers_.push_back({static_cast<double>(value), static_cast<uint64_t>(value)});
      return true;
    }
    Number number;
    const char* const end = rest_.data() + rest_.size();
    const auto [last, error] = std::from_chars(rest_.data(), end, number.real);
    if (error != std::errc() || std::isnan(number.real)) return false;
    if (dtype_ == DType::kI64 && !Whole<int64_t>(last, &number.whole)) return false;
    if (dtype_ == DType::kU64 && !Whole<uint64_t>(last, &number.whole)) return false;
    rest_ = std::string_view(last, static_cast<size_t>(end - last));
    numbers_.push_back(number);
    return true;
  }

  std::string_view rest_;
  DType dtype_;
  std::vector<int64_t> sizes_;
  bool is_leaf_depth_known_ = false;  // sizes_ has all axes
  std::vector<Number> numbers_;
};

}  // namespace

std::optional<HostTensor> ParseTensor(std::string_view text, DType dtype) {
  return TensorParser(text, dtype).Run();
}

std::optional<HostTensor> ConvertTensor(const HostTensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  HostTensor converted(dtype, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double number = tensor.At(i);
    converted.Set(i, number);
    const bool rounds = IsFloat(dtype) && IsFloat(tensor.dtype());
    if (!rounds && converted.At(i) != number) return std::nullopt;
  }
  return converted;
}

}  // namespace cgrun
