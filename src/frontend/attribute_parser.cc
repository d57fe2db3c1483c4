// Attribute values by kind, with their checks.
#include "src/frontend/attribute_parser.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "src/ir/range_text.h"
#include "src/model/key_synonyms.h"
#include "src/model/read_ops.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

class Parser {
 public:
  Parser(const AttributeField& field, const TreeNode& node, Diagnostics& diagnostics)
      : field_(field), node_(node), diagnostics_(diagnostics) {}

  std::optional<AttributeValue> Run() {
    switch (field_.kind) {
      case AttributeKind::kBool:
        return Wrap(ReadBoolean(node_, field_.name, diagnostics_));
      case AttributeKind::kInt:
        return InRange(ReadInteger(node_, field_.name, diagnostics_));
      case AttributeKind::kReal:
        return InRange(ReadReal(node_, field_.name, diagnostics_));
      case AttributeKind::kReals:
        return Reals();
      case AttributeKind::kString:
        return Text();
      case AttributeKind::kInts:
        return Ints();
      case AttributeKind::kShape:
        return Sizes();
      case AttributeKind::kDType:
        return Type();
    }
    return std::nullopt;
  }

 private:
  template <class T>
  static std::optional<AttributeValue> Wrap(const std::optional<T>& value) {
    if (!value) return std::nullopt;
    return AttributeValue(*value);
  }

  bool CheckRange(double value) {
    if (value >= field_.minimum && value <= field_.maximum) return true;
    // The largest sizes are bounds of the program, which say nothing of one that is too small.
    constexpr double kLarge = 1 << 20, kNone = std::numeric_limits<double>::infinity();
    const bool bounded = value > field_.maximum || field_.maximum < kLarge;
    diagnostics_.Error(node_.mark, "'" + field_.name + "' must be " +
                                       RangeText(field_.minimum, bounded ? field_.maximum : kNone) +
                                       ", not " + Describe(node_));
    return false;
  }

  template <class T>
  std::optional<AttributeValue> InRange(const std::optional<T>& value) {
    if (!value || !CheckRange(static_cast<double>(*value))) return std::nullopt;
    return AttributeValue(*value);
  }

  std::optional<AttributeValue> Reals() {
    if (node_.IsSequence()) return Wrap(ReadReals(node_, field_.name, diagnostics_));
    const auto one = ReadReal(node_, field_.name, diagnostics_);
    if (!one) return std::nullopt;
    return AttributeValue(std::vector<double>{*one});
  }

  std::optional<AttributeValue> Text() {
    if (field_.choices.empty()) return Wrap(ReadText(node_, field_.name, diagnostics_));
    return Wrap(ReadChoice(node_, field_.name, field_.choices, diagnostics_));
  }

  // Returns whether a word stands where integers are wanted that have words in other programs.
  bool IsWord() const {
    if (!node_.IsScalar() || node_.mended || ParseReal(node_.scalar)) return false;
    const std::string plain = PlainName(node_.scalar);
    return field_.allow_same || plain == "same" || plain == "valid";
  }

  // "3x3", "3, 3"
  bool IsListInText() const {
    if (field_.expand_to < 2) return false;
    return std::ranges::any_of(std::array{"x", "×", "*", ", "}, [&](std::string_view mark) {
      return node_.scalar.find(mark) != std::string::npos;
    });
  }

  std::optional<AttributeValue> Word() {
    const std::string plain = PlainName(node_.scalar);
    std::string help = field_.name + ": " + field_.doc;
    if (plain == "valid") help = "no padding is 0, the default";
    if (plain == "same" && field_.allow_same) help = "write 'same'";
    diagnostics_.Error(node_.mark,
                       "'" + field_.name + "' must be " +
                           (field_.allow_same ? "integers or `same`" : "integers") + ", not " +
                           Describe(node_),
                       help);
    return std::nullopt;
  }

