// Takes values apart as sums and products, and compares these with the formula's.
#include "src/import/match.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace cgrun {
namespace {

// Longer sums and products are none that a formula has.
constexpr size_t kMostParts = 8;

bool IsNear(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

struct Call {
  std::string_view name, op;
  bool reduces = false;
};

constexpr Call kCalls[] = {
    {"clip", "clip"},
    {"erf", "erf"},
    {"exp", "exp"},
    {"log", "log"},
    {"max", "reduce_max", true},
    {"mean", "reduce_mean", true},
    {"sigmoid", "sigmoid"},
    {"sum", "reduce_sum", true},
    {"tanh", "tanh"},
};

// A value is taken apart as number · Π part^exponent, or as number + Σ part·exponent.
struct Parts {
  double number = 0;
  std::vector<std::pair<int, double>> parts;
  std::vector<int> through;  // the items that it was taken apart at
  bool is_known = true;      // false where it has too many parts
};

class Matcher {
 public:
  Matcher(const ItemGraph& graph, const Formula& formula) : graph_(graph), formula_(formula) {}

  std::optional<FormulaMatch> Run(int root) {
    if (!MatchSum(formula_.result, root) || !IsClosed(root)) return std::nullopt;
    return match_;
  }

 private:
  // The state that a failed attempt must not change.
  struct State {
    FormulaMatch match;
    size_t seen;
  };
  State Save() const { return {match_, seen_.size()}; }
  void Restore(State state) {
    match_ = std::move(state.match);
    seen_.resize(state.seen);
  }

  bool MayPass(int value, bool is_top) const {
    return value >= 0 && (is_top || graph_.IsUsedOnce(value));
  }

  void AddFactor(const ItemOperand& operand, double exponent, Parts& product) {
    if (operand.IsNumber()) {
      product.number *= std::pow(operand.number, exponent);
    } else {
      AddFactors(operand.value, exponent, false, product);
    }
  }

  void AddFactors(int value, double exponent, bool is_top, Parts& product) {
    if (MayPass(value, is_top)) {
      const ItemGraph::Node& node = graph_.at(value);
      const std::string& op = node.item.op;
      const bool multiplies = op == "mul", divides = op == "div";
      if (multiplies || divides || op == "neg") {
        product.through.push_back(value);
        if (op == "neg") product.number = -product.number;
        AddFactor(node.in[0], exponent, product);
        if (node.in.size() > 1) AddFactor(node.in[1], divides ? -exponent : exponent, product);
        return;
      }
      const bool is_power = op == "pow" && node.in[1].IsNumber() && !node.in[0].IsNumber();
      if (op == "sqrt" || is_power) {
        product.through.push_back(value);
        return AddPart(node.in[0].value, exponent * (is_power ? node.in[1].number : 0.5), product);
      }
    }
    AddPart(value, exponent, product);
  }

  static void AddPart(int value, double exponent, Parts& parts) {
    const auto same = std::ranges::find(parts.parts, value, &std::pair<int, double>::first);
    if (same != parts.parts.end()) {
      same->second += exponent;
    } else {
      parts.parts.emplace_back(value, exponent);
    }
    parts.is_known &= parts.parts.size() <= kMostParts;
  }

  void AddTerm(const ItemOperand& operand, double sign, Parts& sum) {
    if (operand.IsNumber()) {
      sum.number += sign * operand.number;
    } else {
      AddTerms(operand.value, sign, false, sum);
    }
  }

  void AddTerms(int value, double sign, bool is_top, Parts& sum) {
    const std::string_view op =
        MayPass(value, is_top) ? std::string_view(graph_.at(value).item.op) : "";
    if (!sum.is_known || (op != "add" && op != "sub")) return AddPart(value, sign, sum);
    sum.through.push_back(value);
    AddTerm(graph_.at(value).in[0], sign, sum);
    AddTerm(graph_.at(value).in[1], op == "sub" ? -sign : sign, sum);
  }

  bool MatchSum(const FormulaSum& sum, int value) {
    if (sum.IsProduct()) return MatchProduct(sum.terms[0], value, 1);
    Parts parts;
    AddTerms(value, 1, true, parts);
    if (!parts.is_known || parts.parts.size() != sum.terms.size()) return false;
    if (sum.number.empty() && !IsNear(parts.number, sum.constant)) return false;
    if (!sum.number.empty()) match_.number = parts.number;
    seen_.insert(seen_.end(), parts.through.begin(), parts.through.end());
    return Assign(sum.terms.size(), parts, [&](size_t i, int part, double sign) {
      return std::abs(sign) == 1 && MatchProduct(sum.terms[i], part, sign);
    });
  }

  bool MatchProduct(const FormulaProduct& product, int value, double sign) {
    if (product.factors.size() == 1 && product.factors[0].exponent == 1 &&
        product.coefficient == sign) {
      return MatchAtom(*product.factors[0].atom, value);
    }
    Parts parts{.number = sign, .parts = {}, .through = {}};
    AddFactors(value, 1, true, parts);
    if (!parts.is_known || parts.parts.size() != product.factors.size()) return false;
    if (!IsNear(parts.number, product.coefficient)) return false;
    seen_.insert(seen_.end(), parts.through.begin(), parts.through.end());
    return Assign(product.factors.size(), parts, [&](size_t i, int part, double exponent) {
      const FormulaProduct::Factor& factor = product.factors[i];
      return IsNear(exponent, factor.exponent) && MatchAtom(*factor.atom, part);
    });
  }

  // Finds an order in which each part of the value is one of the formula.
  bool Assign(size_t count, const Parts& parts,
              const std::function<bool(size_t, int, double)>& matches) {
    std::vector<bool> is_taken(count);
    return AssignFrom(0, parts, is_taken, matches);
  }
  bool AssignFrom(size_t i, const Parts& parts, std::vector<bool>& is_taken,
                  const std::function<bool(size_t, int, double)>& matches) {
    if (i == is_taken.size()) return true;
    for (size_t j = 0; j < is_taken.size(); ++j) {
      if (is_taken[j]) continue;
      State before = Save();
      is_taken[j] = true;
      if (matches(i, parts.parts[j].first, parts.parts[j].second) &&
          AssignFrom(i + 1, parts, is_taken, matches)) {
        return true;
      }
      is_taken[j] = false;
      Restore(std::move(before));
    }
    return false;
  }

  bool MatchAtom(const FormulaAtom& atom, int value) {
    if (!atom.name.empty()) return MatchName(atom.name, value);
    return atom.call.empty() ? MatchSum(atom.sum, value) : MatchCall(atom, value);
  }

  bool MatchName(const std::string& name, int value) {
    const auto known = match_.values.find(name);
    if (known != match_.values.end()) return known->second == value;
    const auto definition = formula_.definitions.find(name);
    if (definition != formula_.definitions.end() && !MatchSum(definition->second, value)) {
      return false;
    }
    const bool is_constant = name == "scale" || name == "shift";
    if (is_constant && graph_.ConstantAt(value) == nullptr) return false;
    match_.values.emplace(name, value);
    return true;
  }

  bool MatchCall(const FormulaAtom& atom, int value) {
    const auto* const call = std::ranges::find(kCalls, atom.call, &Call::name);
    const ItemGraph::Node* const node = graph_.Find(value, call->op);
    if (node == nullptr || node->in[0].IsNumber()) return false;
    if (call->reduces && !MatchAxes(*node)) return false;
    if (call->op == "clip" && !HasBounds(node->item, atom.numbers)) return false;
    seen_.push_back(value);
    return MatchSum(atom.sum, node->in[0].value);
  }

  bool MatchAxes(const ItemGraph::Node& node) {
    const TreeNode* const keeps = KeyAt(node.item, "keep_dims");
    if (keeps == nullptr || keeps->scalar != "true") return false;
    std::optional<std::vector<int64_t>> axes = ListAt(node.item, "axes");
    if (!axes || axes->empty()) return false;
    const int rank = graph_.TypeOf(node.in[0].value).shape.rank();
    for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
    std::ranges::sort(*axes);
    if (match_.axes.empty()) match_.axes = *axes;
    return match_.axes == *axes;
  }

  static bool HasBounds(const Item& item, const std::vector<double>& bounds) {
    const TreeNode *const min = KeyAt(item, "min"), *const max = KeyAt(item, "max");
    return min != nullptr && max != nullptr &&
           std::strtod(min->scalar.c_str(), nullptr) == bounds[0] &&
           std::strtod(max->scalar.c_str(), nullptr) == bounds[1];
  }

  // Returns whether the items within are read by each other alone.
  bool IsClosed(int root) const {
    const std::set<int> within(seen_.begin(), seen_.end());
    return std::ranges::all_of(within, [&](int item) {
      if (item == root) return true;
      const ItemGraph::Node& node = graph_.at(item);
      return !node.is_output &&
             std::ranges::all_of(node.readers, [&](int reader) { return within.contains(reader); });
    });
  }

  const ItemGraph& graph_;
  const Formula& formula_;
  FormulaMatch match_;
  std::vector<int> seen_;  // the items of the match so far
};

}  // namespace

std::optional<FormulaMatch> MatchFormula(const ItemGraph& graph, const Formula& formula, int root) {
  return Matcher(graph, formula).Run(root);
}

}  // namespace cgrun
