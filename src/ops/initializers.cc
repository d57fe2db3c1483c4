// Computes the initial values of state. They are counter-based, keyed by seed and name, so that
// they depend on nothing else, not on the threads either. Numbers are computed in f64 and rounded
// to the state's type.
#include "src/ops/initializers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <thread>

#include "src/base/check.h"
#include "src/base/random.h"
#include "src/base/random_stream.h"
#include "src/ops/initial_file.h"
#include "src/ops/orthogonal.h"

namespace cgrun {
namespace {

// low + (high − low)·u, or mean + deviation·z; `a` and `b` are the two arguments. A constant is
// `a`.
struct Distribution {
  enum class Kind { kConstant, kUniform, kNormal, kTruncatedNormal };
  Kind kind = Kind::kConstant;
  double a = 0;
  double b = 0;
};

using Kind = Distribution::Kind;
using MakeDistribution = Distribution (*)(const ParameterInfo& info);

double Argument(const ParameterInfo& info, size_t i, double otherwise) {
  return i < info.init_args.size() ? info.init_args[i] : otherwise;
}

Distribution WithBound(double bound) { return {Kind::kUniform, -bound, bound}; }
Distribution WithVariance(double variance) { return {Kind::kNormal, 0, std::sqrt(variance)}; }

double FanSum(const ParameterInfo& info) { return static_cast<double>(info.fan_in + info.fan_out); }

// The variance is 2/fan (He et al., 2015). The fan of the inputs keeps the variance of values, that
// of the outputs the variance of gradients.
Distribution HeUniform(int64_t fan) { return WithBound(std::sqrt(6.0 / static_cast<double>(fan))); }
Distribution HeNormal(int64_t fan) { return WithVariance(2.0 / static_cast<double>(fan)); }

const std::map<std::string, MakeDistribution>& Distributions() {
  static const std::map<std::string, MakeDistribution> table = {
      {"zeros",
       [](const ParameterInfo&) {
         return Distribution{Kind::kConstant, 0, 0};
       }},
      {"ones",
       [](const ParameterInfo&) {
         return Distribution{Kind::kConstant, 1, 0};
       }},
      {"constant",
       [](const ParameterInfo& info) {
         return Distribution{Kind::kConstant, Argument(info, 0, 0), 0};
       }},
      {"uniform",
       [](const ParameterInfo& info) {
         return Distribution{Kind::kUniform, Argument(info, 0, -0.05), Argument(info, 1, 0.05)};
       }},
      {"normal",
       [](const ParameterInfo& info) {
         return Distribution{Kind::kNormal, Argument(info, 0, 0), Argument(info, 1, 0.01)};
       }},
      {"truncated_normal",
       [](const ParameterInfo& info) {
         return Distribution{Kind::kTruncatedNormal, Argument(info, 0, 0), Argument(info, 1, 0.01)};
       }},
      {"glorot_uniform",
       [](const ParameterInfo& info) { return WithBound(std::sqrt(6.0 / FanSum(info))); }},
      {"glorot_normal", [](const ParameterInfo& info) { return WithVariance(2.0 / FanSum(info)); }},
      {"he_uniform", [](const ParameterInfo& info) { return HeUniform(info.fan_in); }},
      {"he_normal", [](const ParameterInfo& info) { return HeNormal(info.fan_in); }},
      {"he_uniform_fan_out", [](const ParameterInfo& info) { return HeUniform(info.fan_out); }},
      {"he_normal_fan_out", [](const ParameterInfo& info) { return HeNormal(info.fan_out); }},
  };
  return table;
}

double UniformOf(const Distribution& d, uint32_t bits) {
  return d.a + (d.b - d.a) * static_cast<double>(UniformFloat(bits));
}

// One element of a normal distribution, by the library's functions. A truncated one is drawn again,
// under another counter, until it lies within two deviations.
double NormalOf(const Distribution& d, uint64_t key, uint64_t i) {
  double value = RandomNormal(key, 0, i);
  if (d.kind == Kind::kTruncatedNormal) {
    for (uint64_t attempt = 1; std::abs(value) > 2; ++attempt) {
      value = RandomNormal(key, attempt, i);
    }
  }
  return d.a + d.b * value;
}

// Returns what NormalOf() is in f32, from a number near it. The two ends of what the number can be
// may round to different floats. Then NormalOf() decides, so that the result is exact.
float NormalFloat(const Distribution& d, uint64_t key, uint64_t i, double near) {
  const double value = d.a + d.b * near;
  const double margin = (std::abs(d.a) + std::abs(d.b)) * 2 * kNormalError;
  const auto low = static_cast<float>(value - margin), high = static_cast<float>(value + margin);
  const bool redrawn = d.kind == Kind::kTruncatedNormal && std::abs(near) > 2 - 2 * kNormalError;
  return low == high && !redrawn ? low : static_cast<float>(NormalOf(d, key, i));
}

constexpr int64_t kChunk = 4096;  // elements at a time: a multiple of 4

// Elements [begin, end) of a tensor; `begin` is a multiple of kChunk.
class Filler {
 public:
  Filler(const Distribution& distribution, uint64_t key, DType dtype, std::span<std::byte> plain)
      : d_(distribution), key_(key), dtype_(dtype), plain_(plain) {}

