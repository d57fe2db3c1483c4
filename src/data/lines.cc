// Lines of text as samples: each is a sequence of words, bytes or ids, filled up to one length, and
// may have a label. Tokens are kept one after the other, without what fills them up. LinesOpener is
// the entry point.
#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/data/classes.h"
#include "src/data/dataset.h"
#include "src/data/options.h"
#include "src/data/sampler.h"
#include "src/data/text_number.h"
#include "src/data/token_text.h"
#include "src/data/vocabulary.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int64_t kLongest = int64_t{1} << 28;  // of a sample
constexpr int kMostErrors = 20;
constexpr size_t kMostClasses = 65536;
constexpr int32_t kNoNext = -1;  // what 'next' holds where no token follows

enum class LabelPlace { kNone, kFirst, kLast };
enum class Part { kText, kLabel, kNext, kLength };

struct LinesOptions {
  TokenKind kind = TokenKind::kWords;
  int64_t length = 1;
  bool truncate = false;
  int32_t pad = 0;
  LabelPlace label = LabelPlace::kNone;
  int64_t entries = INT_MAX;  // ids of words are below
};

struct LinesField {
  Part part = Part::kText;
  DataField field;
};

// What the lines are.
struct LineSamples {
  std::vector<int32_t> tokens;  // of all samples
  std::vector<int64_t> ends;    // a sample: the tokens up to its end
  std::vector<int32_t> labels;  // none without `label`

  static int64_t Bytes(int64_t samples, int64_t tokens, bool labelled) {
    const int64_t each = labelled ? sizeof(int64_t) + sizeof(int32_t) : sizeof(int64_t);
    return samples * each + tokens * static_cast<int64_t>(sizeof(int32_t));
  }
};

class LinesDataset : public Dataset {
 public:
  LinesDataset(const LinesOptions& lines, std::vector<LinesField> fields, LineSamples samples,
               std::vector<std::string> classes, std::shared_ptr<const Vocabulary> vocabulary,
               bool owns_vocabulary, std::string file, const SourceMark& mark)
      : lines_(lines),
        samples_(std::move(samples)),
        classes_(std::move(classes)),
        vocabulary_(std::move(vocabulary)),
        owns_vocabulary_(owns_vocabulary),
        file_(std::move(file)),
        mark_(mark) {
    for (LinesField& field : fields) {
      parts_.push_back(field.part);
      fields_.push_back(std::move(field.field));
    }
  }

  int64_t size() const override { return static_cast<int64_t>(samples_.ends.size()); }
  const std::vector<DataField>& fields() const override { return fields_; }
  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }

  int64_t decoded_bytes() const override {
    const int64_t tokens = static_cast<int64_t>(samples_.tokens.size());
    return LineSamples::Bytes(size(), tokens, !samples_.labels.empty()) +
           (owns_vocabulary_ ? vocabulary_->bytes() : 0);
  }

  std::span<const std::string> ClassNames(size_t index) const override {
    if (parts_[index] != Part::kLabel) return {};
    return classes_;
  }

  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    CGRUN_CHECK(index >= 0 && index < size()) << "sample " << index;
    for (size_t i = 0; i < fields_.size(); ++i) {
      const DType dtype = fields_[i].dtype;
      const Values values = ValuesOf(parts_[i], index);
      if (dtype == DType::kI64) Write<int64_t>(values, out[i]);
      if (dtype == DType::kI32) Write<int32_t>(values, out[i]);
      if (dtype == DType::kU8) Write<uint8_t>(values, out[i]);
    }
  }

 private:
  // The elements of one field of a sample: `first`, or, where there is none, `rest` and what fills
  // them up.
  struct Values {
    std::optional<int32_t> first;
    std::span<const int32_t> rest;
    int32_t filler = 0;
  };

  Values ValuesOf(Part part, int64_t sample) const {
    const auto at = static_cast<size_t>(sample);
    const auto begin = static_cast<size_t>(at == 0 ? 0 : samples_.ends[at - 1]);
    const auto count = static_cast<size_t>(samples_.ends[at]) - begin;
    const auto tokens = std::span(samples_.tokens).subspan(begin, count);
    switch (part) {
      case Part::kText:
        return {{}, tokens, lines_.pad};
      case Part::kLabel:
        return {samples_.labels[at], {}};
      case Part::kNext:
        return {{}, tokens.subspan(std::min<size_t>(1, count)), kNoNext};
      case Part::kLength:
        return {static_cast<int32_t>(count), {}};
    }
    return {};
  }

  template <class T>
  static void Write(const Values& values, std::span<std::byte> out) {
    const auto put = [&](size_t i, int32_t value) {
      const T element = static_cast<T>(value);
      std::memcpy(out.data() + i * sizeof(T), &element, sizeof(T));
    };
    if (values.first) return put(0, *values.first);
    size_t i = 0;
    for (const int32_t token : values.rest) put(i++, token);
    for (; i < out.size() / sizeof(T); ++i) put(i, values.filler);
  }

  std::optional<FieldRange> FindRange(size_t index,
                                      std::span<const int64_t> ignored) const override {
    RangeFinder finder(ignored);
    const auto elements = static_cast<size_t>(fields_[index].shape.Elements());
    for (int64_t sample = 0; sample < size(); ++sample) {
      const auto offer = [&](int64_t value) {
        if (finder.Wants(value)) finder.Take({value, sample, file_, mark_});
      };
      const Values values = ValuesOf(parts_[index], sample);
      if (values.first) {
        offer(*values.first);
        continue;
      }
      for (const int32_t token : values.rest) offer(token);
      if (values.rest.size() < elements) offer(values.filler);
    }
    return finder.range();
  }

  LinesOptions lines_;
  std::vector<Part> parts_;  // of the fields
  std::vector<DataField> fields_;
  LineSamples samples_;
  std::vector<std::string> classes_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // of words; may be the training set's
  bool owns_vocabulary_;
  std::string file_;
  SourceMark mark_;
};

