// Converts each struct of an image to JSON and back: a pair of functions for each. What comes from
// a file is checked field by field. VerifyImage() checks what the fields mean.
#include "src/program/image_json.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/ir/op_def.h"

namespace cgrun {

using Json = nlohmann::json;

void Damaged(const std::string& what) { throw UserError(what); }

namespace {

constexpr int64_t kLargestSize = int64_t{1} << 48;  // elements: far beyond any memory

const Json& Field(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) Damaged(std::string("no field '") + key + "'");
  return *it;
}

// An integer that T can hold; nlohmann would cut off what does not fit.
template <class T>
T IntegerFrom(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.get<uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.get<int64_t>());
  if (!fits) Damaged("a number that is no integer, or too large");
  return json.is_number_unsigned() ? static_cast<T>(json.get<uint64_t>())
                                   : static_cast<T>(json.get<int64_t>());
}

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// A value of type T; lists are read item by item.
template <class T>
T ValueOf(const Json& json) {
  if constexpr (kIsInteger<T>) {
    return IntegerFrom<T>(json);
  } else if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
    T list;
    if (!json.is_array()) Damaged("a field that is no list");
    for (const Json& item : json) list.push_back(ValueOf<typename T::value_type>(item));
    return list;
  } else {
    return json.get<T>();
  }
}

template <class T>
T Get(const Json& json, const char* key) {
  return ValueOf<T>(Field(json, key));
}

template <class E>
E GetEnum(const Json& json, const char* key, int count) {
  const int64_t value = Get<int64_t>(json, key);
  if (value < 0 || value >= count) Damaged(std::string("field '") + key + "' is out of range");
  return static_cast<E>(value);
}

template <class Items, class F>
Json ListOf(const Items& items, F to_json) {
  Json json = Json::array();
  for (const auto& item : items) json.push_back(to_json(item));
  return json;
}

template <class F>
auto ReadList(const Json& json, const char* key, F from_json) {
  std::vector<std::invoke_result_t<F, const Json&>> items;
  for (const Json& item : Field(json, key)) items.push_back(from_json(item));
  return items;
}

Json ToJson(const Shape& shape) {
  return ListOf(shape.dims(), [](const Dim& dim) { return Json{dim.size, dim.batch}; });
}

// A shape as attributes hold it: a size can be 0, or −1 where it is open.
Shape ShapeFrom(const Json& json) {
  std::vector<Dim> dims;
  for (const Json& item : json) {
    dims.emplace_back(IntegerFrom<int64_t>(item.at(0)), item.at(1).get<bool>());
    const int64_t size = dims.back().size;
    if (size < -1 || size > kLargestSize) Damaged("a shape with a size out of range");
  }
  return Shape(dims);
}

Json ToJson(const TensorType& type) {
  return {{"dtype", static_cast<int>(type.dtype)}, {"shape", ToJson(type.shape)}};
}

TensorType TypeFrom(const Json& json) {
  TensorType type{GetEnum<DType>(json, "dtype", static_cast<int>(std::size(kAllDTypes))),
                  ShapeFrom(Field(json, "shape"))};
  if (!type.shape.IsBound()) Damaged("a shape has no batch size");
  const auto elements = CheckedElements(type.shape.Sizes());
  if (!elements || *elements == 0 || *elements > kLargestSize)
    Damaged("a tensor of no possible size");
  return type;
}

Json ToJson(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Shape>) {
          return ToJson(held);
        } else if constexpr (std::is_same_v<T, DType>) {
          return static_cast<int>(held);
        } else {
          return held;
        }
      },
      value);
}

DType DTypeFrom(const Json& json) {
  const int64_t value = IntegerFrom<int64_t>(json);
  if (value < 0 || value >= static_cast<int64_t>(std::size(kAllDTypes))) {
    Damaged("an unknown number type");
  }
  return static_cast<DType>(value);
}

// A value of the kind that `like` holds.
AttributeValue ValueFrom(const Json& json, const AttributeValue& like) {
  return std::visit(
      [&](const auto& held) -> AttributeValue {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Shape>) {
          return ShapeFrom(json);  // reshape leaves a size open
        } else if constexpr (std::is_same_v<T, DType>) {
          return DTypeFrom(json);
        } else {
          return ValueOf<T>(json);
        }
      },
      like);
}

