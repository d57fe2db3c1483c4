// A recursive evaluator of `${…}`. Integers have 64 bits, and every operation is checked.
//
//   comparison = sum [ ( "==" | "!=" | "<=" | ">=" | "<" | ">" ) sum ] .
//   sum        = product { ( "+" | "-" ) product } .
//   product    = unary { ( "*" | "/" | "%" ) unary } .
//   unary      = ( "-" | "!" ) unary | integer | "true" | "false" | name | "(" comparison ")" .
#include "src/model/expression.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/model/values.h"

namespace cgrun {
namespace {

// An expression has such a value. It is unknown if a parameter in it has no value.
struct Value {
  enum class Kind { kUnknown, kInteger, kBoolean };
  Kind kind = Kind::kUnknown;
  int64_t number = 0;  // of a boolean 0 or 1
};

Value Integer(int64_t number) { return {Value::Kind::kInteger, number}; }
Value Boolean(bool value) { return {Value::Kind::kBoolean, value ? 1 : 0}; }

std::string Text(const Value& value) {
  if (value.kind == Value::Kind::kBoolean) return value.number ? "true" : "false";
  return std::to_string(value.number);
}

// Ends the evaluation.
struct Failure {
  std::string message;
  std::string help;
};

class Evaluator {
 public:
  Evaluator(std::string_view text, const std::vector<Binding>& bindings)
      : text_(text), bindings_(bindings) {}

  // Throws Failure.
  Value Run() {
    const Value value = Comparison();
    if (!rest().empty()) throw Unexpected();
    return value;
  }

 private:
  std::string_view rest() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_);
  }
  bool Take(std::string_view symbol) {
    if (!rest().starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  Failure Unexpected() {
    if (rest().empty()) return {"the expression ends too early", ""};
    return {"'" + std::string(rest()) + "' is not expected here",
            "integers, parameters, ( ), + - * / %, == != < <= > >=, ! are"};
  }

  Value Comparison();
  Value Sum();
  Value Product();
  Value Unary();
  Value Number();
  Value Name();
  Value Combine(char op, const Value& a, const Value& b);

  std::string_view text_;
  const std::vector<Binding>& bindings_;
  size_t at_ = 0;
  int depth_ = 0;
};

void RequireInteger(const Value& value, std::string_view op) {
  if (value.kind != Value::Kind::kBoolean) return;
  throw Failure{"'" + std::string(op) + "' takes integers, not true or false", ""};
}

bool IsUnknown(const Value& a, const Value& b) {
  return a.kind == Value::Kind::kUnknown || b.kind == Value::Kind::kUnknown;
}

Value Evaluator::Comparison() {
  const Value a = Sum();
  for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (!Take(op)) continue;
    const Value b = Sum();
    const bool equality = op == "==" || op == "!=";
    if (!equality) RequireInteger(a, op);
    if (!equality) RequireInteger(b, op);
    if (IsUnknown(a, b)) return {};
    if (a.kind != b.kind) throw Failure{"an integer is compared with true or false", ""};
    if (op == "==") return Boolean(a.number == b.number);
    if (op == "!=") return Boolean(a.number != b.number);
    if (op == "<=") return Boolean(a.number <= b.number);
    if (op == ">=") return Boolean(a.number >= b.number);
    return Boolean(op == "<" ? a.number < b.number : a.number > b.number);
  }
  return a;
}

Value Evaluator::Sum() {
  Value value = Product();
  while (rest().starts_with('+') || rest().starts_with('-')) {
    const char op = text_[at_++];
    value = Combine(op, value, Product());
  }
  return value;
}

Value Evaluator::Product() {
  Value value = Unary();
  while (rest().starts_with('*') || rest().starts_with('/') || rest().starts_with('%')) {
    const char op = text_[at_++];
    value = Combine(op, value, Unary());
  }
  return value;
}

Value Evaluator::Combine(char op, const Value& a, const Value& b) {
  const std::string name(1, op);
  RequireInteger(a, name);
  RequireInteger(b, name);
  const bool divides = op == '/' || op == '%';
  if (divides && b.kind == Value::Kind::kInteger && b.number == 0) {
    throw Failure{"a division by zero", ""};
  }
  if (IsUnknown(a, b)) return {};
  const std::string shown = Text(a) + " " + name + " " + Text(b);
  int64_t result = 0;
  bool overflow = false;
  if (op == '+') overflow = __builtin_add_overflow(a.number, b.number, &result);
  if (op == '-') overflow = __builtin_sub_overflow(a.number, b.number, &result);
  if (op == '*') overflow = __builtin_mul_overflow(a.number, b.number, &result);
  if (divides && b.number == -1) {  // INT64_MIN / -1 does not fit, and traps
    overflow = op == '/' && __builtin_sub_overflow(int64_t{0}, a.number, &result);
  } else if (divides) {
    result = op == '/' ? a.number / b.number : a.number % b.number;
    if (op == '/' && a.number % b.number != 0) {
      throw Failure{shown + " is not an integer", "only exact divisions are allowed"};
    }
  }
  if (overflow) throw Failure{shown + " does not fit 64 bits", ""};
  return Integer(result);
}

Value Evaluator::Unary() {
  constexpr int kMaxDepth = 100;
  if (++depth_ > kMaxDepth) throw Failure{"the expression is nested too deep", ""};
  Value value;
  const bool not_equal = rest().starts_with("!=");
  if (Take("-")) {
    value = Combine('-', Integer(0), Unary());
  } else if (!not_equal && Take("!")) {
    value = Unary();
    if (value.kind == Value::Kind::kInteger) throw Failure{"'!' takes true or false", ""};
    if (value.kind == Value::Kind::kBoolean) value = Boolean(value.number == 0);
  } else if (Take("(")) {
    value = Comparison();
    if (!Take(")")) throw Failure{"a ')' is missing", ""};
  } else if (!rest().empty() && rest()[0] >= '0' && rest()[0] <= '9') {
    value = Number();
  } else {
    value = Name();
  }
  --depth_;
  return value;
}

Value Evaluator::Number() {
  const std::string_view text = rest();
  int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc()) throw Failure{"a number does not fit 64 bits", ""};
  at_ += static_cast<size_t>(result.ptr - text.data());
  return Integer(number);
}

