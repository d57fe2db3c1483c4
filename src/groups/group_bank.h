// GroupBank: the weights of the models of all groups. Each parameter and each statistic is one
// tensor, whose first axis counts the groups. Files hold it as safetensors.
#ifndef CGRUN_GROUPS_GROUP_BANK_H_
#define CGRUN_GROUPS_GROUP_BANK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/io/tensor_file.h"
#include "src/run/engine.h"

namespace cgrun {

// A run by groups leaves these files: the weights that each group ended with, and, where the data
// have `valid`, its best ones.
inline constexpr char kGroupWeights[] = "groups.safetensors";
inline constexpr char kBestGroupWeights[] = "groups-best.safetensors";

class GroupBank {
 public:
  // A bank for the states of `engine` in the file `path`, which is mapped, so that what a killed
  // process has put there stays. A file of the right size is gone on with. Throws UserError where
  // it cannot be made, or where the disk has no room for it.
  GroupBank(const Engine& engine, int64_t groups, const std::string& path);
  // The bank that Write() has written, in memory. Throws UserError where the file cannot be read,
  // and InputError where it is no such bank of so many groups.
  static GroupBank Load(const std::string& path, int64_t groups);

  GroupBank(GroupBank&& other) noexcept;
  GroupBank& operator=(GroupBank&&) = delete;
  ~GroupBank();

  // Copies the states of the engine to a group's place. Does not allocate.
  void Put(int64_t group, const Engine& engine);
  // Copies a group's states to the engine. Throws InputError, which names what does not fit, if
  // they are those of another model.
  void Get(int64_t group, Engine& engine) const;
  // Copies a group's states from another bank of the same engine.
  void Copy(int64_t group, const GroupBank& from);
  // Engine::StateHash() of an engine with a group's states.
  uint64_t HashOf(int64_t group) const;
  int64_t bytes() const { return bytes_; }

  // Writes the bank atomically, with a checksum. Throws UserError.
  void Write(const std::string& path) const;

 private:
  struct Part {
    TensorSpec of_group;  // the state of one group
    size_t bytes = 0;     // of it
    size_t offset = 0;    // of the first group's in the bank
  };
  class Source;

  GroupBank() = default;
  void AddPart(TensorSpec of_group);
  std::span<std::byte> PlaceOf(const Part& part, int64_t group) const;
  void Map(const std::string& path);

  int64_t groups_ = 0;
  std::string path_;  // of the file, for messages
  std::vector<Part> parts_;
  int64_t bytes_ = 0;
  std::byte* memory_ = nullptr;  // mapped
};

}  // namespace cgrun

#endif  // CGRUN_GROUPS_GROUP_BANK_H_
