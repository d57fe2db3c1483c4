// Parse() converts YAML text to a marked tree. It uses the events of yaml-cpp and not its nodes, so
// that marks, duplicate keys, depth and aliases are under our control.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "src/model/brackets.h"
#include "src/model/comma.h"
#include "src/model/flow_layout.h"
#include "src/model/glued_key.h"
#include "src/model/source_text.h"
#include "src/model/syntax_error.h"
#include "src/model/tree.h"

namespace cgrun {
namespace {

constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";
constexpr std::string_view kMergeKey = "<<";

// Ends the parsing from within an event.
struct Stop {
  SourceMark mark;
  std::string message;
  std::string help;
  bool in_flow = false;  // a bracket that is missing explains it too
};

struct Size {
  int64_t nodes = 1;
  int depth = 1;
};

Size SizeOf(const TreeNode& node) {
  Size size;
  const auto add = [&size](const TreeNode& child) {
    const Size inner = SizeOf(child);
    size.nodes += inner.nodes;
    size.depth = std::max(size.depth, inner.depth + 1);
  };
  for (const TreeNode& item : node.items) add(item);
  for (const TreeEntry& entry : node.entries) add(entry.value);
  return size;
}

// A list or map that is still open.
struct Frame {
  TreeNode node;
  YAML::anchor_t anchor = 0;
  bool flow = false;
  bool bracket = false;  // of its own: `[a: b]` has a map without one
  bool has_key = false;  // a key waits for its value
  std::string key;
  bool key_quoted = false;
  SourceMark key_mark;
  std::map<std::string, int> lines;  // key → the line of its first use
  std::vector<TreeNode> merged;      // the values of `<<`
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourceText& text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics), flow_(text) {}

  // The document, or nothing where there was none.
  std::optional<TreeNode> TakeRoot() { return std::move(root_); }
  int duplicates() const { return duplicates_; }  // keys that were reported
  int mended() const { return mended_; }          // the same: they are read as they are meant
  bool has_root() const { return root_.has_value(); }
  // The innermost list or map in flow style that is still open, or null.
  const SourceMark* OpenBracket() const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

 private:
  size_t Offset(const YAML::Mark& mark) const;
  // Skips `&anchor` and `!tag`, up to the value itself.
  size_t SkipProperties(size_t offset) const;
  size_t EndOfQuotes(size_t offset, bool written) const;
  SourceMark ScalarMark(size_t offset, const std::string& value, bool quoted) const;
  SourceMark NullMark(size_t offset) const;
  // The "-" of an empty list item, given where the next token begins.
  std::optional<SourceMark> DashBefore(size_t offset) const;

  bool ExpectsKey() const {
    return !open_.empty() && open_.back().node.IsMap() && !open_.back().has_key;
  }
  void CheckTag(const std::string& tag, size_t offset) const;
  void CheckIndentation(size_t offset, bool begins_value = false) const;
  void CheckQuotedLines(size_t offset, size_t end) const;
  bool InFlow() const { return !open_.empty() && open_.back().flow; }
  void ReachInFlow(size_t end);
  void CheckComment(size_t offset) const;
  void Count(int64_t nodes, const SourceMark& mark);
  void Open(TreeNode node, size_t offset, YAML::anchor_t anchor, bool flow);
  void Close();
  void SetKey(std::string key, SourceMark mark, bool quoted);
  void Finish(TreeNode node, YAML::anchor_t anchor);
  void AddEntry(Frame& map, TreeNode value);
  bool MendComma(Frame& map, const TreeNode& value);
  void Merge(Frame& map) const;

