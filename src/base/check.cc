// Prints the message of a failed CGRUN_CHECK, then aborts.
#include "src/base/check.h"

#include <cstdio>
#include <cstdlib>

#include "src/base/printable.h"

namespace cgrun::internal {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  message_ << file << ':' << line << ": internal error: " << condition << ' ';
}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "%s\n", PrintableLines(message_.str()).c_str());
  std::abort();
}

}  // namespace cgrun::internal