  // "5", "[5, 5]", or "same" where the field allows it.
  std::optional<AttributeValue> Ints() {
    const size_t count = static_cast<size_t>(field_.expand_to);
    if (field_.allow_same && node_.IsScalar() && node_.scalar == "same") {
      return AttributeValue(IntList(count, -1));
    }
    if (IsWord()) return Word();
    std::optional<IntList> values;
    if (node_.IsScalar() && !IsListInText()) {
      const auto one = ReadInteger(node_, field_.name, diagnostics_);
      if (one) values = IntList{*one};
    } else {
      values = ReadIntegers(node_, field_.name, diagnostics_);
    }
    if (!values) return std::nullopt;
    for (int64_t value : *values) {
      if (!CheckRange(static_cast<double>(value))) return std::nullopt;
    }
    return Expand(std::move(*values), count);
  }

  // One value for all places, or two for [vertical, horizontal], begins then ends.
  std::optional<AttributeValue> Expand(IntList values, size_t count) {
    if (count == 0) return AttributeValue(std::move(values));
    const size_t given = values.size();
    if (given == 0 || given > count || count % given != 0) {
      diagnostics_.Error(node_.mark, "'" + field_.name + "' takes " + CountText(count) +
                                         " integers, not " + std::to_string(given));
      return std::nullopt;
    }
    for (size_t i = given; i < count; ++i) values.push_back(values[i - given]);
    return AttributeValue(std::move(values));
  }

  static std::string CountText(size_t count) {
    return count == 4 ? "1, 2 or 4" : "1 or " + std::to_string(count);
  }

  // The sizes of one sample, after the batch axis. Type inference sees to -1 and 0.
  std::optional<AttributeValue> Sizes() {
    const auto sizes = ReadIntegers(node_, field_.name, diagnostics_, -1);
    if (!sizes) return std::nullopt;
    Shape shape{kBatchDim};
    shape.dims().insert(shape.dims().end(), sizes->begin(), sizes->end());
    return AttributeValue(shape);
  }

  std::optional<AttributeValue> Type() {
    std::vector<std::string> names;
    for (DType dtype : kAllDTypes) names.emplace_back(Name(dtype));
    const auto name = ReadChoice(node_, field_.name, names, diagnostics_);
    if (!name) return std::nullopt;
    return AttributeValue(*DTypeFromName(*name));
  }

  const AttributeField& field_;
  const TreeNode& node_;
  Diagnostics& diagnostics_;
};

// Reads an attribute. An error that has no help of its own says what the attribute is.
std::optional<AttributeValue> ParseAttribute(const AttributeField& field, const TreeNode& node,
                                             Diagnostics& diagnostics) {
  Diagnostics reported;
  const auto value = Parser(field, node, reported).Run();
  for (const Diagnostic& error : reported.Sorted()) {
    const std::string help = error.help.empty() ? field.name + ": " + field.doc : error.help;
    if (error.instead) {
      diagnostics.ErrorInstead(error.mark, error.message, help);
    } else {
      diagnostics.Error(error.mark, error.message, help);
    }
  }
  return value;
}

void ReportUnknown(const OpDef& def, const Attribute& attribute,
                   std::span<const std::string> also_known, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const AttributeField& field : def.schema->fields()) {
    if (!field.internal) known.push_back(field.name);
  }
  known.insert(known.end(), also_known.begin(), also_known.end());
  std::string help = SuggestKey(attribute.key, known);
  const std::string in = "in";  // not among the attributes, but a key of every operator
  if (HelpWithMeantKey(attribute.key, known).empty() && MeantKey(attribute.key, {&in, 1}) == in) {
    help = SuggestKey(attribute.key, {&in, 1});
  }
  diagnostics.Error(attribute.key_mark, "'" + def.name + "' has no key '" + attribute.key + "'",
                    help);
}

// Returns whether one of the keys that are unknown was to be `name`: then that was said of the key.
bool IsMeantBy(std::span<const std::string> unknown, const std::string& name) {
  return std::any_of(unknown.begin(), unknown.end(), [&](const std::string& key) {
    return !MeantKey(key, {&name, 1}).empty();
  });
}