// A line cut in two; `label` is null where there is none.
struct LineParts {
  std::string_view label;
  std::string_view text;
};

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string shown = "'";
  for (char c : text.substr(0, kMost)) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return shown + (text.size() > kMost ? "...'" : "'");
}

class LinesOpener {
 public:
  LinesOpener(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        file_option_(*FindOption(options, "file")),
        path_(ResolvePath(options, file_option_)) {}

  // Null after an error.
  std::unique_ptr<Dataset> Open() {
    if (!ReadOptions()) return nullptr;
    ChooseFields();
    try {
      return OpenFile();
    } catch (const UserError& error) {
      diagnostics_.Error(file_option_.mark, error.what(), error.help());
      return nullptr;
    }
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }
  bool labelled() const { return lines_.label != LabelPlace::kNone; }
  bool of_words() const { return lines_.kind == TokenKind::kWords; }

  bool ReadOptions();
  void CheckCombinations();
  void ChooseFields();
  void AddField(Part part, const char* name, Shape shape);
  std::unique_ptr<Dataset> OpenFile();

  template <class Act>
  void ForEachSample(const TokenText& text, Act act);
  std::optional<LineParts> Cut(const TokenText& text, const TextLine& line);
  void Survey(const TokenText& text);
  void ReportLongLine(const TokenText& text);
  void SurveyLabel(const TokenText& text, const TextLine& line, std::string_view label);
  void SettleClasses();
  void FindVocabulary(const TokenText& text);
  void CountWords(const TokenText& text);
  void Allocate(const TokenText& text);
  void Store(const TokenText& text);
  void StoreToken(const TokenText& text, const TextLine& line, std::string_view token);
  void StoreLabel(const TokenText& text, const TextLine& line, std::string_view label);
  void CheckType(int64_t id, const SourceMark& mark);

  // "3 words".
  std::string CountOfTokens(int64_t count) const {
    const char* noun = of_words() ? "word" : lines_.kind == TokenKind::kBytes ? "byte" : "id";
    return CountText(count, noun);
  }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  const DataOption& file_option_;
  const std::string path_;

  LinesOptions lines_;
  std::vector<LinesField> fields_;
  int64_t left_ = 0;  // bytes of memory

  int64_t all_samples_ = 0, all_tokens_ = 0;
  int64_t long_lines_ = 0, longest_ = 0;
  TextLine first_long_line_;
  ClassTable classes_;
  std::map<std::string, int32_t, std::less<>> labels_;
  std::set<std::string, std::less<>> names_;       // of labels
  std::optional<SourceMark> name_, integer_mark_;  // of the first label of each kind
  std::shared_ptr<const Vocabulary> vocabulary_;
  bool owns_vocabulary_ = false;
  LineSamples samples_;
};

bool LinesOpener::ReadOptions() {
  constexpr std::string_view kKinds[] = {"words", "bytes", "ids"};
  constexpr std::string_view kPlaces[] = {"none", "first", "last"};
  const auto kind = ChoiceOption(options_, "tokens", kKinds, 0, diagnostics_);
  const auto length = IntegerOption(options_, "length", 1, kLongest, 1, diagnostics_);
  const auto truncate = BooleanOption(options_, "truncate", false, diagnostics_);
  const auto pad = IntegerOption(options_, "pad", INT_MIN, INT_MAX, 0, diagnostics_);
  const auto place = ChoiceOption(options_, "label", kPlaces, 0, diagnostics_);
  const auto entries =
      IntegerOption(options_, "entries", Vocabulary::kFirstWord, INT_MAX, INT_MAX, diagnostics_);
  if (Failed()) return false;
  lines_ = {static_cast<TokenKind>(*kind),   *length, *truncate, static_cast<int32_t>(*pad),
            static_cast<LabelPlace>(*place), *entries};
  CheckCombinations();
  return !Failed();
}

void LinesOpener::CheckCombinations() {
  const auto refuse = [this](const char* name, const char* message, const char* help) {
    const DataOption* option = FindOption(options_, name);
    if (option != nullptr) diagnostics_.Error(option->mark, message, help);
  };
  if (of_words()) {
    refuse("pad", "words are filled up with the id 0, which is no word",
           "`pad` is for `tokens: bytes` and `tokens: ids`");
  } else {
    const char* help = "`tokens: words` has a vocabulary";
    refuse("vocabulary", "bytes and ids have no vocabulary", help);
    refuse("entries", "bytes and ids have no vocabulary to cut", help);
  }
  if (!labelled()) {
    refuse("classes", "there are classes, but no 'label'",
           "`label: first` takes what stands before a line's first tab, `label: last` what stands "
           "behind its last one");
  }
}

// 'text' with 'label' or, without one, 'next', where the model has a second input; 'length' where
// it has an input of this name.
void LinesOpener::ChooseFields() {
  const bool has_length =
      std::ranges::find(options_.fields, "length", &DataField::name) != options_.fields.end();
  const bool alone = options_.fields.size() == (has_length ? 2 : 1);
  AddField(Part::kText, "text", Shape{lines_.length});
  if (!alone && labelled()) AddField(Part::kLabel, "label", Shape());
  if (!alone && !labelled()) AddField(Part::kNext, "next", Shape{lines_.length});
  if (has_length) AddField(Part::kLength, "length", Shape());
  std::vector<std::string> names;
  for (const LinesField& field : fields_) names.push_back(field.field.name);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const DataField* wanted = WantedField(options_, names, i);
    const bool bytes = wanted != nullptr && wanted->dtype == DType::kU8;
    // An input of another type is refused where the fields are matched with it.
    if (wanted != nullptr &&
        (wanted->dtype == DType::kI64 || (bytes && fields_[i].part == Part::kText))) {
      fields_[i].field.dtype = wanted->dtype;
    }
  }
}