Json ToJson(const Attributes& attributes) {
  Json json = Json::object();
  for (const AttributeField& field : attributes.schema().fields()) {
    json[field.name] = ToJson(attributes.Get(field));
  }
  return json;
}

Attributes AttributesFrom(const Json& json, OpId op) {
  Attributes attributes = Attributes::Defaults(*GetOpDef(op).schema);
  for (const AttributeField& field : attributes.schema().fields()) {
    attributes =
        attributes.With(field, ValueFrom(Field(json, field.name.c_str()), attributes.Get(field)));
  }
  return attributes;
}

OpId OpFrom(const Json& json) {
  const std::string name = Get<std::string>(json, "op");
  const std::optional<OpId> op = FindOp(name);
  if (!op) Damaged("an operator '" + name + "' that this build has not");
  return *op;
}

Json ToJson(const FusedOperator& inner) {
  return {{"op", NameOf(inner.op)},
          {"attributes", ToJson(inner.attributes)},
          {"operands", inner.operands}};
}

Json ToJson(const NodeSignature& node) {
  return {{"op", NameOf(node.op)},
          {"attributes", ToJson(node.attributes)},
          {"inputs", ListOf(node.inputs, [](const TensorType& t) { return ToJson(t); })},
          {"outputs", ListOf(node.outputs, [](const TensorType& t) { return ToJson(t); })},
          {"body", ListOf(node.body, [](const FusedOperator& f) { return ToJson(f); })}};
}

FusedOperator FusedFrom(const Json& json, int index, int inputs) {
  const OpId op = OpFrom(json);
  FusedOperator inner{op, AttributesFrom(Field(json, "attributes"), op),
                      Get<std::vector<int>>(json, "operands")};
  for (int operand : inner.operands) {
    if (operand >= inputs || operand < -index) Damaged("a fused operand that does not exist");
  }
  return inner;
}

NodeSignature NodeFrom(const Json& json) {
  NodeSignature node;
  node.op = OpFrom(json);
  node.attributes = AttributesFrom(Field(json, "attributes"), node.op);
  node.inputs = ReadList(json, "inputs", TypeFrom);
  node.outputs = ReadList(json, "outputs", TypeFrom);
  int index = 0;
  for (const Json& item : Field(json, "body")) {
    node.body.push_back(FusedFrom(item, index++, static_cast<int>(node.inputs.size())));
  }
  return node;
}

Json ToJson(const ImageOperand& operand) {
  return {{"arena", static_cast<int>(operand.operand.arena)},
          {"access", static_cast<int>(operand.operand.access)},
          {"offset", operand.operand.offset},
          {"bytes", operand.bytes},
          {"value", operand.value},
          {"layout", operand.layout.layout.ToString()},
          {"strides", operand.layout.strides}};
}

ImageOperand OperandFrom(const Json& json) {
  ImageOperand operand;
  operand.operand = {Get<int64_t>(json, "offset"), GetEnum<ArenaKind>(json, "arena", kArenaKinds),
                     GetEnum<Access>(json, "access", 4)};
  operand.bytes = Get<int64_t>(json, "bytes");
  operand.value = Get<int32_t>(json, "value");
  if (!Layout::Parse(Get<std::string>(json, "layout"), &operand.layout.layout)) {
    Damaged("a layout that is none");
  }
  operand.layout.strides = Get<std::vector<int64_t>>(json, "strides");
  return operand;
}

Json ToJson(const ImageInstruction& instruction) {
  Json json = {
      {"name", instruction.name},
      {"phase", static_cast<int>(instruction.phase)},
      {"path", instruction.path},
      {"source", instruction.source},
      {"node", ToJson(instruction.node)},
      {"kernel", instruction.kernel},
      {"threads", instruction.threads},
      {"operands", ListOf(instruction.operands, [](const ImageOperand& o) { return ToJson(o); })}};
  if (instruction.reach != 0) json["reach"] = instruction.reach;
  if (instruction.again) json["again"] = true;
  if (instruction.share_for_less != 0) json["share_for_less"] = instruction.share_for_less;
  if (instruction.stream != 0) json["lane"] = instruction.stream;
  if (instruction.thread_team != 0) json["team"] = instruction.thread_team;
  return json;
}

}  // namespace

