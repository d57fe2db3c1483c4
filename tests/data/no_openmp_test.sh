#!/bin/sh
# Threads that read samples ahead never enter OpenMP, which would start a team beside that of the
# kernels: nothing in src/data and src/io asks for it. The kernels, which do, show that it would be
# found.
set -eu
for library in data io; do
  symbols=tests/data/$library.symbols.txt
  grep -q ' pread\| read\| memcpy' "$symbols" || { echo "$symbols is empty"; exit 1; }
  if grep 'GOMP_\|omp_' "$symbols"; then
    echo "src/$library enters OpenMP"
    exit 1
  fi
done
grep -q 'GOMP_' tests/data/kernels.symbols.txt || { echo "the kernels do not either"; exit 1; }