void LinesOpener::AddField(Part part, const char* name, Shape shape) {
  fields_.push_back({part, {name, DType::kI32, std::move(shape)}});
}

std::unique_ptr<Dataset> LinesOpener::OpenFile() {
  const TokenText text(path_, options_.memory_limit);
  left_ = options_.memory_limit - text.bytes();
  const DataOption* pad = FindOption(options_, "pad");
  CheckType(lines_.pad, pad != nullptr ? pad->mark : file_option_.mark);
  if (labelled()) {
    std::optional<ClassTable> known = KnownClasses(options_, "label", diagnostics_);
    if (!known) return nullptr;
    classes_ = *std::move(known);
  }
  Survey(text);
  if (!Failed()) SettleClasses();
  if (!Failed() && of_words()) FindVocabulary(text);
  if (Failed()) return nullptr;
  Allocate(text);
  Store(text);
  if (Failed()) return nullptr;
  return std::make_unique<LinesDataset>(lines_, std::move(fields_), std::move(samples_),
                                        std::move(classes_.names), std::move(vocabulary_),
                                        owns_vocabulary_, path_, file_option_.mark);
}

// Calls `act(line, parts)` for each line that is a sample until there are too many errors.
template <class Act>
void LinesOpener::ForEachSample(const TokenText& text, Act act) {
  const bool blanks_count = lines_.kind == TokenKind::kBytes && !labelled();
  ForEachLine(text.text(), [&](const TextLine& line) {
    if (!blanks_count && line.text.find_first_not_of(kBlanks) == line.text.npos) return true;
    if (const std::optional<LineParts> parts = Cut(text, line)) act(line, *parts);
    if (diagnostics_.error_count() - errors_before_ < kMostErrors) return true;
    const auto file = std::make_shared<const SourceFile>(SourceFile{path_, ""});
    diagnostics_.Error({file, 0, 0}, "further errors of this file are not shown");
    return false;
  });
}

