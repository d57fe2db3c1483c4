#!/bin/sh
# No function that belongs to an unnamed namespace is visible to other files: g++ 12 would join
# those of one name (see ForFloat in src/kernels/reference/number.h).
set -eu
symbols=tests/kernels/symbols.txt
grep -q ' T cgrun::reference::sgd()$' $symbols || { echo "the kernels are not there"; exit 1; }
if grep -i ' [vwu] .*(anonymous namespace)' $symbols; then
  echo "shared by name"
  exit 1
fi
