// CGRUN_CHECK: a condition that only a bug of ours can break. It prints the condition, the place
// and the streamed message, and aborts. Faults that a user can cause go through Diagnostics
// instead.
#ifndef CGRUN_BASE_CHECK_H_
#define CGRUN_BASE_CHECK_H_

#include <sstream>
#include <string>

namespace cgrun::internal {

// Prints the message and aborts when it goes out of scope.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();

  template <class T>
  CheckFailure& operator<<(const T& value) {
    message_ << value;
    return *this;
  }

 private:
  std::ostringstream message_;
};

}  // namespace cgrun::internal

#define CGRUN_CHECK(condition) \
  if (condition) [[likely]] {  \
  } else                       \
    ::cgrun::internal::CheckFailure(__FILE__, __LINE__, #condition)

#endif  // CGRUN_BASE_CHECK_H_
