// One writer for all messages: it walks the tables of fields.h from the end to the front.
#include "src/onnx/write.h"

#include <bit>
#include <cstring>
#include <ranges>
#include <utility>

#include "src/io/atomic_file.h"
#include "src/onnx/message_reader.h"
#include "src/onnx/wire.h"

namespace cgrun::onnx {
namespace {

// Compares to the bit, so that a NaN is equal to itself. The place where a message was read from
// does not matter.
template <class T>
bool Same(const T& a, const T& b) {
  if constexpr (IsMessage<T>) {
    return Same(a.unknown, b.unknown) &&
           std::apply(
               [&](const auto&... field) {
                 return (Same(a.*field.member, b.*field.member) && ...);
               },
               kFields<T>);
  } else if constexpr (kIsBox<T> || kIsOptional<T>) {
    return static_cast<bool>(a) == static_cast<bool>(b) && (!a || Same(*a, *b));
  } else if constexpr (kIsList<T>) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return Same(x, y); });
  } else if constexpr (kIsPacked<T>) {
    return Same(a.wire, b.wire) && Same(a.values, b.values);
  } else if constexpr (std::is_same_v<T, ByteSpan>) {
    // Views of the same file are the same without a look at its weights.
    return a.size() == b.size() && (a.data() == b.data() || std::ranges::equal(a, b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  } else {
    return a == b;
  }
}

// Compares a message with the bytes that it was read from.
struct Origin {
  bool unchanged = false;
  uint64_t present = 0;  // bit n: the field of number n, also where it has its default

  bool Has(int number) const { return number < 64 && (present >> number & 1) != 0; }
};

template <IsMessage M>
Origin OriginOf(const M& message) {
  Origin origin;
  if (message.source.data() == nullptr) return origin;
  try {
    M original;
    MessageReader(message.source.size()).Read(message.source, &original);
    origin.unchanged = Same(message, original);
    if (origin.unchanged) return origin;
    for (WireReader wire(message.source); !wire.empty();) {
      const Tag tag = wire.ReadTag();
      wire.Skip(tag.type);
      if (tag.number < 64) origin.present |= uint64_t{1} << tag.number;
    }
  } catch (const WireFault&) {
    return {};  // the bytes are no longer what was read
  }
  return origin;
}

class MessageWriter {
 public:
  template <IsMessage M>
  void Put(const M& message) {
    const Origin origin = OriginOf(message);
    if (origin.unchanged) return wire_.PutRaw(message.source);
    for (const ByteSpan field : message.unknown | std::views::reverse) wire_.PutRaw(field);
    constexpr size_t kCount = std::tuple_size_v<std::remove_const_t<decltype(kFields<M>)>>;
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      (PutField(std::get<kCount - 1 - kIndex>(kFields<M>), message, origin), ...);
    }
    (std::make_index_sequence<kCount>());
  }

  std::vector<ByteSpan> Finish() { return wire_.Finish(); }

 private:
  template <class M, class T>
  void PutField(const Field<M, T>& field, const M& message, const Origin& origin) {
    const T& member = message.*field.member;
    if constexpr (kIsBox<T> || kIsOptional<T>) {
      if (member) PutOne(field.number, *member);
    } else if constexpr (kIsList<T>) {
      for (const auto& item : member | std::views::reverse) PutOne(field.number, item);
    } else if constexpr (kIsPacked<T>) {
      PutPacked(field.number, member);
    } else {
      if (member != T() || origin.Has(field.number)) PutOne(field.number, member);
    }
  }

  template <class T>
  void PutOne(int number, const T& value) {
    if constexpr (IsNumber<T>) {
      PutNumber(value);
      wire_.PutTag(number, kWireType<T>);
    } else {
      const size_t end = wire_.size();
      if constexpr (IsMessage<T>) {
        Put(value);
      } else {
        wire_.PutRaw(std::as_bytes(std::span(value)));
      }
      wire_.PutHead(number, end);
    }
  }

  template <class T>
  void PutPacked(int number, const Packed<T>& numbers) {
    const size_t end = wire_.size();
    for (const T value : numbers.values | std::views::reverse) PutNumber(value);
    wire_.PutRaw(numbers.wire);
    if (wire_.size() > end) wire_.PutHead(number, end);
  }

  template <class T>
  void PutNumber(T value) {
    if constexpr (std::is_same_v<T, float>) {
      wire_.PutFixed32(std::bit_cast<uint32_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      wire_.PutFixed64(std::bit_cast<uint64_t>(value));
    } else {
      // A negative int32 has the ten bytes of its int64.
      wire_.PutVarint(static_cast<uint64_t>(value));
    }
  }

  WireWriter wire_;
};

}  // namespace

template <class M>
std::string WriteMessage(const M& message) {
  MessageWriter writer;
  writer.Put(message);
  std::string text;
  for (const ByteSpan part : writer.Finish()) {
    text.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return text;
}

template std::string WriteMessage(const Model&);
template std::string WriteMessage(const Tensor&);
template std::string WriteMessage(const Sequence&);
template std::string WriteMessage(const Map&);
template std::string WriteMessage(const Optional&);

void WriteModel(std::string_view path, const Model& model) {
  MessageWriter writer;
  writer.Put(model);
  AtomicFile file;
  file.Open(path);
  for (const ByteSpan part : writer.Finish()) file.Write(part);
  file.Commit();
}

}  // namespace cgrun::onnx