// "write `optimizer: {op: sgd, lr: 0.1}`", with what is given.
std::string OptimizerWithRate(const OpDef& def, const OpSpec& op) {
  std::string given;
  for (const Attribute& attribute : op.attributes) {
    given += ", " + attribute.key + ": " +
             (attribute.value.IsScalar() ? attribute.value.scalar : std::string("…"));
  }
  const std::string rate = def.name == "sgd" ? "0.1" : "0.001";
  return "write `optimizer: {op: " + def.name + ", lr: " + rate + given + "}`";
}

void ReportMissing(const OpDef& def, const OpSpec& op, std::span<const std::string> unknown,
                   Diagnostics& diagnostics) {
  for (const AttributeField& field : def.schema->fields()) {
    const bool given =
        std::ranges::find(op.attributes, field.name, &Attribute::key) != op.attributes.end();
    if (!field.required || given || IsMeantBy(unknown, field.name)) continue;
    diagnostics.Error(op.target.mark, "'" + def.name + "' needs '" + field.name + "'",
                      def.usage == Usage::kOptimizer && field.name == "lr"
                          ? OptimizerWithRate(def, op)
                          : field.name + ": " + field.doc);
  }
}

// Reads the keys that are there; those that the operator does not have are added to `unknown`.
Attributes ParseGiven(const OpDef& def, const OpSpec& op, std::span<const std::string> also_known,
                      std::vector<std::string>& unknown, Diagnostics& diagnostics) {
  Attributes attributes = Attributes::Defaults(*def.schema);
  std::span<const Attribute> rest = op.attributes;
  while (!rest.empty()) {
    const Attribute& attribute = rest.front();
    const size_t loose = op.in.empty() ? 0 : CountLooseInputs(op.in.back().mark, rest);
    rest = rest.subspan(1);
    const AttributeField* field = def.schema->Find(attribute.key);
    if (field != nullptr && !field->internal) {
      const auto value = ParseAttribute(*field, attribute.value, diagnostics);
      if (value) attributes = attributes.With(*field, *value);
    } else if (std::find(also_known.begin(), also_known.end(), attribute.key) == also_known.end()) {
      if (loose > 0) {
        ReportLooseInputs(op.in, {&attribute, loose}, diagnostics);
        rest = rest.subspan(loose - 1);
        continue;
      }
      ReportUnknown(def, attribute, also_known, diagnostics);
      unknown.push_back(attribute.key);
    }
  }
  return attributes;
}

}  // namespace

Attributes ParseAttributes(const OpDef& def, const OpSpec& op,
                           std::span<const std::string> also_known, Diagnostics& diagnostics) {
  std::vector<std::string> unknown;
  Attributes attributes = ParseGiven(def, op, also_known, unknown, diagnostics);
  ReportMissing(def, op, unknown, diagnostics);
  return attributes;
}

Attributes ForInputs(const OpDef& def, Attributes attributes, std::span<const TensorType> inputs) {
  const auto has_batch = [](const TensorType& type) { return !type.shape.IsBound(); };
  if (inputs.empty() || std::ranges::any_of(inputs, has_batch)) return attributes;
  for (const AttributeField& field : def.schema->fields()) {
    if (field.kind != AttributeKind::kShape || field.internal) continue;
    const Shape shape = std::get<Shape>(attributes.Get(field));
    if (shape.rank() == 0 || shape[0] != kBatchDim) continue;
    attributes = attributes.With(field, Shape(std::vector<Dim>(shape.begin() + 1, shape.end())));
  }
  return attributes;
}

bool LacksNumber(const OpDef& def, const OpSpec& op) {
  return std::ranges::any_of(op.attributes, [&](const Attribute& attribute) {
    const AttributeField* field = def.schema->Find(attribute.key);
    const bool of_integers = field != nullptr && (field->kind == AttributeKind::kInt ||
                                                  field->kind == AttributeKind::kInts);
    const bool is_number = attribute.value.scalar.find(',') == std::string::npos;
    return field != nullptr && attribute.value.mended && (of_integers || !is_number);
  });
}

void CheckGivenAttributes(const OpDef& def, const OpSpec& op,
                          std::span<const std::string> also_known, Diagnostics& diagnostics) {
  std::vector<std::string> unknown;
  ParseGiven(def, op, also_known, unknown, diagnostics);
}

}  // namespace cgrun
