#include "src/run/find_non_finite.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/finite.h"

namespace cgrun {
namespace {

// Copies of an engine's states.
class Snapshot {
 public:
  explicit Snapshot(const Engine& engine) {
    for (const EngineState& state : engine.model().states) {
      tensors_.emplace_back(state.type.dtype, state.type.shape);
    }
  }

  void Take(const Engine& engine) {
    for (size_t i = 0; i < tensors_.size(); ++i) engine.ReadState(i, tensors_[i]);
  }
  void GiveBack(Engine& engine) const {
    for (size_t i = 0; i < tensors_.size(); ++i) engine.WriteState(i, tensors_[i]);
  }
  // The first state that is not finite, or −1.
  int FirstBad(const Engine& engine, bool* nan) const {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!IsSound(engine.model().states[i], tensors_[i].bytes(), nan)) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  std::vector<HostTensor> tensors_;
};

bool LossesAreFinite(const Engine& engine, int entry) {
  const std::vector<EnginePort>& results =
      engine.model().entries[static_cast<size_t>(entry)].results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind != OutputKind::kLoss) continue;
    alignas(8) std::byte loss[8] = {};
    const std::span bytes(loss, static_cast<size_t>(results[i].bytes()));
    engine.Fetch(entry, static_cast<int>(i), bytes);
    if (!AllFinite(results[i].type.dtype, bytes)) return false;
  }
  return true;
}

// The first operator that writes something that is not finite.
class FirstBadOperator final : public RunChecker {
 public:
  bool OnOutput(size_t index, DType dtype, std::span<const std::byte> elements) override {
    if (AllFinite(dtype, elements, &nan_)) return true;
    index_ = static_cast<int>(index);
    return false;
  }
  int index() const { return index_; }
  bool nan() const { return nan_; }

 private:
  int index_ = -1;
  bool nan_ = false;
};

// In the current run, from the state that it began with.
std::optional<NonFinite> FindInRun(Engine& engine, Replay& replay) {
  NonFinite found;
  found.step = replay.step();
  FirstBadOperator checker;
  const int entry = replay.Feed();
  engine.RunChecked(entry, checker);
  if (checker.index() < 0) return std::nullopt;
  const EngineOperator op = engine.Operators(entry)[static_cast<size_t>(checker.index())];
  found.name = op.name;
  found.source = op.source;
  found.parts = op.parts;
  found.phase = op.phase;
  found.nan = checker.nan();
  return found;
}

// The character that `column` counts to, of a line of UTF-8.
size_t OffsetOf(std::string_view line, int column) {
  size_t offset = 0;
  for (int i = 1; i < column && offset < line.size(); ++i) {
    ++offset;
    while (offset < line.size() && (line[offset] & 0xC0) == 0x80) ++offset;
  }
  return offset;
}

// The word at "NAME:LINE:COLUMN" of a file of that name; no place where it is another's.
SourceMark MarkAt(std::shared_ptr<const SourceFile> file, const std::string& place) {
  if (!file || !place.starts_with(file->name + ":")) return {};
  SourceMark mark;
  if (std::sscanf(place.c_str() + file->name.size(), ":%d:%d", &mark.line, &mark.column) != 2) {
    return {};
  }
  std::string_view rest = file->text;
  for (int line = file->first_line; line < mark.line && !rest.empty(); ++line) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(OffsetOf(rest, mark.column));
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto word = std::ranges::find_if_not(rest, is_word) - rest.begin();
  mark.length = std::max(1, static_cast<int>(word));
  mark.file = std::move(file);
  return mark;
}

}  // namespace

std::string NonFinite::Text() const {
  const std::string value = nan ? "NaN" : "infinite";
  switch (what) {
    case What::kState:
      return name + " was not finite before the first step";
    case What::kOperator:
      break;
  }
  const std::string fused = parts.empty() ? "" : " (" + parts + ", fused)";
  return name + fused + " made the first value that is not finite (" + value + "), in step " +
         std::to_string(step);
}

std::string NonFinite::Message() const { return (source.empty() ? "" : source + ": ") + Text(); }

NonFiniteError::NonFiniteError(const NonFinite& found, std::shared_ptr<const SourceFile> file,
                               std::string help)
    : UserError(found.Message(), std::move(help)), text_(found.Text()) {
  mark_ = MarkAt(std::move(file), found.source);
  if (!mark_.file) text_ = found.Message();
}

std::optional<NonFinite> FindNonFinite(Engine& engine, Replay& replay) {
  Snapshot before(engine), after(engine);
  replay.Restart();
  before.Take(engine);
  bool nan = false;
  if (const int state = before.FirstBad(engine, &nan); state >= 0) {
    return NonFinite{NonFinite::What::kState,
                     engine.model().states[static_cast<size_t>(state)].name,
                     "",
                     "",
                     nan,
                     0,
                     Phase::kForward};
  }
  while (replay.Next()) {
    const int entry = replay.Feed();
    engine.Run(entry);
    const bool fine = LossesAreFinite(engine, entry);
    after.Take(engine);
    if (fine && after.FirstBad(engine, &nan) < 0) {
      std::swap(before, after);
      continue;
    }
    before.GiveBack(engine);
    return FindInRun(engine, replay);
  }
  return std::nullopt;
}

}  // namespace cgrun
