// Names the place of an arena. Plans name arenas by this kind, and devices allocate them. kFile is
// the swap space, which has no address. It is a file, or pinned memory of the host where the device
// has memory of its own.
#ifndef CGRUN_BASE_ARENA_KIND_H_
#define CGRUN_BASE_ARENA_KIND_H_

#include <cstdint>

namespace cgrun {

enum class ArenaKind : uint8_t { kDevice, kPinnedHost, kFile };
inline constexpr int kArenaKinds = 3;

}  // namespace cgrun

#endif  // CGRUN_BASE_ARENA_KIND_H_
