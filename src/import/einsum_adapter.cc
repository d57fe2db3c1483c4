// Einsum takes diagonals, sums over letters of one operand alone, and products of matrices, pair by
// pair.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// Holds an operand, and the letter of each of its axes.
struct Lettered {
  NetworkValue value;
  std::string letters;

  bool Has(char letter) const { return letters.find(letter) != letters.npos; }
};

// Holds the parts of "ij,jk->ik".
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// Axes of an ellipsis have capital letters from the end of the alphabet, which no exporter writes.
std::string WithEllipsis(NodeContext& node, const std::string& text, int axes) {
  constexpr std::string_view kDots = "...";
  std::string letters = text;
  const size_t at = letters.find(kDots);
  if (at == letters.npos) return letters;
  if (axes < 0 || axes > 8) node.FailAttribute("equation", "does not fit its inputs");
  std::string names;
  for (int i = axes; i > 0; --i) names.push_back(static_cast<char>('Z' - i + 1));
  return letters.replace(at, kDots.size(), names);
}

void CheckLetters(NodeContext& node, const std::string& letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool is_letter =
        (letters[i] >= 'a' && letters[i] <= 'z') || (letters[i] >= 'A' && letters[i] <= 'Z');
    if (!is_letter) node.FailAttribute("equation", "has '" + letters.substr(i, 1) + "'");
  }
}

// Letters that stand once in all operands, in the order of the alphabet.
std::string ImplicitResult(const std::vector<std::string>& operands, int ellipsis) {
  std::string all, result;
  for (const std::string& operand : operands) all += operand;
  std::ranges::sort(all);
  for (const char letter : all) {
    if (std::ranges::count(all, letter) == 1) result.push_back(letter);
  }
  std::string leading;
  for (int i = ellipsis; i > 0; --i) leading.push_back(static_cast<char>('Z' - i + 1));
  std::erase_if(result, [&](char letter) { return leading.find(letter) != leading.npos; });
  return leading + result;
}

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) parts.emplace_back();
    if (c != separator) parts.back().push_back(c);
  }
  return parts;
}

Equation ReadEquation(NodeContext& node) {
  std::string text = node.Text("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  Equation equation{SplitAt(text.substr(0, arrow), ','), ""};
  if (std::ssize(equation.operands) != node.num_inputs()) {
    node.FailAttribute("equation", "has not as many operands as the node");
  }
  int ellipsis = 0;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    std::string& letters = equation.operands[i];
    const bool has_dots = letters.find("...") != letters.npos;
    const int rank = node.ShapeOf(static_cast<int>(i)).rank();
    const int named = static_cast<int>(letters.size()) - (has_dots ? 3 : 0);
    letters = WithEllipsis(node, letters, rank - named);
    if (has_dots) ellipsis = std::max(ellipsis, rank - named);
    if (static_cast<int>(letters.size()) != rank) {
      node.FailAttribute("equation", "does not fit its inputs");
    }
    CheckLetters(node, letters);
  }
  equation.result = arrow == text.npos ? ImplicitResult(equation.operands, ellipsis)
                                       : WithEllipsis(node, text.substr(arrow + 2), ellipsis);
  CheckLetters(node, equation.result);
  for (const char letter : equation.result) {
    if (std::ranges::count(equation.result, letter) > 1) {
      node.FailAttribute("equation", "has a result with a letter twice");
    }
  }
  return equation;
}

class EinsumWriter {
 public:
  EinsumWriter(NodeContext& node, Equation equation)
      : node_(node), write_(node), equation_(std::move(equation)) {
    for (size_t i = 0; i < equation_.operands.size(); ++i) {
      operands_.push_back({node.Value(static_cast<int>(i)), equation_.operands[i]});
    }
  }