// Nothing after an error.
std::optional<LineParts> LinesOpener::Cut(const TokenText& text, const TextLine& line) {
  if (const size_t nul = line.text.find('\0'); nul != line.text.npos) {
    diagnostics_.Error(text.MarkOf(line, line.text.substr(nul, 1)), "a NUL byte",
                       "is this a text file?");
    return std::nullopt;
  }
  if (!labelled()) return LineParts{{}, line.text};
  const bool first = lines_.label == LabelPlace::kFirst;
  const size_t tab = first ? line.text.find('\t') : line.text.rfind('\t');
  const std::string_view before = line.text.substr(0, tab);
  const std::string_view behind = tab == line.text.npos ? "" : line.text.substr(tab + 1);
  const std::string_view label = Trimmed(first ? before : behind);
  if (tab != line.text.npos && !label.empty()) return LineParts{label, first ? behind : before};
  diagnostics_.Error(text.MarkOf(line, line.text),
                     tab == line.text.npos ? "this line has no tab" : "this line has no label",
                     first ? "with `label: first` a line is a label, a tab and the text"
                           : "with `label: last` a line is the text, a tab and a label");
  return std::nullopt;
}

// What there is: samples, tokens, classes.
void LinesOpener::Survey(const TokenText& text) {
  const bool surveys_labels = labelled() && !classes_.fixed() && options_.train == nullptr;
  ForEachSample(text, [&](const TextLine& line, const LineParts& parts) {
    int64_t count = 0;
    ForEachToken(parts.text, lines_.kind, [&](std::string_view) {
      ++count;
      return true;
    });
    if (count > lines_.length && long_lines_++ == 0) first_long_line_ = line;
    longest_ = std::max(longest_, count);
    all_tokens_ += std::min(count, lines_.length);
    ++all_samples_;
    if (surveys_labels) SurveyLabel(text, line, parts.label);
  });
  if (Failed()) return;
  if (all_samples_ == 0) ThrowFileError(path_, text.text().empty() ? "is empty" : "has no tokens");
  if (long_lines_ > 0 && !lines_.truncate) ReportLongLine(text);
}

// At the first token that is too much.
void LinesOpener::ReportLongLine(const TokenText& text) {
  const std::optional<LineParts> parts = Cut(text, first_long_line_);
  int64_t count = 0;
  std::string_view beyond;
  ForEachToken(parts->text, lines_.kind, [&](std::string_view token) {
    if (count++ == lines_.length) beyond = token;
    return true;
  });
  const std::string others = long_lines_ == 1 ? "it is the only such line"
                                              : std::to_string(long_lines_) +
                                                    " lines are too long, the longest has " +
                                                    std::to_string(longest_);
  diagnostics_.Error(text.MarkOf(first_long_line_, beyond),
                     "this line has " + CountOfTokens(count) + ", but `length` is " +
                         std::to_string(lines_.length),
                     others + "; `truncate: true` leaves out what is beyond");
}