// Returns the length of the name at the start of `text`.
size_t NameLength(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && IsIdentifier(text.substr(0, length + 1))) ++length;
  return length;
}

const Binding* FindBinding(std::string_view name, const std::vector<Binding>& bindings) {
  for (const Binding& binding : bindings) {
    if (binding.name == name) return &binding;
  }
  return nullptr;
}

Failure UnknownParameter(std::string_view name, const std::vector<Binding>& bindings) {
  std::vector<std::string> names;
  for (const Binding& binding : bindings) names.push_back(binding.name);
  std::string help = SuggestName(name, names);
  if (help.empty()) help = "the block has no parameters";
  return {"'" + std::string(name) + "' is no parameter of this block", std::move(help)};
}

Value Evaluator::Name() {
  const size_t length = NameLength(rest());
  if (length == 0) throw Unexpected();
  const std::string_view name = rest().substr(0, length);
  at_ += length;
  if (name == "true" || name == "false") return Boolean(name == "true");
  const Binding* binding = FindBinding(name, bindings_);
  if (binding == nullptr) throw UnknownParameter(name, bindings_);
  if (binding->value == nullptr) return {};
  Diagnostics ignored;
  if (const auto value = ReadBoolean(*binding->value, name, ignored)) return Boolean(*value);
  if (const auto value = ReadInteger(*binding->value, name, ignored)) return Integer(*value);
  throw Failure{"'" + std::string(name) + "' is " + Describe(*binding->value) +
                    ", and arithmetic takes integers, true or false",
                ""};
}

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The node that `${expression}` stands for; null kind with an unknown value.
TreeNode NodeOf(std::string_view expression, const std::vector<Binding>& bindings) {
  expression = Trim(expression);
  const Binding* whole = FindBinding(expression, bindings);
  if (whole != nullptr) return whole->value ? *whole->value : TreeNode();
  const Value value = Evaluator(expression, bindings).Run();
  if (value.kind == Value::Kind::kUnknown) return {};
  return TreeNode::Scalar(Text(value));
}

void Spend(const TreeNode& node, SubstitutionBudget& budget) {
  budget.nodes -= 1;
  budget.bytes -= static_cast<int64_t>(node.scalar.size());
  for (const TreeNode& item : node.items) Spend(item, budget);
  for (const TreeEntry& entry : node.entries) Spend(entry.value, budget);
}

// One scalar with its `${…}` put in; throws Failure.
TreeNode SubstituteScalar(const TreeNode& node, const std::vector<Binding>& bindings,
                          SubstitutionBudget& budget) {
  const std::string& text = node.scalar;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find("${", at);
    out += text.substr(at, begin - at);
    if (begin == std::string::npos) break;
    const size_t end = text.find('}', begin);
    if (end == std::string::npos) throw Failure{"a '}' is missing behind '${'", ""};
    TreeNode value = NodeOf(std::string_view(text).substr(begin + 2, end - begin - 2), bindings);
    if (begin == 0 && end + 1 == text.size()) return value;
    if (value.IsSequence() || value.IsMap()) {
      throw Failure{Describe(value) + " cannot stand within a text", ""};
    }
    out += value.scalar;
    budget.bytes -= static_cast<int64_t>(value.scalar.size());
    if (budget.exceeded()) return {};
    at = end + 1;
  }
  return TreeNode::Scalar(std::move(out), {}, node.quoted);
}

// A scalar with `${…}`, replaced; a parameter's value that is put in is not looked into again.
TreeNode Replace(const TreeNode& node, const std::vector<Binding>& bindings,
                 SubstitutionBudget& budget, Diagnostics& diagnostics) {
  try {
    TreeNode result = SubstituteScalar(node, bindings, budget);
    Spend(result, budget);
    result.mark = node.mark;
    return result;
  } catch (const Failure& failure) {
    diagnostics.Error(node.mark, failure.message, failure.help);
    return node;
  }
}

}  // namespace

bool HasPlaceholder(const TreeNode& node) {
  return node.IsScalar() && node.scalar.find("${") != std::string::npos;
}

TreeNode Substitute(const TreeNode& node, const std::vector<Binding>& bindings,
                    SubstitutionBudget& budget, Diagnostics& diagnostics) {
  if (HasPlaceholder(node)) return Replace(node, bindings, budget, diagnostics);
  budget.nodes -= 1;
  budget.bytes -= static_cast<int64_t>(node.scalar.size());
  if (budget.exceeded()) return {};
  TreeNode result = node;
  for (TreeNode& item : result.items) item = Substitute(item, bindings, budget, diagnostics);
  for (TreeEntry& entry : result.entries) {
    entry.value = Substitute(entry.value, bindings, budget, diagnostics);
  }
  return result;
}

void CheckPlaceholders(const TreeNode& node, const std::vector<Binding>& parameters,
                       Diagnostics& diagnostics) {
  std::vector<Binding> unknown = parameters;
  for (Binding& binding : unknown) binding.value = nullptr;
  SubstitutionBudget budget;
  Substitute(node, unknown, budget, diagnostics);
}

}  // namespace cgrun
