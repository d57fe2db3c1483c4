// Declares the formulas that patterns are written in. A formula is a sum of products.
#ifndef CGRUN_IMPORT_FORMULA_H_
#define CGRUN_IMPORT_FORMULA_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

struct FormulaAtom;

// Means coefficient · Π atom^exponent.
struct FormulaProduct {
  struct Factor {
    std::shared_ptr<const FormulaAtom> atom;
    double exponent = 1;
  };
  double coefficient = 1;
  std::vector<Factor> factors;
};

// Means constant + Σ terms. A name in the place of the constant stands for any number.
struct FormulaSum {
  double constant = 0;
  std::string number;  // "" where the constant is known
  std::vector<FormulaProduct> terms;

  bool IsProduct() const { return constant == 0 && number.empty() && terms.size() == 1; }
};

// Holds a name or `call(arguments)`; without both it is a sum in parentheses.
struct FormulaAtom {
  std::string name;
  std::string call;
  FormulaSum sum;               // the argument of `call`
  std::vector<double> numbers;  // the other arguments
};

// A formula with its definitions: every use of a name that is defined is the same value.
struct Formula {
  std::map<std::string, FormulaSum, std::less<>> definitions;
  FormulaSum result;
};

// Reads `c = x - mean(x); c / sqrt(mean(c^2) + e)`. A name that is defined nowhere is a value; `e`
// is a number, and `scale` and `shift` are constants. `sqrt(a)` is `a^0.5`. Fails a check where the
// text is no formula.
Formula ParseFormula(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_FORMULA_H_
