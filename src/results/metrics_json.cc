// Numbers, lists and lists of rows.
#include "src/results/metrics_json.h"

#include <nlohmann/json.hpp>

#include "src/base/json_text.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

Json ListOf(const NamedTable& table, size_t begin, size_t end) {
  Json list = Json::array();
  for (size_t i = begin; i < end; ++i) {
    if (table.counts) {
      list.push_back(static_cast<int64_t>(table.values[i]));
    } else {
      list.push_back(table.values[i]);
    }
  }
  return list;
}

Json RowsOf(const NamedTable& table) {
  const size_t size = table.values.size(), columns = static_cast<size_t>(table.columns);
  if (columns == 0) return ListOf(table, 0, size);
  Json rows = Json::array();
  for (size_t i = 0; i < size; i += columns) rows.push_back(ListOf(table, i, i + columns));
  return rows;
}

}  // namespace

std::string MetricsJson(const PassResult& pass) {
  Json json = Json::object();
  if (!pass.measured()) return JsonText(json);
  for (const NamedNumber& number : pass.means) json[number.name] = number.value;
  for (const NamedTable& table : pass.tables) json[table.name] = RowsOf(table);
  return JsonText(json);
}

std::string MemoryJson(const MemoryUse& memory) {
  Json json = {{"planned_peak_bytes", nullptr},
               {"measured_peak_bytes", memory.measured},
               {"process_peak_bytes", memory.process},
               {"live_peak_bytes", memory.engine.live_peak_bytes},
               {"reserved_peak_bytes", memory.engine.reserved_peak_bytes}};
  if (memory.has_plan()) json["planned_peak_bytes"] = memory.planned();
  if (memory.swap_space > 0) {
    json[memory.swaps_to_host ? "swap_host_bytes" : "swap_file_bytes"] = memory.swap_space;
  }
  return JsonText(json);
}

}  // namespace cgrun
