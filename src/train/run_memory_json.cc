// The members of RunMemory by their names.
#include "src/train/run_memory_json.h"

#include <nlohmann/json.hpp>

namespace cgrun {

void to_json(nlohmann::json& json, const RunMemory& memory) {
  json = {{"arena", memory.arena},
          {"data", memory.data},
          {"base", memory.base},
          {"on_host", memory.on_host}};
}

void from_json(const nlohmann::json& json, RunMemory& memory) {
  json.at("arena").get_to(memory.arena);
  json.at("data").get_to(memory.data);
  json.at("base").get_to(memory.base);
  json.at("on_host").get_to(memory.on_host);
}

}  // namespace cgrun
