// Paths without "..", unless that would lead elsewhere.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "src/base/printable.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// "photos" of "photos/".
fs::path WithoutSlash(const fs::path& path) {
  return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

// Returns whether both lead to one place, as far as there are files on their ways.
bool LeadToTheSame(const fs::path& a, const fs::path& b) {
  std::error_code error_of_a, error_of_b;
  const fs::path left = fs::weakly_canonical(fs::absolute(a, error_of_a), error_of_a);
  const fs::path right = fs::weakly_canonical(fs::absolute(b, error_of_b), error_of_b);
  return error_of_a || error_of_b || WithoutSlash(left) == WithoutSlash(right);
}

}  // namespace

std::string PathFrom(std::string_view folder, std::string_view path) {
  if (path.empty()) return "";
  const fs::path joined = fs::path(folder) / path;
  fs::path normal = joined.lexically_normal();
  if (!path.ends_with('/')) normal = WithoutSlash(normal);
  if (std::ranges::count(joined, "..") == 0 || LeadToTheSame(joined, normal))
    return normal.string();
  fs::path kept;
  for (const fs::path& part : joined) {
    if (part != ".") kept /= part;
  }
  return kept.string();
}

}  // namespace cgrun
