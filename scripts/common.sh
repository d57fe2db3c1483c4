# The scripts source this file. It sets the working directory to the root of the project.
set -euo pipefail

# The comment at the top of a script is its help.
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed --quiet '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Says what is done next, with the seconds since the script began.
step() { printf '\n[%4d s] %s\n' "$SECONDS" "$*"; }

die() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Succeeds if clang with libFuzzer is here, and its header of OpenMP.
has_libfuzzer() {
  printf '%s\n' '#include <omp.h>' \
    'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++-16 -x c++ -fsanitize=fuzzer - -o /dev/null 2>/dev/null
}
