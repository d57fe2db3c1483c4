// The error of memory that is not there.
#ifndef CGRUN_DEVICE_NO_ROOM_H_
#define CGRUN_DEVICE_NO_ROOM_H_

#include "src/base/diagnostics.h"

namespace cgrun {

class NoRoom : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace cgrun

#endif  // CGRUN_DEVICE_NO_ROOM_H_