  void Run() {
    const ValueId first = operands_[0].value.id;
    for (Lettered& operand : operands_) operand = Diagonal(operand);
    while (operands_.size() > 1) {
      // The operand with the batch leads.
      if (!HasBatch(0) && HasBatch(1)) std::swap(operands_[0], operands_[1]);
      wanted_ = LettersFrom(2);
      SumOwn(0);
      SumOwn(1);
      operands_[0] = Product(operands_[0], operands_[1]);
      operands_.erase(operands_.begin() + 1);
    }
    wanted_ = equation_.result;
    SumOwn(0);
    const Lettered result = Ordered(operands_[0], equation_.result);
    if (result.value.id == first) {
      return write_.Finish("identity", {result.value});
    }
    node_.Set(result.value);
  }

 private:
  bool HasBatch(size_t i) const { return !write_.ShapeOf(operands_[i].value).IsBound(); }

  // Lists the letters of the result, and of the operands from `i` on, each of them once.
  std::string LettersFrom(size_t i) const {
    std::string letters = equation_.result;
    for (; i < operands_.size(); ++i) {
      for (const char letter : operands_[i].letters) {
        if (letters.find(letter) == letters.npos) letters.push_back(letter);
      }
    }
    return letters;
  }

  // Takes the elements whose places on two axes of one letter are the same. In a row of all n·n
  // pairs they lie n + 1 apart.
  Lettered Diagonal(Lettered operand) {
    for (size_t i = 0; i < operand.letters.size(); ++i) {
      const char letter = operand.letters[i];
      const size_t twin = operand.letters.find(letter, i + 1);
      if (twin == operand.letters.npos) continue;
      std::vector<int64_t> perm = AxesFrom(0, static_cast<int>(operand.letters.size()));
      perm.erase(perm.begin() + static_cast<int64_t>(twin));
      perm.erase(perm.begin() + static_cast<int64_t>(i));
      perm.insert(perm.end(), {static_cast<int64_t>(i), static_cast<int64_t>(twin)});
      const NetworkValue turned = write_.Transposed(operand.value, perm);
      const Shape shape = write_.ShapeOf(turned);
      const int last = shape.rank() - 1;
      const Dim size = shape[last];
      if (size.batch || shape[last - 1].batch) node_.Fail("takes a diagonal of the batch axis");
      if (shape[last - 1] != size) node_.Fail("takes a diagonal of axes that differ in size");
      std::vector<Dim> dims(shape.begin(), shape.end() - 2);
      dims.emplace_back(size.size * size.size);
      operand.value = write_.Part(
          "slice", {write_.Reshaped(turned, dims)},
          {KeyOfList("axes", {last - 1}), KeyOfList("starts", {0}),
           KeyOfList("ends", {size.size * size.size}), KeyOfList("steps", {size.size + 1})});
      operand.letters.erase(twin, 1);
      operand.letters.erase(i, 1);
      operand.letters.push_back(letter);
      --i;
    }
    return operand;
  }

  // Adds up the letters of operand `i`, of the first two, that stand nowhere else.
  void SumOwn(size_t i) {
    Lettered& operand = operands_[i];
    std::vector<int64_t> axes;
    std::string kept;
    for (size_t axis = 0; axis < operand.letters.size(); ++axis) {
      const char letter = operand.letters[axis];
      const bool elsewhere = operands_.size() > 1 && operands_[1 - i].Has(letter);
      if (elsewhere || wanted_.find(letter) != std::string::npos) {
        kept.push_back(letter);
        continue;
      }
      const Dim size = write_.ShapeOf(operand.value)[static_cast<int>(axis)];
      if (size.batch) node_.Fail("adds up the batch axis");
      axes.push_back(static_cast<int64_t>(axis));
    }
    if (axes.empty()) return;
    operand = {write_.Part("reduce_sum", {operand.value}, {KeyOfList("axes", axes)}), kept};
  }

  Lettered Ordered(const Lettered& operand, const std::string& letters) {
    std::vector<int64_t> perm;
    for (const char letter : letters) {
      const size_t axis = operand.letters.find(letter);
      if (axis == operand.letters.npos) {
        node_.FailAttribute("equation", "has a result with a letter that no operand has");
      }
      perm.push_back(static_cast<int64_t>(axis));
    }
    return {write_.Transposed(operand.value, perm), letters};
  }

