// Generic handling of attribute structs through their schemas.
#include "src/ir/attributes.h"

#include <algorithm>
#include <charconv>

#include "src/ir/range_text.h"

namespace cgrun {
namespace {

std::string RealToString(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

struct Printer {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return RealToString(v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const IntList& v) const { return ListToString(v); }
  std::string operator()(const RealList& v) const { return ListToString(v); }
  std::string operator()(const Shape& v) const { return v.ToString(); }
  std::string operator()(DType v) const { return std::string(Name(v)); }

  template <class T>
  std::string ListToString(const std::vector<T>& v) const {
    std::string out = "[";
    for (size_t i = 0; i < v.size(); ++i) out += (i ? ", " : "") + (*this)(v[i]);
    return out + "]";
  }
};

}  // namespace

std::string ToString(const AttributeValue& value) { return std::visit(Printer(), value); }

namespace {

// The numbers of a value that has any.
RealList NumbersOf(const AttributeValue& value) {
  if (const auto* one = std::get_if<int64_t>(&value)) return {static_cast<double>(*one)};
  if (const auto* one = std::get_if<double>(&value)) return {*one};
  if (const auto* list = std::get_if<IntList>(&value)) return RealList(list->begin(), list->end());
  if (const auto* list = std::get_if<RealList>(&value)) return *list;
  return {};
}

constexpr double kNoBound = std::numeric_limits<double>::infinity();

std::string Words(const std::vector<std::string>& choices) {
  std::string out;
  for (const std::string& word : choices) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

std::string FaultOf(const AttributeField& field, const AttributeValue& value) {
  const std::string name = "`" + field.name + "` must be ";
  const std::string given = ", not " + ToString(value);
  for (double number : NumbersOf(value)) {
    if (field.allow_same && number == -1) continue;
    if (number != number) return name + "a number" + given;
    if (number < field.minimum) return name + RangeText(field.minimum, kNoBound) + given;
    if (number > field.maximum) return name + RangeText(-kNoBound, field.maximum) + given;
  }
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr || field.choices.empty()) return "";
  const bool known =
      std::find(field.choices.begin(), field.choices.end(), *word) != field.choices.end();
  return known ? "" : name + "one of " + Words(field.choices) + given;
}

const AttributeField* AttributeSchema::Find(std::string_view name) const {
  for (const AttributeField& field : fields_) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const AttributeSchema& NoAttributes::Schema() {
  static const AttributeSchema schema = SchemaBuilder<NoAttributes>().Build();
  return schema;
}

Attributes Attributes::With(const AttributeField& field, const AttributeValue& value) const {
  std::shared_ptr<void> copy = schema_->Clone(data_.get());
  field.set(copy.get(), value);
  return Attributes(schema_, std::move(copy));
}

Attributes Attributes::Bind(int64_t batch) const {
  Attributes bound = *this;
  for (const AttributeField& field : schema_->fields()) {
    if (field.kind != AttributeKind::kShape) continue;
    bound = bound.With(field, std::get<Shape>(Get(field)).Bind(batch));
  }
  return bound;
}

std::string Attributes::ToString() const {
  std::string out;
  for (const AttributeField& field : schema_->fields()) {
    const AttributeValue value = Get(field);
    if (value == field.get(schema_->defaults())) continue;
    out += (out.empty() ? "" : " ") + field.name + "=" + cgrun::ToString(value);
  }
  return out;
}

bool operator==(const Attributes& a, const Attributes& b) {
  if (a.schema_ != b.schema_) return false;
  if (a.data_ == b.data_) return true;
  for (const AttributeField& field : a.schema_->fields()) {
    if (a.Get(field) != b.Get(field)) return false;
  }
  return true;
}

}  // namespace cgrun