  const SourceText& text_;
  Diagnostics& diagnostics_;
  FlowLayout flow_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, TreeNode> anchors_;
  int duplicates_ = 0, mended_ = 0;
  std::optional<TreeNode> root_;
  int64_t nodes_ = 0;
};

size_t TreeBuilder::Offset(const YAML::Mark& mark) const {
  const size_t offset = mark.is_null() ? 0 : static_cast<size_t>(std::max(mark.pos, 0));
  return std::min(offset, text_.text().size());
}

size_t TreeBuilder::SkipProperties(size_t offset) const {
  const std::string_view text = text_.text();
  while (offset < text.size() && (text[offset] == '&' || text[offset] == '!')) {
    const size_t end = text.find_first_of(" \n", offset);
    const size_t next = text.find_first_not_of(" \n", std::min(end, text.size()));
    if (next == std::string_view::npos) break;
    offset = next;
  }
  return offset;
}

// The offset behind a text in quotes that begins at `offset`; that itself where there is none.
// `written`: there is a text at all.
size_t TreeBuilder::EndOfQuotes(size_t offset, bool written) const {
  const std::string_view text = text_.text();
  const size_t begin = SkipProperties(offset);
  const bool quotes = written && begin < text.size() && (text[begin] == '"' || text[begin] == '\'');
  return quotes ? std::min(text_.EndOfQuoted(begin), text.size()) : offset;
}

SourceMark TreeBuilder::ScalarMark(size_t offset, const std::string& value, bool quoted) const {
  const std::string_view text = text_.text();
  offset = SkipProperties(offset);
  const bool written = quoted || !value.empty();
  if (written && offset < text.size() && (text[offset] == '|' || text[offset] == '>')) {
    CheckComment(text_.EndOfBlockHeader(offset));
  }
  if (written && offset < text.size() && (text[offset] == '"' || text[offset] == '\'')) {
    const size_t end = text_.EndOfQuoted(offset);
    if (end == std::string_view::npos) {
      throw Stop{text_.MarkAt(offset), "this quote is never closed", ""};
    }
    CheckComment(end);
    return text_.MarkAt(offset, end - offset);
  }
  if (text.substr(offset).starts_with(value)) return text_.MarkAt(offset, value.size());
  if (quoted) return text_.MarkAt(offset);  // a block scalar: its "|" or ">"
  return text_.MarkAt(offset, text.size());
}

std::optional<SourceMark> TreeBuilder::DashBefore(size_t offset) const {
  const std::string_view text = text_.text();
  const int last = text_.LineOf(offset);
  for (int line = last; line > 0; --line) {
    const size_t begin = text_.BeginOfLine(line), end = text_.EndOfLine(begin);
    const size_t content = std::min(text.find_first_not_of(" -", begin), end);
    const size_t dash = text.find('-', begin);
    const bool nothing = content == end || text[content] == '#';
    if (nothing && dash < std::min(content, offset)) return text_.MarkAt(dash);
    if (!nothing && line < last) break;
  }
  return std::nullopt;
}

// An empty value is marked at what should have had one.
SourceMark TreeBuilder::NullMark(size_t offset) const {
  const std::string_view rest = text_.text().substr(SkipProperties(offset));
  for (const std::string_view word : {"null", "Null", "NULL", "~"}) {
    if (rest.starts_with(word)) return text_.MarkAt(SkipProperties(offset), word.size());
  }
  if (open_.empty()) return text_.MarkAt(offset);
  const Frame& parent = open_.back();
  if (parent.node.IsMap() && parent.has_key) return parent.key_mark;
  if (parent.node.IsSequence() && !parent.flow) {
    return DashBefore(offset).value_or(parent.node.mark);
  }
  return text_.MarkAt(offset);
}

void TreeBuilder::CheckTag(const std::string& tag, size_t offset) const {
  const bool plain = tag.empty() || tag == "?" || tag == "!";
  if (plain || tag == kStringTag) return;
  throw Stop{text_.MarkAt(offset), "the tag '" + tag + "' means nothing in a model file",
             "remove it; only `!!str` is known"};
}

// YAML wants an anchor, a tag, and a value that is no list or map in block style deeper than the
// map whose value it is; yaml-cpp does not look. `begins_value`: the value itself begins at
// `offset`.
void TreeBuilder::CheckIndentation(size_t offset, bool begins_value) const {
  if (open_.empty() || offset >= text_.text().size()) return;
  const char first = text_.text()[offset];
  const Frame& parent = open_.back();
  const bool value = parent.node.IsMap() && parent.has_key && !parent.flow;
  if ((first != '&' && first != '!' && !begins_value) || !value) return;
  const bool deeper = text_.ColumnOf(offset) > parent.node.mark.column;
  if (deeper || text_.LineOf(offset) == parent.key_mark.line) return;
  throw Stop{text_.MarkAt(offset),
             "this is not indented enough for the value of '" + parent.key + "'",
             "put it on the line of the key"};
}

// Throws Stop if a text in quotes goes on in a line that is not indented. `offset` is that of its
// value, and `end` is behind it.
void TreeBuilder::CheckQuotedLines(size_t offset, size_t end) const {
  if (open_.empty() || InFlow()) return;
  const auto shallow =
      flow_.FindShallowQuoted(SkipProperties(offset), end, open_.back().node.mark.column);
  if (!shallow) return;
  throw Stop{
      text_.MarkAt(*shallow),
      "this is not YAML: a text in quotes goes on in lines that are indented deeper than the "
      "line that it begins in",
      "indent this line"};
}

// Notes that the text before `end` in brackets has been read. Throws Stop if some of it is not
// indented.
void TreeBuilder::ReachInFlow(size_t end) {
  if (!InFlow()) return;
  const std::optional<size_t> shallow = flow_.Reach(end);
  if (!shallow) return;
  throw Stop{text_.MarkAt(*shallow),
             "this is not YAML: what stands in brackets is indented deeper than the line that they "
             "begin in",
             "indent this line", true};
}

// YAML takes a '#' for a comment only behind a blank; yaml-cpp takes it behind a quote or bracket,
// too.
void TreeBuilder::CheckComment(size_t offset) const {
  if (offset >= text_.text().size() || text_.text()[offset] != '#') return;
  throw Stop{text_.MarkAt(offset), "this is not YAML: a blank is missing before this '#'",
             "a comment begins with a blank and a '#'"};
}

void TreeBuilder::Count(int64_t nodes, const SourceMark& mark) {
  nodes_ += nodes;
  if (nodes_ <= kMaxTreeNodes) return;
  throw Stop{mark, "the file has more than " + std::to_string(kMaxTreeNodes) + " values",
             "an alias counts as often as it is used"};
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (!root_) return;
  throw Stop{text_.MarkAt(Offset(mark)), "the document has ended before this",
             "a model file is one document: check the indentation, and remove any further `---`"};
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const size_t offset = Offset(mark);
  TreeNode node;
  node.mark = NullMark(offset);
  const bool in_flow = !open_.empty() && open_.back().flow && open_.back().node.IsSequence();
  const bool empty = offset < text_.text().size() && text_.text()[offset] == ',';
  if (in_flow && empty) throw Stop{text_.MarkAt(offset), "nothing stands before this comma", ""};
  if (ExpectsKey()) throw Stop{node.mark, "a key must be a name", ""};
  Count(1, node.mark);
  Finish(std::move(node), anchor);
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const size_t offset = Offset(mark);
  const size_t end = text_.text().find_first_of(" ,]}\n", offset);
  const SourceMark place = text_.MarkAt(offset, std::min(end, text_.text().size()) - offset);
  const auto it = anchors_.find(anchor);
  if (it == anchors_.end()) throw Stop{place, "an alias inside of what it stands for", ""};
  ReachInFlow(offset);
  CheckIndentation(offset, true);
  if (ExpectsKey()) throw Stop{place, "a key must be a name, not an alias", ""};
  const Size size = SizeOf(it->second);
  Count(size.nodes, place);
  if (static_cast<int>(open_.size()) + size.depth > kMaxTreeDepth) {
    throw Stop{place, "nested deeper than " + std::to_string(kMaxTreeDepth) + " levels", ""};
  }
  TreeNode copy = it->second;
  copy.mark = place;
  Finish(std::move(copy), 0);
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const size_t offset = Offset(mark);
  CheckTag(tag, offset);
  CheckIndentation(offset);
  std::string scalar = SourceText::Unmask(value);
  const bool quoted = tag == "!" || tag == kStringTag;
  const SourceMark place = ScalarMark(offset, scalar, tag == "!");
  const bool written = tag == "!" || !scalar.empty();
  const size_t end = EndOfQuotes(offset, written);
  if (written) CheckIndentation(SkipProperties(offset), true);
  CheckQuotedLines(offset, end);
  ReachInFlow(end);
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  };
  if (std::any_of(scalar.begin(), scalar.end(), is_control)) {
    throw Stop{place, "a control character in a text", ""};
  }
  Count(1, place);
  if (ExpectsKey()) return SetKey(std::move(scalar), place, quoted);
  Finish(TreeNode::Scalar(std::move(scalar), place, quoted), anchor);
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  CheckTag(tag, Offset(mark));
  Open(TreeNode::Sequence({}), Offset(mark), anchor, style == YAML::EmitterStyle::Flow);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  CheckTag(tag, Offset(mark));
  Open(TreeNode::Map({}), Offset(mark), anchor, style == YAML::EmitterStyle::Flow);
}

