// Words of a shell, in commands that users copy.
#ifndef CGRUN_BASE_SHELL_WORD_H_
#define CGRUN_BASE_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace cgrun {

// `text` as a shell takes it for one word: "runs/lenet" as it is, "my run" in quotes. A byte that a
// terminal does not show is written as $'\377'.
std::string ShellWord(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_BASE_SHELL_WORD_H_