  void Fill(int64_t begin, int64_t end) const {
    for (int64_t first = begin; first < end; first += kChunk) {
      const int64_t last = std::min(first + kChunk, end);
      if (d_.kind == Kind::kConstant) {
        FillOthers(first, last, [&](int64_t) { return d_.a; });
      } else if (d_.kind == Kind::kUniform) {
        FillUniform(first, last);
      } else if (dtype_ == DType::kF32) {
        FillNormalFloats(first, last);
      } else {
        FillOthers(first, last,
                   [&](int64_t i) { return NormalOf(d_, key_, static_cast<uint64_t>(i)); });
      }
    }
  }

 private:
  void FillUniform(int64_t first, int64_t last) const {
    std::array<uint32_t, kChunk> bits;
    const auto count = static_cast<size_t>(last - first);
    RandomBitsFrom(key_, 0, static_cast<uint64_t>(first), std::span(bits).first(count));
    if (dtype_ == DType::kF32) {
      float* to = FloatsAt(first);
      for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(UniformOf(d_, bits[i]));
      return;
    }
    FillOthers(first, last,
               [&](int64_t i) { return UniformOf(d_, bits[static_cast<size_t>(i - first)]); });
  }

  // Rounds number(i) to the tensor's type.
  template <class Number>
  void FillOthers(int64_t first, int64_t last, Number number) const {
    HostTensor rounded(dtype_, Shape{last - first});
    for (int64_t i = first; i < last; ++i) rounded.Set(i - first, number(i));
    std::ranges::copy(rounded.bytes(), plain_.begin() + first * SizeOf(dtype_));
  }

  void FillNormalFloats(int64_t first, int64_t last) const {
    std::array<double, kChunk> near;
    const auto count = static_cast<size_t>(last - first);
    NearNormalsFrom(key_, 0, static_cast<uint64_t>(first), std::span(near).first(count));
    float* to = FloatsAt(first);
    for (size_t i = 0; i < count; ++i) {
      to[i] = NormalFloat(d_, key_, static_cast<uint64_t>(first) + i, near[i]);
    }
  }

  float* FloatsAt(int64_t first) const { return reinterpret_cast<float*>(plain_.data()) + first; }

  const Distribution& d_;
  uint64_t key_;
  DType dtype_;
  std::span<std::byte> plain_;
};

// Calls fill(begin, end) for parts of `count` elements, on threads that end with the call.
void InParts(int64_t count, const std::function<void(int64_t, int64_t)>& fill) {
  constexpr int64_t kLeastForAThread = 1 << 18;
  constexpr int64_t kMostThreads = 16;
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t parts =
      std::clamp<int64_t>(count / kLeastForAThread, 1, std::min<int64_t>(cores, kMostThreads));
  std::vector<std::thread> threads;
  for (int64_t part = 1; part < parts; ++part) {
    threads.emplace_back([=, &fill] {
      fill(chunks * part / parts * kChunk, std::min(count, chunks * (part + 1) / parts * kChunk));
    });
  }
  fill(0, std::min(count, chunks / parts * kChunk));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

std::vector<std::string> InitializerNames() {
  std::vector<std::string> names = {"file", "orthogonal"};
  for (const auto& [name, make] : Distributions()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

HostTensor InitialValue(const std::string& name, const TensorType& type, const ParameterInfo& info,
                        uint64_t seed) {
  HostTensor tensor(type.dtype, type.shape);
  FillInitialValue(name, type, info, seed, tensor.bytes());
  return tensor;
}

void FillInitialValue(const std::string& name, const TensorType& type, const ParameterInfo& info,
                      uint64_t seed, std::span<std::byte> plain) {
  const uint64_t key = RandomKey(seed, name);
  const auto copy = [&](const HostTensor& tensor) {
    std::ranges::copy(tensor.bytes(), plain.begin());
  };
  if (info.init == "file") return copy(ReadInitialFile(info, type));
  if (info.init == "orthogonal") return copy(OrthogonalValue(type, Argument(info, 0, 1), key));
  const auto it = Distributions().find(info.init);
  CGRUN_CHECK(it != Distributions().end()) << "no initialiser " << info.init;
  const Distribution distribution = it->second(info);
  if (distribution.kind == Kind::kConstant && distribution.a == 0) {  // −0 is 0, too
    std::ranges::fill(plain, std::byte{0});
    return;
  }
  const Filler filler(distribution, key, type.dtype, plain);
  InParts(type.shape.Elements(), [&](int64_t begin, int64_t end) { filler.Fill(begin, end); });
}

// A file may hold wider numbers, up to f64. An orthogonal matrix is computed in f64.
int64_t InitialValueBytes(const TensorType& type, const ParameterInfo& info) {
  if (info.init != "file" && info.init != "orthogonal") return 0;
  const auto wide = static_cast<int64_t>(sizeof(double));
  return ByteSize(type) + type.shape.Elements() * wide;
}

}  // namespace cgrun