void TreeBuilder::Open(TreeNode node, size_t offset, YAML::anchor_t anchor, bool flow) {
  CheckIndentation(offset);
  if (flow) CheckIndentation(SkipProperties(offset), true);
  if (InFlow()) {
    ReachInFlow(SkipProperties(offset) + 1);
  } else if (flow) {
    flow_.Begin(SkipProperties(offset) + 1, open_.empty() ? 0 : open_.back().node.mark.column);
  }
  node.mark = text_.MarkAt(SkipProperties(offset));
  if (ExpectsKey()) {
    throw Stop{node.mark, "a key must be a name, not " + Describe(node), "", flow};
  }
  if (static_cast<int>(open_.size()) >= kMaxTreeDepth) {
    throw Stop{node.mark, "nested deeper than " + std::to_string(kMaxTreeDepth) + " levels", ""};
  }
  Count(1, node.mark);
  Frame frame;
  frame.node = std::move(node);
  frame.anchor = anchor;
  frame.flow = flow;
  const std::string_view rest = text_.text().substr(SkipProperties(offset));
  frame.bracket = rest.starts_with('[') || rest.starts_with('{');
  open_.push_back(std::move(frame));
}

void TreeBuilder::Close() {
  if (InFlow() && open_.back().bracket) {
    const size_t bracket = flow_.ClosingBracket();
    ReachInFlow(bracket + 1);
    CheckComment(bracket + 1);
  }
  Frame frame = std::move(open_.back());
  open_.pop_back();
  Merge(frame);
  Finish(std::move(frame.node), frame.anchor);
}