ImageInstruction InstructionFrom(const Json& json) {
  ImageInstruction instruction;
  instruction.name = Get<std::string>(json, "name");
  instruction.phase = GetEnum<Phase>(json, "phase", 4);
  instruction.path = Get<int>(json, "path");
  instruction.source = Get<std::string>(json, "source");
  instruction.node = NodeFrom(Field(json, "node"));
  instruction.kernel = Get<std::string>(json, "kernel");
  instruction.threads = Get<int>(json, "threads");
  instruction.operands = ReadList(json, "operands", OperandFrom);
  if (json.contains("reach")) instruction.reach = Get<ReachSet>(json, "reach");
  instruction.again = json.contains("again") && Get<bool>(json, "again");
  if (json.contains("share_for_less"))
    instruction.share_for_less = Get<double>(json, "share_for_less");
  if (json.contains("lane")) instruction.stream = Get<int>(json, "lane");
  if (json.contains("team")) instruction.thread_team = Get<int>(json, "team");
  return instruction;
}

namespace {

Json ToJson(const ImagePort& port) {
  Json json = {{"name", port.name},
               {"type", ToJson(port.type)},
               {"kind", static_cast<int>(port.kind)},
               {"path", port.path},
               {"bytes", ToJson(port.bytes)}};
  if (port.metric) {
    json["metric"] = {{"op", NameOf(port.metric->op)},
                      {"attributes", ToJson(port.metric->attributes)}};
  }
  if (port.reach != 0) json["reach"] = port.reach;
  return json;
}

MetricUse MetricFrom(const Json& json) {
  const OpId op = OpFrom(json);
  return {op, AttributesFrom(Field(json, "attributes"), op)};
}

ImagePort PortFrom(const Json& json) {
  ImagePort port{Get<std::string>(json, "name"), TypeFrom(Field(json, "type")),
                 GetEnum<OutputKind>(json, "kind", 4), Get<int>(json, "path"),
                 OperandFrom(Field(json, "bytes"))};
  if (json.contains("metric")) port.metric = MetricFrom(Field(json, "metric"));
  if (json.contains("reach")) port.reach = Get<ReachSet>(json, "reach");
  return port;
}

Json ToJson(const ImageEntry& entry) {
  Json json = {
      {"name", entry.name},
      {"kind", static_cast<int>(entry.kind)},
      {"batch", entry.batch},
      {"resident", ListOf(entry.resident, [](const ImageOperand& o) { return ToJson(o); })},
      {"feeds", ListOf(entry.feeds, [](const ImagePort& p) { return ToJson(p); })},
      {"results", ListOf(entry.results, [](const ImagePort& p) { return ToJson(p); })},
      {"instructions",
       ListOf(entry.instructions, [](const ImageInstruction& i) { return ToJson(i); })}};
  if (entry.incremental) json["incremental"] = true;
  return json;
}

// The instructions are read before; see ImageItems.
ImageEntry EntryFrom(const Json& json, std::vector<ImageInstruction> instructions) {
  return {Get<std::string>(json, "name"),
          GetEnum<EntryKind>(json, "kind", 4),
          Get<int64_t>(json, "batch"),
          ReadList(json, "resident", OperandFrom),
          ReadList(json, "feeds", PortFrom),
          ReadList(json, "results", PortFrom),
          std::move(instructions),
          json.contains("incremental") && Get<bool>(json, "incremental")};
}

Json ToJson(const ImageState& state) {
  const ParameterInfo& info = state.info;
  return {{"name", state.name},
          {"type", ToJson(state.type)},
          {"role", static_cast<int>(state.role)},
          {"offset", state.offset},
          {"layout", state.layout.ToString()},
          {"init", info.init},
          {"init_args", info.init_args},
          {"init_file", {info.init_file, info.init_tensor}},
          {"fan", {info.fan_in, info.fan_out}},
          {"trainable", info.trainable},
          {"learning", {info.learning_rate_scale, info.l1, info.l2}}};
}

}  // namespace

