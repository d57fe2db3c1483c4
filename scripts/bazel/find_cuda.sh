#!/bin/sh
# Prints the folder of the CUDA toolkit: CUDA_HOME, then the usual places. Exits with 1 if none has
# nvcc. If there are several versions, it is the newest.
usual=$(ls -d /usr/local/cuda-* 2>/dev/null | sort -rV)
for folder in "$CUDA_HOME" /usr/local/cuda $usual /usr/lib/cuda; do
  if [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ]; then
    echo "$folder"
    exit 0
  fi
done
exit 1
