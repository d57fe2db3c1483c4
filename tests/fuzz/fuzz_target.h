// A fuzz target defines a reader of untrusted bytes, and inputs that it takes. The targets share
// the rest of this file.
#ifndef CGRUN_TESTS_FUZZ_FUZZ_TARGET_H_
#define CGRUN_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {

// Returns whether the input was accepted. Other input must be refused with an error. Whatever else
// happens is a bug, a failed check of the target included.
bool TryInput(std::span<const std::byte> input);

// Good inputs, from which damaged ones are made.
std::vector<std::string> GoodInputs();

// Inputs that are refused only where the reader looks closely; damaged ones are made from them,
// too. A target need not define it: then there are none.
std::vector<std::string> RefusedInputs();

// Calls `act` with the path of a file that holds `input`, in memory.
void WithFile(std::span<const std::byte> input, const std::function<void(const std::string&)>& act);

// The bytes as a text.
std::string TextOf(std::span<const std::byte> input);

// Checks that there is an error, and that each has a message and a place in one of `files`.
void CheckErrors(const Diagnostics& diagnostics, std::span<const std::string> files);
void CheckErrors(const Diagnostics& diagnostics, const std::string& file);
// Checks that the error's text names the file.
void CheckError(const UserError& error, std::string_view file);

}  // namespace cgrun

#endif  // CGRUN_TESTS_FUZZ_FUZZ_TARGET_H_
