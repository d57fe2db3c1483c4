// One reader for all messages: it walks the tables of fields.h. read.cc and write.cc use it.
#ifndef CGRUN_ONNX_MESSAGE_READER_H_
#define CGRUN_ONNX_MESSAGE_READER_H_

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "src/base/printable.h"
#include "src/onnx/message_fields.h"
#include "src/onnx/wire.h"

namespace cgrun::onnx {

constexpr int kMostDepth = 64;  // messages in each other

template <class T>
concept IsMessage = std::derived_from<T, Message>;
template <class T>
concept IsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
constexpr bool kIsBox = false;
template <class T>
constexpr bool kIsBox<Box<T>> = true;
template <class T>
constexpr bool kIsList = false;
template <class T>
constexpr bool kIsList<std::vector<T>> = true;
template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
constexpr bool kIsPacked = false;
template <class T>
constexpr bool kIsPacked<Packed<T>> = true;

template <class M>
constexpr auto kFields = Fields(static_cast<const M*>(nullptr));

// The wire type of one number, text or message.
template <class T>
constexpr WireType kWireType = WireType::kBytes;
template <IsNumber T>
constexpr WireType kWireType<T> = WireType::kVarint;
template <>
inline constexpr WireType kWireType<float> = WireType::kFixed32;
template <>
inline constexpr WireType kWireType<double> = WireType::kFixed64;

template <IsNumber T>
T ReadNumberOf(WireReader& wire) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(wire.ReadFixed32());
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(wire.ReadFixed64());
  } else {
    return static_cast<T>(wire.ReadVarint());
  }
}

// Appends the numbers of a packed field.
template <class T>
void AppendPacked(ByteSpan packed, std::vector<T>* values) {
  for (WireReader wire(packed); !wire.empty();) values->push_back(ReadNumberOf<T>(wire));
}

// The most bytes of structs that a message of so many bytes may take. The densest that exporters
// write are attributes and dimensions, at 32 for each byte. An empty node takes 148, so that a file
// of such nodes is refused once they add up.
constexpr size_t MostStructBytes(size_t bytes) { return std::max(size_t{64} << 20, 48 * bytes); }

// Throws WireFault.
class MessageReader {
 public:
  // The message has so many bytes.
  explicit MessageReader(size_t bytes) : budget_(MostStructBytes(bytes)) {}

  template <IsMessage M>
  void Read(ByteSpan bytes, M* message, int depth = 1) {
    message->source = bytes;
    for (WireReader wire(bytes); !wire.empty();) {
      const ByteSpan begin = wire.rest();
      const Tag tag = wire.ReadTag();
      const bool known = std::apply(
          [&](const auto&... field) {
            return ((field.number == tag.number &&
                     (ReadField(field, tag.type, wire, message, depth), true)) ||
                    ...);
          },
          kFields<M>);
      if (known) continue;
      wire.Skip(tag.type);
      Keep(begin.first(begin.size() - wire.rest().size()), message);
    }
    CheckOneKind(*message);
  }

 private:
  template <class M, class T>
  void ReadField(const Field<M, T>& field, WireType type, WireReader& wire, M* message, int depth) {
    T& member = message->*field.member;
    try {
      ReadMember(type, wire, field.text, depth, &member);
    } catch (WireFault& fault) {
      fault.Enter(field.name + Place(member));
      throw;
    }
  }

  template <class T>
  void ReadMember(WireType type, WireReader& wire, Text text, int depth, T* member) {
    if constexpr (kIsBox<T>) {
      using M = std::remove_reference_t<decltype(**member)>;
      if (*member) throw WireFault{wire.rest().data(), "stands twice"};
      Charge(sizeof(M), wire);
      *member = T(M());
      ReadOne(type, wire, text, depth, &**member);
    } else if constexpr (kIsPacked<T>) {
      ReadPacked(type, wire, member);
    } else if constexpr (kIsOptional<T>) {
      ReadOne(type, wire, text, depth, &member->emplace());
    } else if constexpr (kIsList<T>) {
      using Item = typename T::value_type;
      if constexpr (IsNumber<Item>) {
        if (type == WireType::kBytes) {
          const ByteSpan packed = wire.ReadBytes();
          Charge(CountNumbers<Item>(packed) * sizeof(Item), wire);
          return AppendPacked(packed, member);
        }
      }
      Charge(sizeof(Item), wire);
      ReadOne(type, wire, text, depth, &member->emplace_back());
    } else {
      ReadOne(type, wire, text, depth, member);
    }
  }

