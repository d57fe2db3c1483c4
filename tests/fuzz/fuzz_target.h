// What a fuzz target defines: a reader of untrusted bytes, and inputs that it takes.
#ifndef CGRUN_TESTS_FUZZ_FUZZ_TARGET_H_
#define CGRUN_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cgrun {

// Whether the input was accepted. What is not must be refused with an error; whatever else happens
// is a bug.
bool TryInput(std::span<const std::byte> input);

// Good inputs, from which damaged ones are made.
std::vector<std::string> GoodInputs();

// Calls `act` with the path of a file that holds `input`, in memory.
void WithFile(std::span<const std::byte> input, const std::function<void(const std::string&)>& act);

}  // namespace cgrun

#endif  // CGRUN_TESTS_FUZZ_FUZZ_TARGET_H_
