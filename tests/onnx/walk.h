// Walks over all messages in a message, by the tables of the reader.
#ifndef CGRUN_TESTS_ONNX_WALK_H_
#define CGRUN_TESTS_ONNX_WALK_H_

#include <tuple>

#include "src/onnx/message_reader.h"

namespace cgrun::onnx {

// Calls `act` with each message, the outer ones first.
template <class T, class Act>
void ForEachMessage(T& value, Act& act) {
  using Plain = std::remove_const_t<T>;
  if constexpr (IsMessage<Plain>) {
    act(value);
    std::apply([&](const auto&... field) { (ForEachMessage(value.*field.member, act), ...); },
               kFields<Plain>);
  } else if constexpr (kIsBox<Plain>) {
    if (value) ForEachMessage(*value, act);
  } else if constexpr (kIsList<Plain>) {
    for (auto& item : value) ForEachMessage(item, act);
  }
}

// Takes the places of origin away, so that each message is written anew.
template <class M>
void Forget(M* message) {
  auto forget = [](Message& inner) { inner.source = {}; };
  ForEachMessage(*message, forget);
}

// Returns how many runs of fields are in no table.
template <class M>
size_t UnknownFields(const M& message) {
  size_t count = 0;
  auto add = [&](const Message& inner) { count += inner.unknown.size(); };
  ForEachMessage(message, add);
  return count;
}

}  // namespace cgrun::onnx

#endif  // CGRUN_TESTS_ONNX_WALK_H_
