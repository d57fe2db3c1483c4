// Runs `cgrun ops`, which prints the operator reference from the operator table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_schema.h"
#include "src/cli/ops_search.h"
#include "src/frontend/common_keys.h"
#include "src/frontend/op_lookup.h"
#include "src/frontend/operator_synonyms.h"
#include "src/ir/op_def.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kWidth = 100;  // characters of a line

const char* UsageText(Usage usage) {
  switch (usage) {
    case Usage::kInternal:
      return "internal";
    case Usage::kOperator:
      return "operator";
    case Usage::kLoss:
      return "loss";
    case Usage::kMetric:
      return "metric";
    case Usage::kOptimizer:
      return "optimizer";
  }
  return "?";
}

const char* KindText(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return "boolean";
    case AttributeKind::kInt:
      return "integer";
    case AttributeKind::kReal:
      return "real";
    case AttributeKind::kReals:
      return "reals";
    case AttributeKind::kString:
      return "word";
    case AttributeKind::kInts:
      return "integers";
    case AttributeKind::kShape:
      return "shape";
    case AttributeKind::kDType:
      return "number type";
  }
  return "?";
}

std::string DefaultText(const OpDef& def, const AttributeField& field) {
  if (field.required) return "required";
  return ToString(field.get(def.schema->defaults()));
}

std::string Choices(const AttributeField& field) {
  return fmt::format("{}", fmt::join(field.choices, " | "));
}

void AddOperands(TextTable& table, const char* what, const std::vector<OperandDef>& operands) {
  for (const OperandDef& operand : operands) {
    const char* arity = operand.arity == Arity::kOptional   ? " (optional)"
                        : operand.arity == Arity::kVariadic ? " (one or more)"
                                                            : "";
    table.Add({what, operand.name, operand.doc + arity});
  }
}

std::string DetailText(const OpDef& def) {
  std::string out = def.name + " (" + UsageText(def.usage) + "): " + def.summary + "\n\n" +
                    WrapText(def.details, "  ", kWidth) + "\n\n";
  TextTable operands({Align::kLeft, Align::kLeft, Align::kLeft});
  AddOperands(operands, "input", def.inputs);
  AddOperands(operands, "output", def.outputs);
  out += operands.ToString("  ", kWidth);
  TextTable attributes({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  bool any = false;
  for (const AttributeField& field : def.schema->fields()) {
    if (field.internal) continue;
    const std::string kind = field.choices.empty() ? KindText(field.kind) : Choices(field);
    attributes.Add({field.name, kind, DefaultText(def, field), field.doc});
    any = true;
  }
  if (any) out += "\nkeys: type, default, meaning\n" + attributes.ToString("  ", kWidth);
  TextTable common({Align::kLeft, Align::kLeft});
  for (const CommonKey& key : KeysInCommon(def)) {
    common.Add({std::string(key.name), std::string(key.doc)});
  }
  if (!common.empty()) {
    out += "\nkeys in common with other operators (docs/reference/networks.md)\n" +
           common.ToString("  ", kWidth);
  }
  for (const InPlacePair& pair : def.in_place) {
    out += "\n  may write output " + std::to_string(pair.output) + " over input " +
           std::to_string(pair.input);
  }
  if (!def.in_place.empty()) out += "\n";
  if (def.activation) out += "\n  may be an `activation` of other operators\n";
  if (def.gradient == nullptr) out += "\n  no gradient flows through it\n";
  return out;
}

nlohmann::ordered_json JsonOf(const OperandDef& operand) {
  return {{"name", operand.name},
          {"optional", operand.arity == Arity::kOptional},
          {"several", operand.arity == Arity::kVariadic},
          {"doc", operand.doc}};
}

nlohmann::ordered_json JsonOf(const OpDef& def) {
  nlohmann::ordered_json json = {{"name", def.name},
                                 {"usage", UsageText(def.usage)},
                                 {"summary", def.summary},
                                 {"details", def.details},
                                 {"differentiable", def.gradient != nullptr},
                                 {"activation", def.activation}};
  for (const OperandDef& operand : def.inputs) json["inputs"].push_back(JsonOf(operand));
  for (const OperandDef& operand : def.outputs) json["outputs"].push_back(JsonOf(operand));
  for (const AttributeField& field : def.schema->fields()) {
    json["attributes"].push_back({{"name", field.name},
                                  {"type", KindText(field.kind)},
                                  {"default", DefaultText(def, field)},
                                  {"required", field.required},
                                  {"choices", field.choices},
                                  {"internal", field.internal},
                                  {"doc", field.doc}});
  }
  return json;
}

int ListAll(bool internal) {
  std::map<std::string, const OpDef*> by_name;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    by_name[def.name] = &def;
  }
  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (Usage usage :
       {Usage::kOperator, Usage::kLoss, Usage::kMetric, Usage::kOptimizer, Usage::kInternal}) {
    TextTable table({Align::kLeft, Align::kLeft});
    bool any = false;
    for (const auto& [name, def] : by_name) {
      if (def->usage != usage) continue;
      json.push_back(JsonOf(*def));
      table.Add({name, def->summary});
      any = true;
    }
    if (!any || (usage == Usage::kInternal && !internal)) continue;
    text += std::string(text.empty() ? "" : "\n") + UsageText(usage) + "\n" + table.ToString("  ");
  }
  text += "\n`cgrun ops NAME` explains one.\n";
  PrintResult(text, JsonText(json, 2) + "\n");
  return kDone;
}

// Suggests a word to look up instead of a name that no operator has.
std::string HelpWithName(const std::string& name) {
  std::vector<std::string> names, holding;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    names.push_back(def.name);
    const bool holds =
        def.usage != Usage::kInternal && names.back().find(name) != names.back().npos;
    if (holds) holding.push_back(def.name);
  }
  const std::string same = SameOperator(name, names);
  if (const std::string what = FindOtherThan(name); !what.empty()) {
    return same.empty() ? what : SuggestOperator(name, names) + "; else " + what;
  }
  if (const std::string note = NoteOnLayer(name); !note.empty()) return note;
  if (!GuessOperator(name, names).empty()) return SuggestOperator(name, names);
  if (!holding.empty()) {
    return fmt::format("did you mean one of {}?", fmt::join(holding, ", "));
  }
  const std::string found = FindInReference(name);
  return found.empty() ? "`cgrun ops` lists them" : found;
}

int ShowOne(const std::string& name) {
  const std::optional<OpId> op = FindOp(name);
  if (!op) throw InputError("there is no operator '" + name + "'", HelpWithName(name));
  PrintResult(DetailText(GetOpDef(*op)), JsonText(JsonOf(GetOpDef(*op)), 2) + "\n");
  return kDone;
}

int PrintSchema() {
  const std::string schema = ModelSchema();
  PrintResult(schema, schema);
  return kDone;
}

}  // namespace

Command DefineOps(const Verb& verb) {
  auto name = std::make_shared<std::string>();
  auto internal = std::make_shared<bool>(false);
  auto schema = std::make_shared<bool>(false);
  const Flag one = verb.Add("NAME", *name, "the operator to describe").Value("OPERATOR");
  verb.AddSwitch("--internal", *internal, "list the operators that only the compiler makes, too");
  verb.AddSwitch("--schema", *schema, "print the JSON Schema of model files instead, for editors")
      .NotWith(one);
  return [name, internal, schema] {
    if (*schema) return PrintSchema();
    return name->empty() ? ListAll(*internal) : ShowOne(*name);
  };
}

}  // namespace cgrun