void LinesOpener::SurveyLabel(const TokenText& text, const TextLine& line, std::string_view label) {
  if (ParseInt32(label)) {
    if (!integer_mark_) integer_mark_ = text.MarkOf(line, label);
    return;
  }
  if (!name_) name_ = text.MarkOf(line, label);
  if (names_.size() > kMostClasses || names_.contains(label)) return;
  names_.emplace(label);
  if (names_.size() <= kMostClasses) return;
  diagnostics_.Error(text.MarkOf(line, label),
                     "the label has more than " + std::to_string(kMostClasses) + " classes");
}

// Names in their order, unless all labels are integers.
void LinesOpener::SettleClasses() {
  if (!names_.empty() && integer_mark_) {
    diagnostics_.Error(*name_,
                       "this label is not an integer, but the one in line " +
                           std::to_string(integer_mark_->line) + " is",
                       "if they are names all the same, list them: `classes: [a, b, c]`");
    return;
  }
  if (!names_.empty()) classes_.names.assign(names_.begin(), names_.end());
  labels_ = LabelsOf(classes_);
}

// That of the option, else that of the training set, else the words of this file.
void LinesOpener::FindVocabulary(const TokenText& text) {
  const auto* train = dynamic_cast<const LinesDataset*>(options_.train);
  if (const DataOption* file = FindOption(options_, "vocabulary")) {
    vocabulary_ = ReadVocabulary(ResolvePath(options_, *file), left_, file->mark, diagnostics_);
    owns_vocabulary_ = true;
  } else if (options_.train == nullptr) {
    CountWords(text);
    owns_vocabulary_ = true;
  } else if (train != nullptr && train->vocabulary() != nullptr) {
    vocabulary_ = train->vocabulary();
  } else {
    ThrowFileError(path_,
                   "has no vocabulary: it is that of the training data, which are no lines of "
                   "words",
                   "`vocabulary: FILE` names one, with a word a line");
  }
  if (vocabulary_ == nullptr) return;
  if (owns_vocabulary_) left_ -= vocabulary_->bytes();
  CheckType(std::min(lines_.entries, vocabulary_->ids()) - 1, file_option_.mark);
}

// Of samples that are not split away.
void LinesOpener::CountWords(const TokenText& text) {
  std::vector<bool> held_out(static_cast<size_t>(all_samples_), false);
  if (options_.split) {
    const auto& [fraction, seed, test, order] = *options_.split;
    const SplitIndices split = SplitSamples(all_samples_, fraction, seed, test, order);
    for (const int64_t sample : split.valid) held_out[static_cast<size_t>(sample)] = true;
    for (const int64_t sample : split.test) held_out[static_cast<size_t>(sample)] = true;
  }
  WordCounter counter;
  size_t sample = 0;
  ForEachSample(text, [&](const TextLine&, const LineParts& parts) {
    if (held_out[sample++]) return;
    int64_t left = lines_.length;
    ForEachToken(parts.text, lines_.kind, [&](std::string_view word) {
      if (!counter.Add(word, left_)) {
        ThrowFileError(path_,
                       ": its " + std::to_string(counter.words()) +
                           " different words take more than the " + MemoryText(left_) +
                           " that are left",
                       "raise the memory limit, or use fewer samples");
      }
      return --left > 0;
    });
  });
  vocabulary_ = counter.Make(lines_.entries - Vocabulary::kFirstWord);
}

void LinesOpener::Allocate(const TokenText& text) {
  const int64_t bytes = LineSamples::Bytes(all_samples_, all_tokens_, labelled());
  if (bytes > left_) {
    ThrowFileError(text.path(),
                   ": its " + CountOfTokens(all_tokens_) + " in " +
                       CountText(all_samples_, "sample") + " take more than the " +
                       MemoryText(left_) + " that are left",
                   "raise the memory limit, or use fewer samples");
  }
  samples_.tokens.reserve(static_cast<size_t>(all_tokens_));
  samples_.ends.reserve(static_cast<size_t>(all_samples_));
  if (labelled()) samples_.labels.reserve(static_cast<size_t>(all_samples_));
}

void LinesOpener::Store(const TokenText& text) {
  ForEachSample(text, [&](const TextLine& line, const LineParts& parts) {
    int64_t left = lines_.length;
    ForEachToken(parts.text, lines_.kind, [&](std::string_view token) {
      StoreToken(text, line, token);
      return --left > 0;
    });
    samples_.ends.push_back(static_cast<int64_t>(samples_.tokens.size()));
    if (labelled()) StoreLabel(text, line, parts.label);
  });
}

