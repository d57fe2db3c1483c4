// Lines of text as samples: each is a sequence of words, bytes or ids, filled up to one length, and
// may have a label. The text is walked through several times: for what there is, for the words, and
// for the tokens. LinesOpener is the entry point.
#include <algorithm>
#include <climits>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/data/cell_errors.h"
#include "src/data/classes.h"
#include "src/data/dataset.h"
#include "src/data/encoding.h"
#include "src/data/header_words.h"
#include "src/data/line_parts.h"
#include "src/data/lines_dataset.h"
#include "src/data/lines_options.h"
#include "src/data/options.h"
#include "src/data/sampler.h"
#include "src/data/text_number.h"
#include "src/data/token_text.h"
#include "src/data/vocabulary.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int kMostLineErrors = 20;

class LinesOpener {
 public:
  LinesOpener(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        file_option_(*FindOption(options, "file")),
        path_(ResolvePath(options, file_option_)) {}

  // Returns null after an error.
  std::unique_ptr<Dataset> Open() {
    const std::optional<LinesOptions> lines = ReadLinesOptions(options_, diagnostics_);
    if (!lines) return nullptr;
    lines_ = *lines;
    fields_ = ChooseLinesFields(lines_, options_);
    try {
      return OpenFile();
    } catch (const UserError& error) {
      diagnostics_.Error(file_option_.mark, error.what(), error.help());
      return nullptr;
    }
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }

  std::unique_ptr<Dataset> OpenFile();

  template <class Act>
  void ForEachSample(const TokenText& text, Act act);
  void FindHeader(const TokenText& text);
  void WarnOfLinesWithout(const TokenText& text);
  std::optional<LineParts> Cut(const TokenText& text, const TextLine& line);
  void Survey(const TokenText& text);
  void CheckEncoding(const TokenText& text, const TextLine& line, const LineParts& parts);
  void ReportEncoding();
  void ReportLongLine(const TokenText& text);
  void FindVocabulary(const TokenText& text);
  void CompareWords(const std::vector<std::string>& kept, const SourceMark& mark);
  void CountWords(const TokenText& text);
  void Allocate(const TokenText& text);
  void Store(const TokenText& text);
  void StoreToken(const TokenText& text, const TextLine& line, std::string_view token);
  void StoreLabel(const TokenText& text, const TextLine& line, std::string_view label);
  void CheckType(int64_t id, const SourceMark& mark);
  int64_t OpeningBytes(const TokenText& text) const;

  // Returns whether labels feed an input.
  bool reads_labels() const {
    return std::ranges::find(fields_, LinesPart::kLabel, &LinesField::part) != fields_.end();
  }
  // "3 words".
  std::string CountOfTokens(int64_t count) const {
    const char* noun = lines_.of_words()                  ? "word"
                       : lines_.kind == TokenKind::kBytes ? "byte"
                                                          : "id";
    return CountText(count, noun);
  }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  const DataOption& file_option_;
  const std::string path_;

  LinesOptions lines_;
  std::vector<LinesField> fields_;
  MemoryLeft left_;

  int64_t all_samples_ = 0, all_tokens_ = 0;
  int64_t long_lines_ = 0, longest_ = 0;
  TextLine first_long_line_;
  int64_t bad_lines_ = 0;  // that are not in UTF-8
  SourceMark first_bad_byte_;
  std::optional<EncodingFault> encoding_fault_;  // the first
  LabelTexts labels_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  bool owns_vocabulary_ = false;
  int64_t counting_bytes_ = 0;  // that counting words took
  LineSamples samples_;
};

std::unique_ptr<Dataset> LinesOpener::OpenFile() {
  left_ = MemoryLeft::Of(options_);
  const TokenText text(path_, left_);
  left_.bytes -= text.bytes();
  const DataOption* pad = FindOption(options_, "pad");
  CheckType(lines_.pad, pad != nullptr ? pad->mark : file_option_.mark);
  if (reads_labels()) {
    std::optional<ClassTable> known = KnownClasses(options_, "label", diagnostics_);
    if (!known) return nullptr;
    labels_ = LabelTexts(*std::move(known), options_.train == nullptr);
  }
  FindHeader(text);
  Survey(text);
  if (!Failed()) labels_.Settle(diagnostics_);
  if (!Failed() && lines_.of_words()) FindVocabulary(text);
  if (Failed()) return nullptr;
  Allocate(text);
  Store(text);
  if (Failed()) return nullptr;
  if (options_.to_predict) WarnOfLinesWithout(text);
  const int64_t opening = OpeningBytes(text);
  return std::make_unique<LinesDataset>(lines_, std::move(fields_), std::move(samples_),
                                        labels_.names(), std::move(vocabulary_), owns_vocabulary_,
                                        path_, file_option_.mark, opening);
}

// Calls `act(line, parts)` for each line that is a sample until there are too many errors.
template <class Act>
void LinesOpener::ForEachSample(const TokenText& text, Act act) {
  ForEachLine(text.text(), [&, header = lines_.header](const TextLine& line) mutable {
    if (!IsSampleLine(line.text, lines_)) return true;
    if (std::exchange(header, false)) return true;
    if (const std::optional<LineParts> parts = Cut(text, line)) act(line, *parts);
    if (diagnostics_.error_count() - errors_before_ < kMostLineErrors) return true;
    diagnostics_.Error(BehindAllLines(path_), "further errors of this file are not shown");
    return false;
  });
}

// A first line whose label no other line has and is no class that is known, and is either called as
// such columns are, or stands beside what columns of texts are called, where all others are
// integers.
void LinesOpener::FindHeader(const TokenText& text) {
  if (!lines_.labelled()) return;
  Diagnostics ignored;  // faults of classes are reported where they are needed
  const ClassTable known = KnownClasses(options_, "label", ignored).value_or(ClassTable());
  std::optional<LineParts> first;
  TextLine line_of_names;
  bool alone = true, integers = true;
  int64_t others = 0;
  ForEachLine(text.text(), [&](const TextLine& line) {
    if (!IsSampleLine(line.text, lines_)) return true;
    const std::optional<LineParts> parts = CutLine(line.text, lines_);
    if (!parts) return first.has_value();
    if (!first) {
      first = parts;
      line_of_names = line;
      return !ParseInt32(Trimmed(parts->label)) &&
             std::ranges::find(known.names, parts->label) == known.names.end();
    }
    ++others;
    alone = parts->label != first->label;
    integers = integers && ParseInt32(Trimmed(parts->label));
    return alone && (integers || IsLabelHeader(first->label));
  });
  if (!first || others == 0 || !alone) return;
  const bool is_beside = integers && others > 1 && IsTextHeader(first->text);
  if (!IsLabelHeader(first->label) && !is_beside) return;
  lines_.header = true;
  diagnostics_.Warning(text.MarkOf(line_of_names, line_of_names.text),
                       "the first line is taken for the names of the columns, and is no sample: no "
                       "other label is " +
                           QuotedText(first->label),
                       "");
}

// Lines between samples of which nothing is predicted.
void LinesOpener::WarnOfLinesWithout(const TokenText& text) {
  int64_t without = 0, before_last = 0;
  int next = 1, first = 0;
  ForEachLine(text.text(), [&](const TextLine& line) {
    if (!IsSampleLine(line.text, lines_)) return true;
    if (line.number > next && first == 0) first = next;
    without += line.number - next;
    next = line.number + 1;
    before_last = without;
    return true;
  });
  WarnOfEmptyLines(path_, before_last, first, diagnostics_);
}

// Returns nothing after an error.
std::optional<LineParts> LinesOpener::Cut(const TokenText& text, const TextLine& line) {
  if (const size_t nul = line.text.find('\0'); nul != line.text.npos) {
    diagnostics_.Error(text.MarkOf(line, line.text.substr(nul, 1)), "a NUL byte",
                       "is this a text file?");
    return std::nullopt;
  }
  const std::optional<LineParts> parts = CutLine(line.text, lines_);
  if (parts) return parts;
  const bool has_tab = line.text.find('\t') != line.text.npos;
  diagnostics_.Error(text.MarkOf(line, line.text),
                     has_tab ? "this line has no label" : "this line has no tab",
                     lines_.label == LabelPlace::kFirst
                         ? "with `label: first` a line is a label, a tab and the text"
                         : "with `label: last` a line is the text, a tab and a label");
  return std::nullopt;
}

// Counts the samples and tokens, and notes the labels.
void LinesOpener::Survey(const TokenText& text) {
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
    CheckEncoding(text, line, parts);
    labels_.Survey(
        parts.label, [&] { return text.MarkOf(line, parts.label); }, diagnostics_);
  });
  ReportEncoding();
  if (Failed()) return;
  if (all_samples_ == 0) ThrowFileError(path_, text.text().empty() ? "is empty" : "has no tokens");
  if (long_lines_ > 0 && !lines_.truncate) ReportLongLine(text);
}

