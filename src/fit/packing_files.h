// Keeps the packings of a machine, each in a file of its own.
#ifndef CGRUN_FIT_PACKING_FILES_H_
#define CGRUN_FIT_PACKING_FILES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/plan/packing_store.h"

namespace cgrun {

inline constexpr int kMostPackingFiles = 256;  // those that were not used for longest go

// Files in `folder`, which is made when there is something to keep. They are of this build of the
// program alone: another one packs anew, as its planners may be others.
class PackingFiles final : public PackingStore {
 public:
  // Without `keeps`, files that are there already are read, and none is written.
  explicit PackingFiles(std::string folder, bool keeps = true);

  std::optional<MemoryPlan> Find(const MemoryProblem& problem, std::string_view planner) override;
  void Keep(const MemoryProblem& problem, const MemoryPlan& plan) override;

 private:
  std::string FileOf(const MemoryProblem& problem, std::string_view planner) const;
  void RemoveOldest() const;

  std::string folder_;
  std::string build_;
  bool keeps_;
};

// In CacheFolder(); null where there is none.
std::shared_ptr<PackingStore> PackingsOfMachine(bool keeps = true);

}  // namespace cgrun

#endif  // CGRUN_FIT_PACKING_FILES_H_