  Dim SizeOf(const Lettered& operand, char letter) const {
    return write_.ShapeOf(operand.value)[static_cast<int>(operand.letters.find(letter))];
  }

  // The letters of `operand`, those that are wanted later in front, for which `takes` holds.
  template <class F>
  std::string Letters(const Lettered& operand, F takes) const {
    std::string all = wanted_, letters;
    for (const char letter : operand.letters) {
      if (all.find(letter) == all.npos) all.push_back(letter);
    }
    for (const char letter : all) {
      if (operand.Has(letter) && takes(letter)) letters.push_back(letter);
    }
    return letters;
  }

  std::vector<Dim> DimsOf(const Lettered& operand, const std::string& letters) const {
    std::vector<Dim> dims;
    for (const char letter : letters) dims.push_back(SizeOf(operand, letter));
    return dims;
  }

  Dim Merged(const std::vector<Dim>& dims) const {
    Dim product(1);
    for (const Dim& dim : dims) {
      if (dim.batch) node_.Fail("joins the batch axis with others");
      product.size *= dim.size;
    }
    return product;
  }

  // Gives an operand the shape [leading axes, rows, columns]. Rows and columns may be several
  // letters.
  NetworkValue AsMatrices(const Lettered& operand, const std::string& leading,
                          const std::string& rows, const std::string& columns) {
    const Lettered ordered = Ordered(operand, leading + rows + columns);
    std::vector<Dim> dims = DimsOf(ordered, leading);
    dims.push_back(Merged(DimsOf(ordered, rows)));
    dims.push_back(Merged(DimsOf(ordered, columns)));
    return write_.Reshaped(ordered.value, dims);
  }

  Lettered Product(const Lettered& a, const Lettered& b) {
    const auto in_result = [&](char letter) { return wanted_.find(letter) != std::string::npos; };
    std::string shared = Letters(a, [&](char l) { return b.Has(l) && in_result(l); });
    const std::string summed = Letters(a, [&](char l) { return b.Has(l) && !in_result(l); });
    std::string of_a = Letters(a, [&](char l) { return !b.Has(l); });
    const std::string of_b = Letters(b, [&](char l) { return !a.Has(l); });
    for (const char letter : shared + summed) {
      if (SizeOf(a, letter) != SizeOf(b, letter)) node_.Fail("its operands differ in size");
    }
    for (const char letter : summed) {
      if (SizeOf(a, letter).batch) node_.Fail("adds up the batch axis");
    }
    // The batch of the first operand leads, where the second one is the same for all samples.
    std::string leading = shared;
    if (shared.empty() && !of_a.empty() && SizeOf(a, of_a[0]).batch) {
      leading = of_a.substr(0, 1);
      of_a.erase(0, 1);
    }
    const NetworkValue left = AsMatrices(a, leading, of_a, summed);
    const NetworkValue right = AsMatrices(b, shared, summed, of_b);
    const NetworkValue product = write_.Part("matmul", {left, right});
    std::vector<Dim> dims = DimsOf(a, leading + of_a);
    for (const Dim& dim : DimsOf(b, of_b)) dims.push_back(dim);
    return {write_.Reshaped(product, dims), leading + of_a + of_b};
  }

  NodeContext& node_;
  ItemWriter write_;
  Equation equation_;
  std::string wanted_;  // the letters that the result or a later operand has
  std::vector<Lettered> operands_;
};

void Einsum(NodeContext& node, const Adapter&) { EinsumWriter(node, ReadEquation(node)).Run(); }

constexpr Adapter kEinsum[] = {{"Einsum", Einsum, "", 1 << 20}};

}  // namespace

std::span<const Adapter> EinsumAdapters() { return kEinsum; }

}  // namespace cgrun
