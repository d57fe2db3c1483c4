// Files of tests: a folder of their own, bytes in and out, gzip, damage, and the errors they cause.
#ifndef CGRUN_TESTS_IO_TEST_FILES_H_
#define CGRUN_TESTS_IO_TEST_FILES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// A new folder, removed with all that is in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Returns the names of its files, sorted.
  std::vector<std::string> Names() const;
  // `text` with the folder's path replaced by "DIR", for golden texts.
  std::string Anonymous(std::string text) const;

 private:
  std::string path_;
};

void WriteBytes(const std::string& path, std::string_view bytes);
std::string ReadBytes(const std::string& path);

// Returns `bytes` as one gzip member.
std::string Gzip(std::string_view bytes);

// Returns `bytes` after one seeded act of damage: a bit or byte changed, a byte put in or taken
// out, the end cut off, a part repeated, a number made extreme.
std::string Damage(std::string bytes, uint64_t seed);

// "message" or "message\nhelp: help" of the UserError that `action` throws; "no error" without one.
std::string ErrorOf(const std::function<void()>& action);

}  // namespace cgrun

#endif  // CGRUN_TESTS_IO_TEST_FILES_H_
