// A file is read only if its contents fit into the free memory. The system kills a process that
// takes more.
#ifndef CGRUN_IO_MEMORY_ROOM_H_
#define CGRUN_IO_MEMORY_ROOM_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cgrun {

// Sets who tells how many bytes are free: src/device, which this folder does not use. Until then,
// nothing is refused. Call it before there are threads.
void SetFreeMemory(int64_t (*free_bytes)());

// Returns why so many bytes more cannot be taken: "its JSON takes 3 GiB, more than …"; "" if they
// can.
std::string RoomFault(int64_t bytes, std::string_view what);
inline constexpr char kRoomHelp[] =
    "look at what it holds: it may be another file than the one meant; else raise the limit on "
    "this process's memory, or end other programs";

// InputError, which names the file, with the same reason.
void CheckRoom(std::string_view path, int64_t bytes, std::string_view what);
// The same of what a parser makes of this JSON.
void CheckJsonRoom(std::string_view path, std::string_view json);

}  // namespace cgrun

#endif  // CGRUN_IO_MEMORY_ROOM_H_
