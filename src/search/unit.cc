#include "src/search/unit.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace cgrun {
namespace {

nlohmann::json SettingsJson(const Configuration& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& setting : settings) {
    list.push_back(setting ? nlohmann::json{setting->choice, setting->number} : nlohmann::json());
  }
  return list;
}

Configuration SettingsOf(const nlohmann::json& list) {
  Configuration settings;
  for (const nlohmann::json& item : list) {
    settings.emplace_back();
    if (!item.is_null()) settings.back() = Setting{item.at(0).get<size_t>(), item.at(1)};
  }
  return settings;
}

// JSON has no number that is not finite: it writes null.
std::vector<double> NumbersOf(const nlohmann::json& list) {
  std::vector<double> numbers;
  for (const nlohmann::json& item : list) {
    numbers.push_back(item.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : item.get<double>());
  }
  return numbers;
}

}  // namespace

void to_json(nlohmann::json& json, const Unit& unit) {
  json = {{"trial", unit.trial},
          {"rung", unit.rung},
          {"settings", SettingsJson(unit.settings)},
          {"arena", unit.plan.arena},
          {"arena_cap", unit.plan.arena_cap},
          {"until_epoch", unit.until_epoch},
          {"from_step", unit.from_step}};
}

void from_json(const nlohmann::json& json, Unit& unit) {
  json.at("trial").get_to(unit.trial);
  json.at("rung").get_to(unit.rung);
  unit.settings = SettingsOf(json.at("settings"));
  json.at("arena").get_to(unit.plan.arena);
  json.at("arena_cap").get_to(unit.plan.arena_cap);
  json.at("until_epoch").get_to(unit.until_epoch);
  json.at("from_step").get_to(unit.from_step);
}

void to_json(nlohmann::json& json, const UnitResult& result) {
  json = {{"trial", result.trial},      {"rung", result.rung},
          {"failure", result.failure},  {"interrupted", result.interrupted},
          {"curve", result.curve},      {"epochs", result.epochs},
          {"step", result.step},        {"is_over", result.is_over},
          {"weights", result.weights},  {"seconds", result.seconds},
          {"resident", result.resident}};
}

void from_json(const nlohmann::json& json, UnitResult& result) {
  json.at("trial").get_to(result.trial);
  json.at("rung").get_to(result.rung);
  json.at("failure").get_to(result.failure);
  json.at("interrupted").get_to(result.interrupted);
  result.curve = NumbersOf(json.at("curve"));
  json.at("epochs").get_to(result.epochs);
  json.at("step").get_to(result.step);
  json.at("is_over").get_to(result.is_over);
  json.at("weights").get_to(result.weights);
  json.at("seconds").get_to(result.seconds);
  json.at("resident").get_to(result.resident);
}

}  // namespace cgrun
