// Errors of files begin with the file's name in quotes, and then say what is wrong with it.
#ifndef CGRUN_IO_FILE_ERROR_H_
#define CGRUN_IO_FILE_ERROR_H_

#include <string>
#include <string_view>

namespace cgrun {

// InputError "'PATH' WHAT": what is said of the file, "is empty", or ": " and a sentence of its
// own.
[[noreturn]] void ThrowFileError(std::string_view path, std::string_view what,
                                 std::string_view help = "");

// "cannot VERB 'PATH': No such file or directory" for an `errno` value.
std::string SystemErrorText(std::string_view verb, std::string_view path, int error);

// Returns help for a path that is not there. It may be the name beside the first missing part that
// is nearly the same ("did you mean 'photos/train'?"). It may be the folder above that part that is
// missing, or the link that leads nowhere. Else it is `otherwise`.
std::string MissingHelp(std::string_view path, std::string_view otherwise = "");

// Does the same for a path that a model file names, and that ResolvePath() has made.
std::string MissingInModelHelp(std::string_view path);

// InputError where nothing is at such a path.
void CheckPathInModel(const std::string& path);

// UserError "cannot VERB 'PATH': No such file or directory" for an `errno` value; an InputError
// where the path is to blame. `otherwise` is the help where the error alone suggests none.
[[noreturn]] void ThrowSystemError(std::string_view verb, std::string_view path, int error,
                                   std::string_view otherwise = "");

}  // namespace cgrun

#endif  // CGRUN_IO_FILE_ERROR_H_
