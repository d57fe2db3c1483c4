// Finding the file, and saying what was passed over.
#include "src/cli/weights_flag.h"

#include <filesystem>

#include "src/cli/console.h"
#include "src/train/checkpoint.h"

namespace cgrun {

void WarnOfDamaged(const std::vector<std::string>& damaged, const std::string& taken) {
  for (const std::string& what : damaged) PrintWarning(what + "; " + taken + " is taken instead");
}

std::string FindWeights(const std::string& file_or_folder, bool best) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(file_or_folder, error);
  std::vector<std::string> damaged;
  std::string file = is_folder && best ? BestWeights(file_or_folder, damaged)
                                       : WeightsFile(file_or_folder, damaged);
  WarnOfDamaged(damaged, file);
  return file;
}

}  // namespace cgrun
