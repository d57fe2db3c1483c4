// The texts of errors that name a file.
#include "src/io/file_error.h"

#include <cerrno>
#include <system_error>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

// What a user can do about it; empty where the system's text says enough.
std::string HelpFor(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write to another disk";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions of the file and of its folder";
    default:
      return "";
  }
}

// Whether the path is to blame, and not the disk.
bool IsWrongPath(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
    case EACCES:
    case EPERM:
    case EROFS:
      return true;
    default:
      return false;
  }
}

// In quotes; a control byte, which could cut the message off or steer a terminal, as '?'.
std::string Quoted(std::string_view path) {
  std::string quoted = "'";
  for (char c : path) quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  return quoted + "'";
}

}  // namespace

void ThrowFileError(std::string_view path, std::string_view what, std::string_view help) {
  const char* link = what.starts_with(':') ? "" : " ";
  throw InputError(Quoted(path) + link + std::string(what), std::string(help));
}

void ThrowSystemError(std::string_view verb, std::string_view path, int error) {
  const std::string text = "cannot " + std::string(verb) + " " + Quoted(path) + ": " +
                           std::generic_category().message(error);
  if (IsWrongPath(error)) throw InputError(text, HelpFor(error));
  throw UserError(text, HelpFor(error));
}

}  // namespace cgrun
