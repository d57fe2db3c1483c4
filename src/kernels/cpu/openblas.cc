// Checks the limits of address space, and then loads OpenBLAS by dlopen.
#include "src/kernels/cpu/openblas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/device/address_space.h"

namespace cgrun::cpu {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kLibraryBytes = 48 * kMiB;  // with those that it loads
constexpr const char* kFile = "libopenblas.so.0";
constexpr const char* kWithout = "`--device reference` does without OpenBLAS, slowly";

// A variable of the environment has another value while it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, /*overwrite=*/1);
  }
  ~Setting() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

template <class Function>
void Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw UserError("this OpenBLAS lacks a function: " + std::string(dlerror()),
                    std::string("install libopenblas0-openmp; ") + kWithout);
  }
}

// It takes a buffer for each thread that OMP_NUM_THREADS allows when it is loaded.
void* Open() {
  const Setting one_thread("OMP_NUM_THREADS", "1");
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  throw UserError("cannot load OpenBLAS: " + std::string(dlerror()),
                  std::string("install libopenblas0-openmp; ") + kWithout);
}

// The OPENBLAS_CORETYPE for a processor that OpenBLAS does not know, and takes for the oldest that
// it supports: "SkylakeX" with AVX-512, "Haswell" with AVX2, else "".
std::string BetterCore(std::string_view core) {
  constexpr std::string_view kOldest = "Prescott";
  if (core != kOldest) return "";
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

// The library with the kernels that the processor is best at.
void* OpenForProcessor() {
  constexpr const char* kCore = "OPENBLAS_CORETYPE";
  void* const library = Open();
  decltype(&openblas_get_corename) core = nullptr;
  Find(library, "openblas_get_corename", core);
  const std::string better = BetterCore(core());
  if (better.empty() || std::getenv(kCore) != nullptr) return library;
  setenv(kCore, better.c_str(), /*overwrite=*/0);  // for processes that this one starts, too
  dlclose(library);
  return Open();
}

OpenBlas Load() {
  CheckAddresses("OpenBLAS", kLibraryBytes + kBlasBufferBytes, kWithout);
  void* const library = OpenForProcessor();
  OpenBlas blas;
  Find(library, "cblas_sgemm", blas.sgemm);
  Find(library, "cblas_dgemm", blas.dgemm);
  Find(library, "openblas_get_num_threads", blas.get_num_threads);
  Find(library, "openblas_set_num_threads", blas.set_num_threads);
  Find(library, "openblas_get_parallel", blas.get_parallel);
  Find(library, "openblas_get_config", blas.get_config);
  Find(library, "openblas_get_corename", blas.get_corename);
  Find(library, "blas_memory_alloc", blas.memory_alloc);
  Find(library, "blas_memory_free", blas.memory_free);
  if (blas.get_parallel() != OPENBLAS_OPENMP) {
    throw UserError(std::string("this ") + kFile + " is not the OpenMP flavour of OpenBLAS",
                    std::string("install libopenblas0-openmp; ") + kWithout);
  }
  return blas;
}

int threads_taken = 1;   // the most threads so far: each has a buffer
int products_taken = 0;  // the most products at once so far, which have one each

}  // namespace

const OpenBlas& LoadedOpenBlas() {
  static const OpenBlas blas = Load();
  return blas;
}

void SetBlasThreads(int threads, int products) {
  const OpenBlas& blas = LoadedOpenBlas();
  const int more = std::max(0, threads - threads_taken) + std::max(0, products - products_taken);
  CheckAddresses("OpenBLAS with " + std::to_string(threads) + " thread" + (threads > 1 ? "s" : ""),
                 more * kBlasBufferBytes,
                 threads > 1 ? "`--threads 1` needs less" : std::string(kWithout));
  if (blas.get_num_threads() != threads) blas.set_num_threads(threads);
  threads_taken = std::max(threads, threads_taken);
  if (products <= products_taken) return;
  constexpr int kForProducts = 0;
  std::vector<void*> buffers;
  for (int i = 0; i < products; ++i) buffers.push_back(blas.memory_alloc(kForProducts));
  for (void* buffer : buffers) blas.memory_free(buffer);
  products_taken = products;
}

}  // namespace cgrun::cpu
