// The texts of errors that name a file.
#include "src/io/file_error.h"

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNames = 10000;  // of a folder that are compared

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < kMostNames;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

// Says what a user can do about an error; empty where the system's text says enough.
std::string HelpFor(std::string_view path, int error) {
  switch (error) {
    case ENOENT:
      if (path.empty()) return "";
      return MissingHelp(path, fs::path(path).is_relative()
                                   ? "relative paths start at the folder where cgrun was started"
                                   : "");
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

// Returns whether the path is to blame, and not the disk.
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

// Quotes a path. A control byte, which could cut the message off or steer a terminal, becomes '?'.
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

std::string SystemErrorText(std::string_view verb, std::string_view path, int error) {
  return "cannot " + std::string(verb) + " " + Quoted(path) + ": " +
         std::generic_category().message(error);
}

std::string MissingHelp(std::string_view path, std::string_view otherwise) {
  const fs::path whole(path);
  fs::path there;
  for (auto part = whole.begin(); part != whole.end(); ++part) {
    std::error_code error;
    const fs::path next = there / *part;
    if (part->empty() || fs::exists(next, error)) {
      there = next;
      continue;
    }
    if (error) break;  // a folder that may not be looked into
    if (fs::is_symlink(next, error)) {
      return Quoted(next.string()) + " is a link to " +
             Quoted(fs::read_symlink(next, error).string()) + ", which is not there";
    }
    const std::string nearest = NearestName(part->string(), NamesIn(there));
    if (!nearest.empty()) {
      fs::path meant = there / nearest;
      for (auto rest = std::next(part); rest != whole.end(); ++rest) meant /= *rest;
      if (fs::exists(meant, error)) return "did you mean " + Quoted(meant.string()) + "?";
    }
    if (std::next(part) != whole.end()) return "there is no folder " + Quoted(next.string());
    break;
  }
  return std::string(otherwise);
}

std::string MissingInModelHelp(std::string_view path) {
  std::error_code error;
  const std::string tried =
      fs::path(path).is_relative() ? ": this is " + Quoted(fs::absolute(path, error).string()) : "";
  return MissingHelp(path, "relative paths in a model file start at its folder" + tried);
}

void CheckPathInModel(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) || error) return;
  throw InputError(SystemErrorText("open", path, ENOENT), MissingInModelHelp(path));
}

void ThrowSystemError(std::string_view verb, std::string_view path, int error,
                      std::string_view otherwise) {
  const std::string text = SystemErrorText(verb, path, error);
  std::string help = HelpFor(path, error);
  if (help.empty()) help = otherwise;
  if (IsWrongPath(error)) throw InputError(text, help);
  throw UserError(text, help);
}

}  // namespace cgrun
