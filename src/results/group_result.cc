#include "src/results/group_result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace cgrun {
namespace {

double NumberOf(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

nlohmann::json PassJson(const PassResult& pass) {
  nlohmann::json means = nlohmann::json::array();
  for (const NamedNumber& mean : pass.means) {
    means.push_back({mean.name, mean.value, mean.approximate});
  }
  return {{"split", pass.split}, {"samples", pass.samples}, {"means", std::move(means)}};
}

PassResult PassOf(const nlohmann::json& json) {
  PassResult pass;
  json.at("split").get_to(pass.split);
  json.at("samples").get_to(pass.samples);
  for (const nlohmann::json& mean : json.at("means")) {
    pass.means.push_back({mean.at(0), NumberOf(mean.at(1)), mean.at(2)});
  }
  return pass;
}

// Adds the means of a group to those so far, as sums.
void AddPass(const PassResult& pass, PassResult& sum) {
  const auto weight = static_cast<double>(pass.samples);
  sum.samples += pass.samples;
  for (size_t i = 0; i < pass.means.size(); ++i) {
    if (sum.means.size() == i) sum.means.push_back({pass.means[i].name, 0, false});
    sum.means[i].value += pass.means[i].value * weight;
    sum.means[i].approximate |= pass.means[i].approximate;
  }
}

}  // namespace

const PassResult* GroupResult::Find(const std::string& split) const {
  const auto found = std::ranges::find(passes, split, &PassResult::split);
  return found == passes.end() ? nullptr : &*found;
}

std::optional<double> GroupsResult::ValueOf(const GroupResult& group) const {
  const PassResult* const pass = group.Find(split);
  if (pass == nullptr) return std::nullopt;
  const auto mean = std::ranges::find(pass->means, metric, &NamedNumber::name);
  return mean == pass->means.end() ? std::nullopt : std::optional(mean->value);
}

int64_t GroupsResult::CountWithout() const {
  return std::ranges::count_if(groups, [](const GroupResult& g) { return !g.reason.empty(); });
}

void RankGroups(GroupsResult& result) {
  // The larger, the worse; NaN is worst of all.
  const auto badness = [&](const GroupResult& group) {
    const std::optional<double> value = result.ValueOf(group);
    if (!value) return -std::numeric_limits<double>::infinity();
    if (std::isnan(*value)) return std::numeric_limits<double>::infinity();
    return result.higher_is_better ? -*value : *value;
  };
  const auto key = [&](const GroupResult& group) {
    return std::pair(!result.ValueOf(group).has_value(), -badness(group));
  };
  std::ranges::stable_sort(result.groups, {}, key);
}

std::vector<PassResult> MeansOfGroups(const GroupsResult& result) {
  std::vector<PassResult> sums;
  for (const char* split : {"train", "valid", "test"}) {
    PassResult sum;
    sum.split = split;
    for (const GroupResult& group : result.groups) {
      if (const PassResult* const pass = group.Find(split)) AddPass(*pass, sum);
    }
    for (NamedNumber& mean : sum.means) mean.value /= static_cast<double>(sum.samples);
    if (sum.measured()) sums.push_back(std::move(sum));
  }
  return sums;
}

void to_json(nlohmann::json& json, const GroupResult& group) {
  nlohmann::json passes = nlohmann::json::array();
  for (const PassResult& pass : group.passes) passes.push_back(PassJson(pass));
  json = {{"number", group.number},      {"name", group.name},           {"rows", group.rows},
          {"reason", group.reason},      {"epochs", group.epochs},       {"steps", group.steps},
          {"passes", std::move(passes)}, {"weights", group.weights_hash}};
}

void from_json(const nlohmann::json& json, GroupResult& group) {
  json.at("number").get_to(group.number);
  json.at("name").get_to(group.name);
  json.at("rows").get_to(group.rows);
  json.at("reason").get_to(group.reason);
  json.at("epochs").get_to(group.epochs);
  json.at("steps").get_to(group.steps);
  group.passes.clear();
  for (const nlohmann::json& pass : json.at("passes")) group.passes.push_back(PassOf(pass));
  json.at("weights").get_to(group.weights_hash);
}

}  // namespace cgrun
