// Asks for the free memory only where a file wants much of it: the answer takes a tenth of a
// millisecond.
#include "src/io/memory_room.h"

#include <algorithm>

#include "src/base/json_text.h"
#include "src/base/written_bytes.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int64_t kLittle = int64_t{1} << 20;  // bytes that are never asked about
constexpr int64_t kBeside = int64_t{2} << 20;  // bytes for what else is taken meanwhile
// A document of JSON, and the structs that are made of it.
constexpr int64_t kOfJson = 2;

int64_t (*free_memory)() = nullptr;

}  // namespace

void SetFreeMemory(int64_t (*free_bytes)()) { free_memory = free_bytes; }

std::string RoomFault(int64_t bytes, std::string_view what) {
  if (bytes <= kLittle || free_memory == nullptr) return "";
  const int64_t free = std::max<int64_t>(0, free_memory() - kBeside);
  if (bytes <= free) return "";
  return std::string(what) + " takes " + NeededMiB(bytes) + " of memory, and " + FreeMiB(free) +
         " are free";
}

void CheckRoom(std::string_view path, int64_t bytes, std::string_view what) {
  const std::string fault = RoomFault(bytes, what);
  if (!fault.empty()) ThrowFileError(path, ": " + fault, kRoomHelp);
}

void CheckJsonRoom(std::string_view path, std::string_view json) {
  CheckRoom(path, kOfJson * JsonMemory(json), "its JSON");
}

}  // namespace cgrun
