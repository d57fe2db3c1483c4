// `plan --device FILE`: a machine that is not there, as `cgrun devices --json` described it.
#ifndef CGRUN_CLI_MACHINE_FILE_H_
#define CGRUN_CLI_MACHINE_FILE_H_

#include <cstdint>
#include <string>

namespace cgrun {

struct Machine {
  std::string file;
  std::string description;  // "AMD EPYC, 2 hardware threads"
  std::string device;   // of its host's devices the fastest that this build has kernels for, …
  std::string kernels;  // … and what its kernels are made of there
  int threads = 1;
  int64_t total_bytes = 0;
  int64_t free_bytes = 0;
};

// Returns whether a value of --device names such a file: "big.json".
bool IsMachineFile(const std::string& device);

// Throws InputError for a file that cannot be read or is none, and where no device is in both.
Machine ReadMachine(const std::string& file);

// "planned for 'big.json': …", and how its kernels differ from those here, which the plan asks.
std::string MachineNote(const Machine& machine, int threads);

}  // namespace cgrun

#endif  // CGRUN_CLI_MACHINE_FILE_H_