ImageState StateFrom(const Json& json) {
  ImageState state;
  state.name = Get<std::string>(json, "name");
  state.type = TypeFrom(Field(json, "type"));
  state.role = GetEnum<Role>(json, "role", 9);
  state.offset = Get<int64_t>(json, "offset");
  if (!Layout::Parse(Get<std::string>(json, "layout"), &state.layout)) {
    Damaged("a layout that is none");
  }
  state.info.init = Get<std::string>(json, "init");
  state.info.init_args = Get<std::vector<double>>(json, "init_args");
  state.info.init_file = Field(json, "init_file").at(0).get<std::string>();
  state.info.init_tensor = Field(json, "init_file").at(1).get<std::string>();
  state.info.fan_in = IntegerFrom<int64_t>(Field(json, "fan").at(0));
  state.info.fan_out = IntegerFrom<int64_t>(Field(json, "fan").at(1));
  state.info.trainable = Get<bool>(json, "trainable");
  state.info.learning_rate_scale = Field(json, "learning").at(0).get<double>();
  state.info.l1 = Field(json, "learning").at(1).get<double>();
  state.info.l2 = Field(json, "learning").at(2).get<double>();
  return state;
}

namespace {

Json ToJson(const ImageConstant& constant) {
  const auto bytes = constant.tensor.bytes();
  std::vector<uint8_t> binary(bytes.size());
  if (!bytes.empty()) std::memcpy(binary.data(), bytes.data(), bytes.size());
  return {{"name", constant.name},
          {"type", ToJson(TensorType{constant.tensor.dtype(), constant.tensor.shape()})},
          {"offset", constant.offset},
          {"bytes", Json::binary(std::move(binary))}};
}

}  // namespace

ImageConstant ConstantFrom(const Json& json) {
  const TensorType type = TypeFrom(Field(json, "type"));
  const auto& binary = Field(json, "bytes").get_binary();
  if (static_cast<int64_t>(binary.size()) != CheckedByteSize(type, {})) {
    Damaged("a constant whose bytes do not fit its type");
  }
  HostTensor tensor(type.dtype, type.shape);
  if (!binary.empty()) std::memcpy(tensor.bytes().data(), binary.data(), binary.size());
  return {Get<std::string>(json, "name"), std::move(tensor), Get<int64_t>(json, "offset")};
}

namespace {}  // namespace

Json ToJson(const ProgramImage& image) {
  return {{"model", image.model},
          {"model_text", image.model_text},
          {"model_path", image.model_path},
          {"device", image.device},
          {"fingerprint", image.fingerprint},
          {"seed", image.seed},
          {"arena_bytes", image.arena_bytes},
          {"paths",
           ListOf(image.paths,
                  [](const ImagePath& p) {
                    return Json{{"name", p.name}, {"learning_rate_feed", p.learning_rate_feed}};
                  })},
          {"states", ListOf(image.states, [](const ImageState& s) { return ToJson(s); })},
          {"constants", ListOf(image.constants, [](const ImageConstant& c) { return ToJson(c); })},
          {"entries", ListOf(image.entries, [](const ImageEntry& e) { return ToJson(e); })}};
}

ProgramImage ImageFrom(const Json& json, ImageItems items) {
  ProgramImage image;
  image.model = Get<std::string>(json, "model");
  image.model_text = Get<std::string>(json, "model_text");
  image.model_path = Get<std::string>(json, "model_path");
  image.device = Get<std::string>(json, "device");
  image.fingerprint = Get<std::string>(json, "fingerprint");
  image.seed = Get<uint64_t>(json, "seed");
  const auto arena_bytes = Get<std::vector<int64_t>>(json, "arena_bytes");
  if (arena_bytes.size() != image.arena_bytes.size()) Damaged("not one size an arena");
  std::copy(arena_bytes.begin(), arena_bytes.end(), image.arena_bytes.begin());
  image.paths = ReadList(json, "paths", [](const Json& item) {
    return ImagePath{Get<std::string>(item, "name"), Get<std::string>(item, "learning_rate_feed")};
  });
  for (const char* list : {"states", "constants"}) Field(json, list);
  image.states = std::move(items.states);
  image.constants = std::move(items.constants);
  size_t entry = 0;
  for (const Json& item : Field(json, "entries")) {
    if (entry == items.instructions.size()) Damaged("an entry point has no field 'instructions'");
    image.entries.push_back(EntryFrom(item, std::move(items.instructions[entry++])));
  }
  if (entry != items.instructions.size()) Damaged("instructions of no entry point");
  return image;
}

}  // namespace cgrun
