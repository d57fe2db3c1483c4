#!/bin/sh
# No function that belongs to an unnamed namespace is visible to other files: g++ 12 would join
# those of one name (see src/kernels/number.h).
set -eu
symbols=tests/kernels/symbols.txt
grep -q ' T cgrun::reference::sgd()$' $symbols || { echo "the kernels are not there"; exit 1; }
if grep -i ' [vwu] .*(anonymous namespace)' $symbols; then
  echo "shared by name"
  exit 1
fi

# What is compiled for AVX is in the namespace of its target: a function that other files share, of
# the standard library say, would stop the program on a lesser CPU.
functions=tests/kernels/vector_functions.txt
[ "$(uname -m)" = x86_64 ] || exit 0
grep -q 'N_AVX2' $functions || { echo "nothing uses AVX2"; exit 1; }
if grep -v 'N_AVX[23]' $functions; then
  echo "compiled for AVX, but for any CPU by its name"
  exit 1
fi
