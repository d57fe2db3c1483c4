// Parses formulas by recursive descent.
#include "src/import/formula.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "src/base/check.h"

namespace cgrun {
namespace {

constexpr std::string_view kNumberName = "e";

using Factor = FormulaProduct::Factor;

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Formula Run() {
    Formula formula;
    for (size_t define = text_.find('='); define != text_.npos; define = text_.find('=', at_)) {
      const std::string name = Name();
      Expect('=');
      formula.definitions[name] = Sum();
      Expect(';');
    }
    formula.result = Sum();
    CGRUN_CHECK(Peek() == '\0') << text_;
    return formula;
  }

 private:
  FormulaSum Sum() {
    FormulaSum sum;
    for (double sign = 1;;) {
      AddTerm(Product(), sign, sum);
      if (Takes('+')) {
        sign = 1;
      } else if (Takes('-')) {
        sign = -1;
      } else {
        return sum;
      }
    }
  }

  static void AddTerm(FormulaProduct product, double sign, FormulaSum& sum) {
    product.coefficient *= sign;
    if (product.factors.empty()) {
      sum.constant += product.coefficient;
      return;
    }
    const FormulaAtom& first = *product.factors[0].atom;
    if (product.factors.size() == 1 && first.name == kNumberName) {
      sum.number = kNumberName;
    } else if (product.factors.size() == 1 && first.name.empty() && first.call.empty() &&
               product.factors[0].exponent == 1 && std::abs(product.coefficient) == 1) {
      for (FormulaProduct term : first.sum.terms)
        AddTerm(std::move(term), product.coefficient, sum);
    } else {
      sum.terms.push_back(std::move(product));
    }
  }

  FormulaProduct Product() {
    FormulaProduct product;
    if (Takes('-')) product.coefficient = -1;
    for (double sign = 1;;) {
      AddPower(sign, product);
      if (Takes('*')) {
        sign = 1;
      } else if (Takes('/')) {
        sign = -1;
      } else {
        return product;
      }
    }
  }

  void AddPower(double sign, FormulaProduct& product) {
    if (std::isdigit(Peek()) != 0) {
      const double number = Number();
      product.coefficient *= sign > 0 ? number : 1 / number;
      return;
    }
    Factor factor = Primary();
    if (Takes('^')) factor.exponent *= Number();
    factor.exponent *= sign;
    product.factors.push_back(std::move(factor));
  }

  Factor Primary() {
    auto atom = std::make_shared<FormulaAtom>();
    if (Takes('(')) {
      atom->sum = Sum();
      Expect(')');
      return {std::move(atom), 1};
    }
    std::string name = Name();
    if (!Takes('(')) {
      atom->name = std::move(name);
      return {std::move(atom), 1};
    }
    atom->sum = Sum();
    while (Takes(',')) atom->numbers.push_back(Number());
    Expect(')');
    if (name == "sqrt") return {std::move(atom), 0.5};
    atom->call = std::move(name);
    return {std::move(atom), 1};
  }

  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Takes(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) { CGRUN_CHECK(Takes(c)) << c << " is missing at " << at_ << " of " << text_; }

  std::string Name() {
    std::string name;
    Peek();
    while (at_ < text_.size() && (std::isalnum(text_[at_]) != 0 || text_[at_] == '_')) {
      name += text_[at_++];
    }
    CGRUN_CHECK(!name.empty()) << text_;
    return name;
  }

  double Number() {
    Peek();
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const double number = std::strtod(rest.c_str(), &end);
    CGRUN_CHECK(end != rest.c_str()) << text_;
    at_ += static_cast<size_t>(end - rest.c_str());
    return number;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Formula ParseFormula(std::string_view text) { return FormulaParser(text).Run(); }

}  // namespace cgrun