void TreeBuilder::SetKey(std::string key, SourceMark mark, bool quoted) {
  if (key.size() > kMaxKeyBytes) {
    throw Stop{mark, "a key has at most " + std::to_string(kMaxKeyBytes) + " bytes", ""};
  }
  Frame& map = open_.back();
  map.key = std::move(key);
  map.key_quoted = quoted;
  map.key_mark = std::move(mark);
  map.has_key = true;
}

void TreeBuilder::Finish(TreeNode node, YAML::anchor_t anchor) {
  if (anchor != 0) anchors_[anchor] = node;
  if (open_.empty()) {
    root_ = std::move(node);
  } else if (open_.back().node.IsSequence()) {
    open_.back().node.items.push_back(std::move(node));
  } else {
    AddEntry(open_.back(), std::move(node));
  }
}

// Returns whether the key is one for YAML alone, and belongs to the number before it.
bool TreeBuilder::MendComma(Frame& map, const TreeNode& value) {
  if (!map.flow || !value.IsNull() || map.key_quoted || map.node.entries.empty()) return false;
  TreeEntry& before = map.node.entries.back();
  if (text_.TextBehind(map.key_mark).starts_with(':')) return false;
  if (!ExtendNumber(before, map.key, map.key_mark)) return false;
  if (BeginsWithFurther(text_.TextBehind(before.value.mark))) return true;
  MendNumber(before, diagnostics_);
  ++mended_;
  return true;
}

