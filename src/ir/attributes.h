// Typed attributes of operators. An operator reads its own plain struct; everything generic
// (parsing, printing, hashing, saving, binding the batch) goes through the struct's schema.
#ifndef CGRUN_IR_ATTRIBUTES_H_
#define CGRUN_IR_ATTRIBUTES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/base/shape.h"

namespace cgrun {

using IntList = std::vector<int64_t>;
using RealList = std::vector<double>;

// Holds the value of one field.
using AttributeValue =
    std::variant<bool, int64_t, double, std::string, IntList, Shape, DType, RealList>;

// Says how a model file writes a field. kShape lists the sizes of one sample, and the batch axis is
// put in front of them. kReals is a list of numbers, or one number as a list of one.
enum class AttributeKind { kBool, kInt, kReal, kString, kInts, kShape, kDType, kReals };

// "true", "3", "0.1" (shortest exact form), "[1, 2]", "[0.1, 2]", …
std::string ToString(const AttributeValue& value);

// Describes one field of an attribute struct.
struct AttributeField {
  std::string name;
  std::string doc;
  AttributeKind kind = AttributeKind::kInt;
  bool required = false;             // must be given in a model file
  bool internal = false;             // never given in a model file
  std::vector<std::string> choices;  // kString: the allowed words, where not free
  int expand_to = 0;                 // kInts: 1 or 2 values are repeated to this many
  bool allow_same = false;           // kInts: the word `same`, kept as −1 in every place
  // The range holds for kInt and kReal, and for each number of kInts and kReals.
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();

  std::function<AttributeValue(const void*)> get;
  std::function<void(void*, const AttributeValue&)> set;
};

// Returns what is wrong with a value of a field, as a sentence: "`kernel` must be at least 1, not
// 0". If its range and its choices allow the value, the result is empty. NaN is never allowed.
std::string FaultOf(const AttributeField& field, const AttributeValue& value);

// Holds the fields of one attribute struct, in order. It is made once per struct.
class AttributeSchema {
 public:
  explicit AttributeSchema(std::shared_ptr<void> defaults,
                           std::function<std::shared_ptr<void>(const void*)> clone)
      : defaults_(std::move(defaults)), clone_(std::move(clone)) {}

  const std::vector<AttributeField>& fields() const { return fields_; }
  // The field of that name, or null.
  const AttributeField* Find(std::string_view name) const;
  const void* defaults() const { return defaults_.get(); }
  std::shared_ptr<void> Clone(const void* data) const { return clone_(data); }

  void Add(AttributeField field) { fields_.push_back(std::move(field)); }

 private:
  std::vector<AttributeField> fields_;
  std::shared_ptr<void> defaults_;
  std::function<std::shared_ptr<void>(const void*)> clone_;
};

// Builds a schema from pointers to members:
//   SchemaBuilder<PoolAttributes>().Add("kernel", &PoolAttributes::kernel, "…").Required().Build()
template <class T>
class SchemaBuilder {
 public:
  SchemaBuilder()
      : schema_(std::make_shared<T>(), [](const void* data) -> std::shared_ptr<void> {
          return std::make_shared<T>(*static_cast<const T*>(data));
        }) {}

  template <class M>
  SchemaBuilder& Add(std::string name, M T::*member, std::string doc) {
    Flush();
    field_.name = std::move(name);
    field_.doc = std::move(doc);
    field_.kind = KindOf<M>();
    field_.get = [member](const void* data) {
      return AttributeValue(static_cast<const T*>(data)->*member);
    };
    field_.set = [member](void* data, const AttributeValue& value) {
      static_cast<T*>(data)->*member = std::get<M>(value);
    };
    pending_ = true;
    return *this;
  }
  // Each of these refines the field that was added last.
  SchemaBuilder& Required() {
    return Refine([](AttributeField& f) { f.required = true; });
  }
  SchemaBuilder& Internal() {
    return Refine([](AttributeField& f) { f.internal = true; });
  }
  SchemaBuilder& Choices(std::vector<std::string> words) {
    return Refine([&](AttributeField& f) { f.choices = std::move(words); });
  }
  SchemaBuilder& ExpandTo(int count) {
    return Refine([&](AttributeField& f) { f.expand_to = count; });
  }
  SchemaBuilder& AllowSame() {
    return Refine([](AttributeField& f) { f.allow_same = true; });
  }
  SchemaBuilder& AtLeast(double minimum) {
    return Refine([&](AttributeField& f) { f.minimum = minimum; });
  }
  SchemaBuilder& AtMost(double maximum) {
    return Refine([&](AttributeField& f) { f.maximum = maximum; });
  }
  AttributeSchema Build() {
    Flush();
    return std::move(schema_);
  }

 private:
  template <class M>
  static constexpr AttributeKind KindOf() {
    if constexpr (std::is_same_v<M, bool>) return AttributeKind::kBool;
    if constexpr (std::is_same_v<M, int64_t>) return AttributeKind::kInt;
    if constexpr (std::is_same_v<M, double>) return AttributeKind::kReal;
    if constexpr (std::is_same_v<M, std::string>) return AttributeKind::kString;
    if constexpr (std::is_same_v<M, IntList>) return AttributeKind::kInts;
    if constexpr (std::is_same_v<M, Shape>) return AttributeKind::kShape;
    if constexpr (std::is_same_v<M, DType>) return AttributeKind::kDType;
    if constexpr (std::is_same_v<M, RealList>) return AttributeKind::kReals;
  }
  template <class F>
  SchemaBuilder& Refine(F refine) {
    CGRUN_CHECK(pending_) << "no field to refine";
    refine(field_);
    return *this;
  }
  void Flush() {
    if (pending_) schema_.Add(std::move(field_));
    field_ = AttributeField();
    pending_ = false;
  }

  AttributeSchema schema_;
  AttributeField field_;
  bool pending_ = false;
};

// The attribute struct of an operator that has none.
struct NoAttributes {
  static const AttributeSchema& Schema();
};

// An immutable attribute struct of any operator. Copies share it.
class Attributes {
 public:
  // Those of an operator that has none; all share one struct.
  Attributes();

  // T has `static const AttributeSchema& Schema()`.
  template <class T>
  static Attributes Of(T value) {
    return Attributes(&T::Schema(), std::make_shared<T>(std::move(value)));
  }
  // Returns the defaults of a schema.
  static Attributes Defaults(const AttributeSchema& schema) {
    return Attributes(&schema, schema.Clone(schema.defaults()));
  }

  template <class T>
  const T& As() const {
    CGRUN_CHECK(schema_ == &T::Schema()) << "attributes of another operator";
    return *static_cast<const T*>(data_.get());
  }

  const AttributeSchema& schema() const { return *schema_; }
  AttributeValue Get(const AttributeField& field) const { return field.get(data_.get()); }
  // Returns a copy with one field changed.
  Attributes With(const AttributeField& field, const AttributeValue& value) const;
  // Every shape field bound to a batch size.
  Attributes Bind(int64_t batch) const;

  // Equal attributes have one hash.
  uint64_t Hash() const;

  // Fields that differ from the default: "kernel=[5, 5] filters=20".
  std::string ToString() const;
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  Attributes(const AttributeSchema* schema, std::shared_ptr<const void> data)
      : schema_(schema), data_(std::move(data)) {}

  const AttributeSchema* schema_;
  std::shared_ptr<const void> data_;
};

}  // namespace cgrun

#endif  // CGRUN_IR_ATTRIBUTES_H_