  template <class T>
  void ReadOne(WireType type, WireReader& wire, Text text, int depth, T* value) {
    if (type != kWireType<T>) {
      throw WireFault{wire.rest().data(),
                      "has the wire type " + std::to_string(static_cast<int>(type)) +
                          " instead of " + std::to_string(static_cast<int>(kWireType<T>))};
    }
    if constexpr (IsNumber<T>) {
      *value = ReadNumberOf<T>(wire);
    } else if constexpr (IsMessage<T>) {
      const ByteSpan bytes = wire.ReadBytes();
      if (depth == kMostDepth) {
        throw WireFault{
            bytes.data(),
            "messages lie more than " + std::to_string(kMostDepth) + " deep in each other",
            "no exporter writes such a file"};
      }
      Read(bytes, value, depth + 1);
    } else if constexpr (std::is_same_v<T, ByteSpan>) {
      *value = wire.ReadBytes();
    } else {
      *value = ReadText(wire, text);
    }
  }

  static std::string ReadText(WireReader& wire, Text text) {
    const ByteSpan bytes = wire.ReadBytes();
    std::string value(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t wrong = text == Text::kUtf8 ? FindNoUtf8(value) : value.npos;
    if (wrong == value.npos) return value;
    throw WireFault{bytes.data() + wrong, "the text '" + Shown(value) + "' is not UTF-8"};
  }

  // The first packed run of a field stays where it is.
  template <class T>
  void ReadPacked(WireType type, WireReader& wire, Packed<T>* numbers) {
    const bool first = numbers->wire.empty() && numbers->values.empty();
    if (type == WireType::kBytes && first) {
      numbers->wire = wire.ReadBytes();
      return;
    }
    const auto append = [&](ByteSpan packed) {
      Charge(CountNumbers<T>(packed) * sizeof(T), wire);
      AppendPacked(packed, &numbers->values);
    };
    append(std::exchange(numbers->wire, {}));
    if (type == WireType::kBytes) return append(wire.ReadBytes());
    Charge(sizeof(T), wire);
    ReadOne(type, wire, Text::kAnyBytes, 0, &numbers->values.emplace_back());
  }

  template <class T>
  static size_t CountNumbers(ByteSpan packed) {
    if constexpr (std::is_floating_point_v<T>) return packed.size() / sizeof(T);
    return CountVarints(packed);
  }

  void Charge(size_t bytes, const WireReader& wire) {
    if (bytes > budget_) {
      throw WireFault{wire.rest().data(), "the file has more messages than its size warrants",
                      "no exporter writes so many that are empty or nearly so"};
    }
    budget_ -= bytes;
  }

  // Fields beside each other are kept as one.
  static void Keep(ByteSpan field, Message* message) {
    std::vector<ByteSpan>& unknown = message->unknown;
    if (!unknown.empty() && unknown.back().data() + unknown.back().size() == field.data()) {
      unknown.back() = {unknown.back().data(), unknown.back().size() + field.size()};
    } else {
      unknown.push_back(field);
    }
  }

  // If ONNX declares a choice, other readers take the last of several. A file that has two may be
  // made to do harm, or is damaged.
  template <class M>
  static void CheckOneKind(const M& message) {
    int kinds = 0;
    if constexpr (std::is_same_v<M, Dimension>) {
      kinds = message.dim_value.has_value() + message.dim_param.has_value();
    } else if constexpr (std::is_same_v<M, Type>) {
      kinds = static_cast<bool>(message.tensor_type) + static_cast<bool>(message.sequence_type) +
              static_cast<bool>(message.map_type) + static_cast<bool>(message.opaque_type) +
              static_cast<bool>(message.sparse_tensor_type) +
              static_cast<bool>(message.optional_type);
    }
    if (kinds > 1) throw WireFault{message.source.data(), "is of two kinds at once"};
  }

  // "[12] 'conv1'", what tells the message that was read last of a member from others.
  template <class T>
  static std::string Place(const T& member) {
    if constexpr (kIsBox<T>) {
      return member ? Title(*member) : "";
    } else if constexpr (kIsList<T>) {
      const std::string index = "[" + std::to_string(member.size() - !member.empty()) + "]";
      return member.empty() ? "" : index + Title(member.back());
    } else {
      return "";
    }
  }

  template <class T>
  static std::string Title(const T& message) {
    if constexpr (requires { message.name; }) {
      return message.name.empty() ? "" : " '" + Shown(message.name) + "'";
    } else {
      return "";
    }
  }

  size_t budget_;  // bytes of structs that may come yet
};

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_MESSAGE_READER_H_
