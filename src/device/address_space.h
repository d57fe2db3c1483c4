// The addresses that `ulimit -v` and `ulimit -d` leave. The system counts reserved memory, used or
// not.
#ifndef CGRUN_DEVICE_ADDRESS_SPACE_H_
#define CGRUN_DEVICE_ADDRESS_SPACE_H_

#include <cstdint>
#include <string>

namespace cgrun {

struct AddressLimit {
  int64_t left = 0;   // bytes; the largest number where there is no limit
  int64_t limit = 0;  // bytes, of all that the process has
  std::string name;   // "ulimit -v"; "": there is no limit
};

// The one of RLIMIT_AS and RLIMIT_DATA (`ulimit -v`, `ulimit -d`) that leaves less.
AddressLimit LeastAddressLimit();

// "`ulimit -v` leaves 12 MiB of 293 MiB"; "" where there is no limit.
std::string Describe(const AddressLimit& limit);

// Throws UserError, which names the limit and what would do, if the process cannot take `bytes`
// more of memory. `user` is what takes them; `other` is another way out, or "".
void CheckAddresses(const std::string& user, int64_t bytes, const std::string& other);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_ADDRESS_SPACE_H_