void LinesOpener::StoreToken(const TokenText& text, const TextLine& line, std::string_view token) {
  int32_t id = 0;
  TextNumber stored = TextNumber::kStored;
  switch (lines_.kind) {
    case TokenKind::kWords:
      id = vocabulary_->Find(token);
      if (id >= lines_.entries) id = Vocabulary::kUnknown;
      break;
    case TokenKind::kBytes:
      id = static_cast<unsigned char>(token[0]);
      break;
    case TokenKind::kIds:
      stored = StoreNumber(token, DType::kI32, reinterpret_cast<std::byte*>(&id));
      break;
  }
  samples_.tokens.push_back(id);
  if (stored == TextNumber::kStored) {
    const bool may_be_large = fields_[0].field.dtype == DType::kU8 && (id < 0 || id > UINT8_MAX);
    if (may_be_large) CheckType(id, text.MarkOf(line, token));
    return;
  }
  diagnostics_.Error(text.MarkOf(line, token),
                     Quoted(token) + (stored == TextNumber::kTooLarge
                                          ? " is too large for an id, which has 32 bits"
                                          : " is not an integer"),
                     stored == TextNumber::kTooLarge ? "" : "`tokens: words` takes words");
}

void LinesOpener::StoreLabel(const TokenText& text, const TextLine& line, std::string_view label) {
  int32_t number = 0;
  if (labels_.empty()) {
    const std::optional<int32_t> integer = ParseInt32(label);
    if (!integer) {
      diagnostics_.Error(text.MarkOf(line, label),
                         "the label " + Quoted(label) + " is not an integer of 32 bits",
                         "the labels of the training data are integers");
    }
    number = integer.value_or(0);
  } else if (const auto found = labels_.find(label); found != labels_.end()) {
    number = found->second;
  } else {
    diagnostics_.Error(text.MarkOf(line, label),
                       "the label " + Quoted(label) + " is none of the classes " + classes_.origin,
                       SuggestName(label, classes_.names));
  }
  samples_.labels.push_back(number);
}

// That the type of the text's input holds an id.
void LinesOpener::CheckType(int64_t id, const SourceMark& mark) {
  const bool fits = fields_[0].field.dtype != DType::kU8 || (id >= 0 && id <= UINT8_MAX);
  if (fits) return;
  diagnostics_.Error(mark,
                     "the id " + std::to_string(id) +
                         " does not fit uint8, the type of the text's "
                         "input",
                     "an input of int32 takes it");
}

std::unique_ptr<Dataset> OpenLines(const DataOptions& options, Diagnostics& diagnostics) {
  return LinesOpener(options, diagnostics).Open();
}

constexpr DataOptionSpec kOptions[] = {
    {"file", true, "the text, plain or compressed by gzip: a line a sample"},
    {"length", true,
     "tokens of a sample; shorter lines are filled up, longer ones are an error, or cut off"},
    {"tokens", false,
     "what a line is made of: `words` between blanks, `bytes`, or `ids`, integers between blanks; "
     "default words"},
    {"label", false,
     "where a line has its label: `first`, before its first tab; `last`, behind its last tab; or "
     "`none`, the default"},
    {"classes", false,
     "the names of labels that are texts: the first is label 0. Default: those of the training "
     "data, sorted",
     true},
    {"vocabulary", false,
     "a file with a word a line: the first has the id 2. Default: the words of the training data, "
     "the most frequent first"},
    {"entries", false, "words whose ids would not be below this become unknown; default: no bound"},
    {"pad", false, "the id that fills up lines of bytes and ids; default 0"},
    {"truncate", false, "whether a longer line is cut off; default false"}};

}  // namespace

extern const DataFormat kLinesFormat;
constinit const DataFormat kLinesFormat = {
    "lines",
    "lines of text as padded sequences of words, bytes or ids; the fields are 'text', [length], "
    "and 'label' or, without one, 'next', the token behind each; and the number of tokens for an "
    "input called 'length'",
    kOptions, OpenLines};

}  // namespace cgrun
