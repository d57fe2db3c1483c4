// The wire format of protocol buffers, decoded and encoded number by number with the classes of the
// library.
#ifndef CGRUN_ONNX_WIRE_H_
#define CGRUN_ONNX_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/onnx/model.h"

namespace cgrun::onnx {

// A fault in the bytes of a message. The fields that lead to it enter their names while it
// passes them.
struct WireFault {
  const std::byte* at;
  std::string what;
  std::string help = "the file is damaged or cut off: fetch or copy it again";
  std::string path = {};  // "graph.node[12] 'conv1'.attribute[0]"

  void Enter(std::string_view part);
};

// Returns a name or text of a file as messages show it: at most 250 bytes, which steer no terminal.
std::string Shown(std::string_view text);

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Tag {
  int number = 0;
  WireType type = WireType::kVarint;
};

// Decodes bytes from front to end. Each call throws WireFault for what it cannot decode.
//
// A CodedInputStream counts in `int`. So each number has a stream of its own, over the ten bytes
// that it has at most, and lengths are compared as 64-bit numbers: a file may have over 2 GiB.
class WireReader {
 public:
  explicit WireReader(ByteSpan bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  ByteSpan rest() const { return rest_; }

  // Refuses the number 0 and groups, which ONNX does not have.
  Tag ReadTag();
  uint64_t ReadVarint();
  uint32_t ReadFixed32();
  uint64_t ReadFixed64();
  // A length, and as many bytes.
  ByteSpan ReadBytes();
  void Skip(WireType type);

 private:
  ByteSpan rest_;
};

// Returns how many varints end in these bytes.
size_t CountVarints(ByteSpan bytes);

// Encodes bytes from the end to the front: so the length of a message is known where it stands.
// Large spans stay where they are, and must live as long as the writer.
class WireWriter {
 public:
  // Bytes that were put in front so far.
  size_t size() const { return size_; }

  void PutVarint(uint64_t value);
  void PutFixed32(uint32_t value);
  void PutFixed64(uint64_t value);
  void PutRaw(ByteSpan bytes);
  void PutTag(int number, WireType type);
  // A tag, the length of all since the writer had `end` bytes.
  void PutHead(int number, size_t end);

  // Ends the writing. Returns the parts of the whole, in the order of the file.
  std::vector<ByteSpan> Finish();

 private:
  void PutSmall(ByteSpan bytes);

  struct Large {
    size_t small_before;  // bytes of `small_` that follow it in the file
    ByteSpan bytes;
  };

  std::string small_;  // reversed
  std::vector<Large> large_;
  size_t size_ = 0;
};

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_WIRE_H_
