// This file needs no attribute struct by its type: it goes through their schemas.
#include "src/ir/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ranges>

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
    const auto text = [this](const T& number) { return (*this)(number); };
    return fmt::format("[{}]", fmt::join(v | std::views::transform(text), ", "));
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

// Returns what the value has to be, if it is something else. The result is empty where nothing is
// wrong.
std::string WantedInstead(const AttributeField& field, const AttributeValue& value) {
  for (double number : NumbersOf(value)) {
    if (field.allow_same && number == -1) continue;
    if (number != number) return "a number";
    if (number < field.minimum) return RangeText(field.minimum, kNoBound);
    if (number > field.maximum) return RangeText(-kNoBound, field.maximum);
  }
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr || field.choices.empty()) return "";
  const bool known =
      std::find(field.choices.begin(), field.choices.end(), *word) != field.choices.end();
  return known ? "" : fmt::format("one of {}", fmt::join(field.choices, ", "));
}

}  // namespace

std::string FaultOf(const AttributeField& field, const AttributeValue& value) {
  const std::string wanted = WantedInstead(field, value);
  if (wanted.empty()) return "";
  return "`" + field.name + "` must be " + wanted + ", not " + ToString(value);
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

namespace {

const Attributes& SharedNone() {
  static const Attributes none = Attributes::Of(NoAttributes());
  return none;
}

}  // namespace

Attributes::Attributes() : Attributes(SharedNone()) {}

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

namespace {

uint64_t Mixed(uint64_t hash, uint64_t item) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2⁶⁴ over the golden ratio
  hash = (hash ^ item) * kMultiplier;
  return hash ^ (hash >> 32);
}

struct Hasher {
  uint64_t operator()(bool v) const { return v; }
  uint64_t operator()(int64_t v) const { return static_cast<uint64_t>(v); }
  uint64_t operator()(double v) const { return std::hash<double>()(v); }  // one for 0 and −0
  uint64_t operator()(const std::string& v) const { return std::hash<std::string>()(v); }
  uint64_t operator()(DType v) const { return static_cast<uint64_t>(v); }
  uint64_t operator()(const Dim& v) const {
    return Mixed(static_cast<uint64_t>(v.size), static_cast<uint64_t>(v.batch));
  }
  template <class List>
  uint64_t operator()(const List& v) const {
    uint64_t hash = static_cast<uint64_t>(std::distance(v.begin(), v.end()));
    for (const auto& item : v) hash = Mixed(hash, (*this)(item));
    return hash;
  }
};

}  // namespace

uint64_t Attributes::Hash() const {
  uint64_t hash = 0;
  for (const AttributeField& field : schema_->fields()) {
    hash = Mixed(hash, std::visit(Hasher(), Get(field)));
  }
  return hash;
}

std::string Attributes::ToString() const {
  std::vector<std::string> texts;
  for (const AttributeField& field : schema_->fields()) {
    const AttributeValue value = Get(field);
    if (value == field.get(schema_->defaults())) continue;
    texts.push_back(field.name + "=" + cgrun::ToString(value));
  }
  return fmt::format("{}", fmt::join(texts, " "));
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