void TreeBuilder::AddEntry(Frame& map, TreeNode value) {
  map.has_key = false;
  if (MendComma(map, value)) return;
  const bool in_flow = map.flow && value.IsNull() && !map.key_quoted && !map.node.entries.empty();
  if (in_flow && ExtendTuple(map.node.entries.back(), map.key, map.key_mark)) {
    if (MendTuple(map.node.entries.back(), diagnostics_)) ++mended_;
    return;
  }
  if (!map.key_quoted && MendGluedKey(map.key, map.key_mark, value, diagnostics_)) ++mended_;
  const auto [first, is_new] = map.lines.emplace(map.key, map.key_mark.line);
  if (!is_new) {
    ++duplicates_;
    diagnostics_.Error(map.key_mark, "duplicate key '" + map.key + "'",
                       "the first is in line " + std::to_string(first->second));
  } else if (map.key == kMergeKey && !map.key_quoted) {
    map.merged.push_back(std::move(value));
  } else {
    map.node.entries.push_back({map.key, map.key_mark, std::move(value)});
    if (MendTuple(map.node.entries.back(), diagnostics_)) ++mended_;
  }
}

// The entries of `<<` go behind the map's own, which win; of several maps the first wins
// (https://yaml.org/type/merge.html).
void TreeBuilder::Merge(Frame& map) const {
  if (map.merged.empty()) return;
  TreeNode value = std::move(map.merged.front());
  std::vector<TreeNode> sources;
  if (value.IsSequence()) {
    sources = std::move(value.items);
  } else {
    sources.push_back(std::move(value));
  }
  map.lines.erase(std::string(kMergeKey));
  for (TreeNode& source : sources) {
    if (!source.IsMap()) {
      throw Stop{source.mark, "`<<` merges maps, and this is " + Describe(source), ""};
    }
    for (TreeEntry& entry : source.entries) {
      const bool is_new = map.lines.emplace(entry.key, entry.key_mark.line).second;
      if (is_new) map.node.entries.push_back(std::move(entry));
    }
  }
}

const SourceMark* TreeBuilder::OpenBracket() const {
  return !open_.empty() && open_.back().flow ? &open_.back().node.mark : nullptr;
}

}  // namespace

std::optional<TreeNode> Parse(SourceFile file, Diagnostics& diagnostics, bool* duplicates) {
  const std::optional<SourceText> text = SourceText::Prepare(std::move(file), diagnostics);
  if (!text) return std::nullopt;
  const int errors_before = diagnostics.error_count();
  TreeBuilder builder(*text, diagnostics);
  try {
    std::istringstream stream(text->masked());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (!builder.has_root()) diagnostics.Error({text->file(), 0, 0}, "the file is empty");
  } catch (const Stop& stop) {
    const auto fault = stop.in_flow ? FindBracketFault(*text) : std::nullopt;
    if (fault) {
      diagnostics.Error(text->MarkAt(fault->bracket), "this is not YAML: " + fault->message,
                        fault->help);
    } else {
      diagnostics.Error(stop.mark, stop.message, stop.help);
    }
  } catch (const YAML::Exception& error) {
    const size_t offset =
        error.mark.is_null() ? 0 : static_cast<size_t>(std::max(error.mark.pos, 0));
    ReportSyntaxError({error.msg, offset, builder.OpenBracket()}, *text, diagnostics);
  } catch (const std::exception& error) {
    diagnostics.Error({text->file(), 0, 0}, std::string("this is not YAML: ") + error.what());
  }
  const int errors = diagnostics.error_count() - errors_before;
  const bool is_whole = errors == builder.duplicates() + builder.mended();
  if (duplicates != nullptr) *duplicates = is_whole && builder.duplicates() > 0;
  if (errors > 0 && !(is_whole && duplicates != nullptr)) return std::nullopt;
  return builder.TakeRoot();
}

}  // namespace cgrun
