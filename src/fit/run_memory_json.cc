// The members of RunMemory have their names in JSON.
#include "src/fit/run_memory_json.h"

#include <nlohmann/json.hpp>

namespace cgrun {

void to_json(nlohmann::json& json, const RunMemory& memory) {
  json = {{"arena", memory.arena},
          {"data", memory.data},
          {"base", memory.base},
          {"start", memory.start},
          {"on_host", memory.on_host},
          {"base_room", memory.base_room},
          {"beside", {memory.beside.code, memory.beside.kernel, memory.beside.reserved}},
          {"parts",
           {memory.parts.decoded, memory.parts.loaders, memory.parts.states, memory.parts.kept,
            memory.parts.streamable}}};
}

void from_json(const nlohmann::json& json, RunMemory& memory) {
  json.at("arena").get_to(memory.arena);
  json.at("data").get_to(memory.data);
  json.at("base").get_to(memory.base);
  json.at("start").get_to(memory.start);
  json.at("on_host").get_to(memory.on_host);
  json.at("base_room").get_to(memory.base_room);
  const nlohmann::json& beside = json.at("beside");
  memory.beside = {beside.at(0), beside.at(1), beside.at(2)};
  const nlohmann::json& parts = json.at("parts");
  memory.parts = {parts.at(0), parts.at(1), parts.at(2), parts.at(3), parts.at(4)};
}

}  // namespace cgrun
