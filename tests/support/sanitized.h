// Says whether a sanitizer runs, under which everything takes several times as long. Tests of many
// cases that differ by chance try fewer of them there.
#ifndef CGRUN_TESTS_SUPPORT_SANITIZED_H_
#define CGRUN_TESTS_SUPPORT_SANITIZED_H_

namespace cgrun {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_SANITIZED_H_
