// The members of RunMemory by their names.
#include "src/train/run_memory_json.h"

#include <nlohmann/json.hpp>

namespace cgrun {

void to_json(nlohmann::json& json, const RunMemory& memory) {
  json = {{"arena", memory.arena},
          {"data", memory.data},
          {"base", memory.base},
          {"on_host", memory.on_host},
          {"base_room", memory.base_room},
          {"parts",
           {memory.parts.decoded, memory.parts.loaders, memory.parts.checkpoints, memory.parts.kept,
            memory.parts.opening, memory.parts.streamable}}};
}

void from_json(const nlohmann::json& json, RunMemory& memory) {
  json.at("arena").get_to(memory.arena);
  json.at("data").get_to(memory.data);
  json.at("base").get_to(memory.base);
  json.at("on_host").get_to(memory.on_host);
  json.at("base_room").get_to(memory.base_room);
  const nlohmann::json& parts = json.at("parts");
  memory.parts = {parts.at(0), parts.at(1), parts.at(2), parts.at(3), parts.at(4), parts.at(5)};
}

}  // namespace cgrun
