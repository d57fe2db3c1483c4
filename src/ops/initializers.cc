// Initial values of state: counter-based, keyed by seed and name, so that they depend on nothing
// else. Numbers are drawn in f64 and rounded to the state's type.
#include "src/ops/initializers.h"

#include <cmath>
#include <functional>
#include <map>

#include "src/base/check.h"
#include "src/base/random.h"

namespace cgrun {
namespace {

// Element i of a tensor.
using Fill = std::function<double(uint64_t i)>;
using MakeFill = Fill (*)(const ParameterInfo& info, uint64_t key);

double Argument(const ParameterInfo& info, size_t i, double otherwise) {
  return i < info.init_args.size() ? info.init_args[i] : otherwise;
}

Fill Constant(double value) {
  return [value](uint64_t) { return value; };
}

Fill UniformIn(uint64_t key, double low, double high) {
  return [=](uint64_t i) {
    return low + (high - low) * static_cast<double>(UniformFloat(RandomBits(key, 0, i)));
  };
}

Fill Normal(uint64_t key, double mean, double deviation) {
  return [=](uint64_t i) { return mean + deviation * RandomNormal(key, 0, i); };
}

// Redrawn, under another counter, until it lies within two deviations.
Fill TruncatedNormal(uint64_t key, double mean, double deviation) {
  return [=](uint64_t i) {
    uint64_t attempt = 0;
    double value = RandomNormal(key, attempt, i);
    while (std::abs(value) > 2) value = RandomNormal(key, ++attempt, i);
    return mean + deviation * value;
  };
}

double FanSum(const ParameterInfo& info) { return static_cast<double>(info.fan_in + info.fan_out); }

// Variance 2/fan (He et al., 2015): of the inputs keeps the variance of values, of the outputs that
// of gradients.
Fill HeUniform(uint64_t key, int64_t fan) {
  const double bound = std::sqrt(6.0 / static_cast<double>(fan));
  return UniformIn(key, -bound, bound);
}

Fill HeNormal(uint64_t key, int64_t fan) {
  return Normal(key, 0, std::sqrt(2.0 / static_cast<double>(fan)));
}

const std::map<std::string, MakeFill>& Initializers() {
  static const std::map<std::string, MakeFill> table = {
      {"zeros", [](const ParameterInfo&, uint64_t) { return Constant(0); }},
      {"ones", [](const ParameterInfo&, uint64_t) { return Constant(1); }},
      {"constant",
       [](const ParameterInfo& info, uint64_t) { return Constant(Argument(info, 0, 0)); }},
      {"uniform",
       [](const ParameterInfo& info, uint64_t key) {
         return UniformIn(key, Argument(info, 0, -0.05), Argument(info, 1, 0.05));
       }},
      {"normal",
       [](const ParameterInfo& info, uint64_t key) {
         return Normal(key, Argument(info, 0, 0), Argument(info, 1, 0.01));
       }},
      {"truncated_normal",
       [](const ParameterInfo& info, uint64_t key) {
         return TruncatedNormal(key, Argument(info, 0, 0), Argument(info, 1, 0.01));
       }},
      {"glorot_uniform",
       [](const ParameterInfo& info, uint64_t key) {
         const double bound = std::sqrt(6.0 / FanSum(info));
         return UniformIn(key, -bound, bound);
       }},
      {"glorot_normal", [](const ParameterInfo& info,
                           uint64_t key) { return Normal(key, 0, std::sqrt(2.0 / FanSum(info))); }},
      {"he_uniform",
       [](const ParameterInfo& info, uint64_t key) { return HeUniform(key, info.fan_in); }},
      {"he_normal",
       [](const ParameterInfo& info, uint64_t key) { return HeNormal(key, info.fan_in); }},
      {"he_uniform_fan_out",
       [](const ParameterInfo& info, uint64_t key) { return HeUniform(key, info.fan_out); }},
      {"he_normal_fan_out",
       [](const ParameterInfo& info, uint64_t key) { return HeNormal(key, info.fan_out); }},
  };
  return table;
}

}  // namespace

std::vector<std::string> InitializerNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Initializers()) names.push_back(name);
  return names;
}

HostTensor InitialValue(const std::string& name, const TensorType& type, const ParameterInfo& info,
                        uint64_t seed) {
  const auto it = Initializers().find(info.init);
  CGRUN_CHECK(it != Initializers().end()) << "no initialiser " << info.init;
  const Fill fill = it->second(info, RandomKey(seed, name));
  HostTensor tensor(type.dtype, type.shape);
  const int64_t elements = tensor.elements();
  for (int64_t i = 0; i < elements; ++i) tensor.Set(i, fill(static_cast<uint64_t>(i)));
  return tensor;
}

}  // namespace cgrun
