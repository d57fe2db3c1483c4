// Tensors by the operator that owns them: "conv1 (weight, bias)".
#include "src/cli/weights_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/cli/console.h"
#include "src/report/table.h"
#include "src/report/terminal.h"

namespace cgrun {
namespace {

using Names = std::vector<std::string>;

constexpr size_t kLineWidth = 100;
constexpr std::string_view kInFile = "in the file";

// Names that differ in their last part alone become one: "a.weight", "a.bias" are "a (weight,
// bias)".
Names ByOwner(const Names& names) {
  Names groups;
  std::string owner;
  for (const std::string& name : names) {
    const size_t dot = name.rfind('.');
    const std::string own = name.substr(0, dot == std::string::npos ? 0 : dot);
    const std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
    if (!groups.empty() && !own.empty() && own == owner) {
      groups.back().insert(groups.back().size() - 1, ", " + last);
    } else {
      groups.push_back(own.empty() ? name : own + " (" + last + ")");
    }
    owner = own;
  }
  return groups;
}

// Comma after comma, in lines below each other.
std::string Wrapped(const Names& groups, size_t indent) {
  std::string text;
  size_t column = indent;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string part = groups[i] + (i + 1 < groups.size() ? "," : "");
    if (i > 0 && column + 1 + part.size() > kLineWidth) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      text += " ";
      ++column;
    }
    text += part;
    column += part.size();
  }
  return text;
}

std::string LoadedText(const WeightsReport& report, const std::string& file) {
  constexpr size_t kNameWidth = 22;
  std::string text =
      fmt::format("weights: {} loaded from {}\n",
                  CountText(static_cast<int64_t>(report.loaded.size()), "tensor"), file);
  if (!report.front.empty()) {
    text += fmt::format("  {:<{}}{}\n", "all without", kNameWidth - 2, report.front);
  }
  const auto list = [&](const char* what, const Names& names) {
    if (names.empty()) return;
    text += fmt::format("  {:<{}}{}\n", what, kNameWidth - 2, Wrapped(ByOwner(names), kNameWidth));
  };
  list("loaded", report.loaded);
  list("initial, not in it", report.missing);
  list("skipped, of a run", report.skipped);
  list("not in the model", report.unused);
  list("left out by rename", report.left_out);
  return text;
}

std::string Lines(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += "\n      " + name;
  return text;
}

}  // namespace

std::vector<std::string> ConversionNotes(const WeightsReport& report) {
  std::vector<std::string> notes;
  for (const auto& [types, count] : report.converted) {
    const auto& [from, to] = types;
    notes.push_back(fmt::format("{} of {} {} {} to {}", CountText(count, "tensor"), Name(from),
                                count == 1 ? "was" : "were",
                                SizeOf(from) > SizeOf(to) ? "rounded" : "converted", Name(to)));
  }
  return notes;
}

void WarnOfNotFinite(const WeightsReport& report, const std::string& file) {
  if (report.not_finite.empty()) return;
  const int64_t others = std::ssize(report.not_finite) - 1;
  PrintWarning("'" + file + "' holds NaN or infinite numbers in tensor '" + report.not_finite[0] +
               "'" + (others > 0 ? " and in " + CountText(others, "other tensor") : "") +
               ": no result that they lead to is a number; take weights of an earlier step");
}

std::string NamesBeside(const WeightsReport& report) {
  if (report.unused.empty() || report.missing.empty()) return "";
  constexpr size_t kMost = 8;
  const size_t rows = std::min(kMost, std::max(report.unused.size(), report.missing.size()));
  const auto cell = [&](const Names& names, size_t row) {
    if (row + 1 == rows && names.size() > rows) {
      return "and " + CountText(static_cast<int64_t>(names.size() - row), "other");
    }
    return row < names.size() ? names[row] : std::string();
  };
  size_t width = kInFile.size();
  for (size_t row = 0; row < rows; ++row) width = std::max(width, cell(report.unused, row).size());
  std::string text = fmt::format("\n      {:<{}}  {}", kInFile, width, "in the model");
  for (size_t row = 0; row < rows; ++row) {
    text += fmt::format("\n      {:<{}}  {}", cell(report.unused, row), width,
                        cell(report.missing, row));
  }
  return text;
}

bool ReportWeights(const WeightsReport& report, const std::string& file) {
  if (report.loaded.empty() || report.by_chance) {
    const std::string what = report.loaded.empty()
                                 ? "nothing in " + file + " fits this model"
                                 : "hardly anything in " + file + " fits this model, only " +
                                       Wrapped(ByOwner(report.loaded), 0);
    const std::string names = report.mismatched.empty() ? NamesBeside(report) : "";
    const bool tells = !report.mismatched.empty() || !names.empty();
    PrintError(what + (tells ? ":" : "") + Lines(report.mismatched) + names,
               names.empty()
                   ? "give the weights of this model, or train from scratch without --weights"
                   : kRenameHelp);
    return false;
  }
  WarnOfNotFinite(report, file);
  if (!report.mismatched.empty()) {
    PrintWarning("some of " + file +
                 " does not fit this model and is not loaded:" + Lines(report.mismatched));
  }
  if (!Quiet()) {
    PrintText(stderr, LoadedText(report, file));
    TellNotes(ConversionNotes(report));
  } else if (!report.missing.empty()) {
    PrintWarning(file + " does not have all of this model, which keeps its initial values for:" +
                 Lines(ByOwner(report.missing)));
  }
  return true;
}

}  // namespace cgrun
