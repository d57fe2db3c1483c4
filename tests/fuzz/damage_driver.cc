// Runs a fuzz target without libFuzzer: on good inputs, on seeded damage of them, and on the files
// that are named in the arguments. Fails unless some damage is refused and some is not.
#include <cstdio>
#include <string>

#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace {

bool Try(const std::string& input) { return cgrun::TryInput(std::as_bytes(std::span(input))); }

// Up to three acts of damage, one on top of the other.
std::string Damaged(std::string input, uint64_t seed) {
  for (uint64_t act = 0; act <= seed % 3; ++act) input = cgrun::Damage(input, 3 * seed + act);
  return input;
}

}  // namespace

int main(int count, char** files) {
  constexpr uint64_t kDamaged = 3000;  // of each good input
  bool good = true;
  int accepted = 0, refused = 0;
  for (int i = 1; i < count; ++i) Try(cgrun::ReadBytes(files[i]));
  for (const std::string& input : cgrun::GoodInputs()) {
    good &= Try(input);
    for (uint64_t seed = 0; seed < kDamaged; ++seed)
      ++(Try(Damaged(input, seed)) ? accepted : refused);
  }
  std::printf("%d damaged inputs accepted, %d refused; the good ones %s\n", accepted, refused,
              good ? "accepted" : "NOT ALL ACCEPTED");
  return good && accepted > 0 && refused > 0 ? 0 : 1;
}
