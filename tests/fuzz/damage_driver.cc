// Runs a fuzz target without libFuzzer: on its seeds, good inputs and refused ones, and on seeded
// damage of them. Fails unless the good are accepted and the refused are not, and some damage is
// refused and some is not. --damaged=N says how many damaged forms of each seed are tried; with 0
// the seeds are alone. Files that are named in arguments are tried too, and what becomes of each is
// printed.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace {

constexpr std::string_view kDamagedFlag = "--damaged=";

bool Try(const std::string& input) { return cgrun::TryInput(std::as_bytes(std::span(input))); }

// Damages the input up to three times, one act on top of the other.
std::string Damaged(std::string input, uint64_t seed) {
  for (uint64_t act = 0; act <= seed % 3; ++act) input = cgrun::Damage(input, 3 * seed + act);
  return input;
}

}  // namespace

int main(int count, char** arguments) {
  uint64_t damaged = 3000;
  bool good = true;
  int accepted = 0, refused = 0;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]).starts_with(kDamagedFlag)) {
      damaged = std::strtoull(arguments[i] + kDamagedFlag.size(), nullptr, 10);
    } else {
      const bool taken = Try(cgrun::ReadBytes(arguments[i]));
      std::printf("%s: %s\n", arguments[i], taken ? "accepted" : "refused");
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto try_damaged = [&](const std::string& input) {
    for (uint64_t seed = 0; seed < damaged; ++seed)
      ++(Try(Damaged(input, seed)) ? accepted : refused);
  };
  for (const std::string& input : cgrun::GoodInputs()) {
    good &= Try(input);
    try_damaged(input);
  }
  bool bad = true;
  for (const std::string& input : cgrun::RefusedInputs()) {
    bad &= !Try(input);
    try_damaged(input);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%d damaged inputs accepted, %d refused, in %.1f s; the good ones %s, the bad ones %s\n",
      accepted, refused, seconds.count(), good ? "accepted" : "NOT ALL ACCEPTED",
      bad ? "refused" : "NOT ALL REFUSED");
  const bool both = damaged == 0 || (accepted > 0 && refused > 0);
  return good && bad && both ? 0 : 1;
}