// Words and names of classes are compared byte by byte; bytes and ids may be in any encoding.
void LinesOpener::CheckEncoding(const TokenText& text, const TextLine& line,
                                const LineParts& parts) {
  const std::string_view names = lines_.of_words() ? line.text
                                 : reads_labels()  ? parts.label
                                                   : std::string_view();
  std::optional<EncodingFault> fault = FindEncodingFault(names);
  if (!fault || bad_lines_++ > 0) return;
  first_bad_byte_ = text.MarkOf(line, names.substr(fault->at, 1));
  encoding_fault_ = std::move(fault);
}

void LinesOpener::ReportEncoding() {
  if (!encoding_fault_) return;
  const int64_t more = bad_lines_ - 1;
  const std::string others =
      more == 0 ? ""
                : "; and " + CountText(more, "more line") + (more == 1 ? " is not" : " are not");
  diagnostics_.Error(first_bad_byte_, "this line " + encoding_fault_->what + others,
                     encoding_fault_->help);
}

// Reports the first line that is too long, at its first token that is too much.
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

// Takes the vocabulary of the option, else that of the training set, else that of the weights, else
// the words of this file.
void LinesOpener::FindVocabulary(const TokenText& text) {
  const std::vector<std::string>* kept = nullptr;
  if (options_.kept != nullptr && options_.kept->names.contains(kVocabularyKey)) {
    kept = &options_.kept->names.at(kVocabularyKey);
  }
  const auto* train = dynamic_cast<const LinesDataset*>(options_.train);
  if (const DataOption* file = FindOption(options_, "vocabulary")) {
    vocabulary_ = ReadVocabulary(ResolvePath(options_, *file), left_, file->mark, diagnostics_);
    owns_vocabulary_ = true;
    if (vocabulary_ != nullptr && kept != nullptr) CompareWords(*kept, file->mark);
  } else if (options_.train == nullptr) {
    if (kept == nullptr) CountWords(text);
    if (kept != nullptr) vocabulary_ = std::make_shared<const Vocabulary>(*kept);
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
  if (owns_vocabulary_) left_.bytes -= vocabulary_->bytes();
  CheckType(std::min(lines_.entries, vocabulary_->ids()) - 1, file_option_.mark);
}

// Checks that the words of a file are those of the weights: other words have learned other ids.
void LinesOpener::CompareWords(const std::vector<std::string>& kept, const SourceMark& mark) {
  const std::vector<std::string>& words = vocabulary_->words();
  if (words == kept) return;
  const auto [here, there] = std::ranges::mismatch(words, kept);
  const auto word = [](const auto& at, const auto& list) {
    return at == list.end() ? "nothing" : QuotedText(*at);
  };
  diagnostics_.Error(mark,
                     "this vocabulary is not that of the weights: the word of id " +
                         std::to_string(Vocabulary::kFirstWord + (here - words.begin())) + " is " +
                         word(here, words) + " here and " + word(there, kept) + " there",
                     "leave `vocabulary` out: the weights keep theirs");
}

// Counts the words of samples that are not split away.
void LinesOpener::CountWords(const TokenText& text) {
  const std::vector<bool> held_out = HeldOut(options_.split, all_samples_);
  WordCounter counter;
  size_t sample = 0;
  ForEachSample(text, [&](const TextLine&, const LineParts& parts) {
    if (held_out[sample++]) return;
    int64_t left = lines_.length;
    ForEachToken(parts.text, lines_.kind, [&](std::string_view word) {
      if (!counter.Add(word, left_.bytes)) {
        ThrowFileError(path_,
                       ": its " + std::to_string(counter.words()) +
                           " different words take more than " + left_.Text(),
                       left_.Help("use fewer samples"));
      }
      return --left > 0;
    });
  });
  vocabulary_ = counter.Make(lines_.entries - Vocabulary::kFirstWord);
  counting_bytes_ = counter.bytes() + HeldOutBytes(options_.split, all_samples_);
}

// The text is there until the samples are: words are counted before, and samples stored behind.
int64_t LinesOpener::OpeningBytes(const TokenText& text) const {
  const int64_t samples = LineSamples::Bytes(all_samples_, all_tokens_, reads_labels());
  const int64_t words = owns_vocabulary_ && vocabulary_ != nullptr ? vocabulary_->bytes() : 0;
  return text.bytes() + std::max(counting_bytes_, samples + words);
}

void LinesOpener::Allocate(const TokenText& text) {
  const int64_t bytes = LineSamples::Bytes(all_samples_, all_tokens_, reads_labels());
  if (bytes > left_.bytes) {
    ThrowFileError(text.path(),
                   ": its " + CountOfTokens(all_tokens_) + " in " +
                       CountText(all_samples_, "sample") + " take " + MemoryText(bytes) +
                       ", more than " + left_.Text(),
                   left_.Help("use fewer samples"));
  }
  samples_.tokens.reserve(static_cast<size_t>(all_tokens_));
  samples_.ends.reserve(static_cast<size_t>(all_samples_));
  if (reads_labels()) samples_.labels.reserve(static_cast<size_t>(all_samples_));
}

void LinesOpener::Store(const TokenText& text) {
  ForEachSample(text, [&](const TextLine& line, const LineParts& parts) {
    int64_t left = lines_.length;
    ForEachToken(parts.text, lines_.kind, [&](std::string_view token) {
      StoreToken(text, line, token);
      return --left > 0;
    });
    samples_.ends.push_back(static_cast<int64_t>(samples_.tokens.size()));
    if (reads_labels()) StoreLabel(text, line, parts.label);
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
                     QuotedText(token) + (stored == TextNumber::kTooLarge
                                              ? " is too large for an id, which has 32 bits"
                                              : " is not an integer"),
                     stored == TextNumber::kTooLarge ? "" : "`tokens: words` takes words");
}

void LinesOpener::StoreLabel(const TokenText& text, const TextLine& line, std::string_view label) {
  const std::optional<int32_t> number = labels_.Find(label);
  samples_.labels.push_back(number.value_or(0));
  if (number) return;
  diagnostics_.Error(text.MarkOf(line, label), "the label " + labels_.UnknownText(label),
                     labels_.HelpFor(label));
}

// Checks that the type of the text's input holds an id.
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

constexpr DataOptionSpec kLinesOptions[] = {
    {"file", true, "the text, plain or compressed by gzip: a line a sample"},
    {"length", true,
     "tokens of a sample; shorter lines are filled up, longer ones are an error, or cut off",
     kLengths},
    {"tokens",
     false,
     "what a line is made of: `words` between blanks, `bytes`, or `ids`, integers between blanks; "
     "default words",
     {.choices = kTokenKinds}},
    {"label",
     false,
     "where a line has its label: `first`, before its first tab; `last`, behind its last tab; or "
     "`none`, the default",
     {.choices = kLabelPlaces}},
    {"classes",
     false,
     "the names of labels that are texts: the first is label 0. Default: those of the training "
     "data, sorted",
     {.list = true}},
    {"vocabulary", false,
     "a file with a word a line: the first has the id 2. Default: the words of the training data, "
     "the most frequent first"},
    {"entries", false, "words whose ids would not be below this become unknown; default: no bound",
     kEntries},
    {"pad", false, "the id that fills up lines of bytes and ids; default 0", kPads},
    {"truncate",
     false,
     "whether a longer line is cut off; default false",
     {.choices = kTrueFalse}}};

}  // namespace

extern const DataFormat kLinesFormat;
constinit const DataFormat kLinesFormat = {
    .name = "lines",
    .doc =
        "lines of text as padded sequences of words, bytes or ids; the fields are 'text', "
        "[length], and 'label' or, without one, 'next', the token behind each; and the number "
        "of tokens for an input called 'length'",
    .options = kLinesOptions,
    .open = OpenLines,
    .label_option = "label",
    .label_help =
        "`label: first` or `label: last` in `data.train` says where a line has its "
        "label"};

}  // namespace cgrun
