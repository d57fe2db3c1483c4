// Reads the part of Python's pickle format that `torch.save` writes for tensors. Nothing is ever
// called: a name that is not in the reader's own list is refused, and so is every other opcode.
#ifndef CGRUN_TORCH_PICKLE_H_
#define CGRUN_TORCH_PICKLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace cgrun::torch {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kReal,  // whose value no tensor needs, so it is dropped
  kText,
  kTuple,
  kList,
  kDict,
  kName,  // a class or function of the list
  kStorage,
  kTensor
};

using PickleId = uint32_t;  // a place in Pickle::values

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  uint8_t depth = 1;   // levels, of the value and the items that it had when they were added
  int64_t number = 0;  // kBool, kInt; elements of a kStorage; offset of a kTensor in its storage
  std::string text;    // kText; kName, as "torch.FloatStorage"; key of a kStorage
  // Items of a kTuple or kList; keys and values in turn of a kDict; the class of a kStorage; a
  // kTensor's storage, sizes and strides, the latter two of kTuple.
  std::vector<PickleId> items;
};

struct Pickle {
  std::deque<PickleValue> values;  // grows without a copy
  PickleId root = 0;
  size_t size = 0;  // bytes, up to the end of the opcode STOP

  const PickleValue& operator[](PickleId id) const { return values[id]; }
};

// Reads the pickle that `bytes` begin with, a part of the file called `path`. InputError names the
// byte, counted from `begin`, and the fault. The values take at most 64 MiB, or 24 bytes for each
// of `bytes` if that is more; so what lists, tuples and dicts hold takes at most some 16 bytes a
// byte.
Pickle ReadPickle(std::span<const std::byte> bytes, const std::string& path, size_t begin);

}  // namespace cgrun::torch

#endif  // CGRUN_TORCH_PICKLE_H_
