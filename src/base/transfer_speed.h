// Holds how fast bytes go to a swap space and come back.
#ifndef CGRUN_BASE_TRANSFER_SPEED_H_
#define CGRUN_BASE_TRANSFER_SPEED_H_

namespace cgrun {

struct TransferSpeed {
  double write_bytes_per_second = 0;
  double read_bytes_per_second = 0;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_TRANSFER_SPEED_H_
