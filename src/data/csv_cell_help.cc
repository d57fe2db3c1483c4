// A number that is written in another way is told first, then what the column may be instead.
#include "src/data/csv_cell_help.h"

#include "src/base/lookalikes.h"
#include "src/base/printable.h"
#include "src/base/synonyms.h"
#include "src/data/csv_values.h"
#include "src/data/options.h"

namespace cgrun {

namespace {

bool IsBoolean(std::string_view text) {
  const std::string plain = PlainName(Trimmed(text));
  return plain == "true" || plain == "false";
}

// "2024-01-31", "31.01.2024", "1/31/24 12:00": three groups of digits that a mark separates, four
// digits at most in each.
bool IsDate(std::string_view text) {
  text = Trimmed(text);
  text = text.substr(0, text.find_first_of(" T"));
  const size_t first = text.find_first_of("-./");
  if (first == text.npos) return false;
  size_t groups = 0, digits = 0;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c != text[first] || digits == 0)) return false;
    digits = is_digit ? digits + 1 : 0;
    groups += digits == 1;
    if (digits > 4) return false;
  }
  return groups == 3 && digits > 0;
}

}  // namespace

std::string CellHelp::OfGap(const CsvColumn& used) const {
  if (used.role == CsvRole::kLabel) {
    return "a sample needs its label: `missing_label: drop` leaves such lines out";
  }
  if (layout_.names[used.column].empty() && used.column + 1 == layout_.names.size()) {
    return "this column has no name: if lines only end with a delimiter, leave it out: `columns` "
           "lists the others";
  }
  if (!options_.to_predict) {
    return "`missing: mean`, `missing: zero` or a number fills such gaps; `missing: drop` leaves "
           "such lines out";
  }
  std::string help =
      "every row is predicted, whatever `missing` drops in training: put a value here";
  if (!options_.predicted_as.empty()) {
    help += ", or fill such gaps by `--set " + options_.predicted_as +
            ".missing=mean`, `zero` or a number";
  }
  return help;
}

std::string AsFractions(const CsvLayout& layout, const DataOptions& options, size_t field) {
  std::vector<std::string> names;
  for (const DataField& of_layout : layout.fields) names.push_back(of_layout.name);
  const DataField* input = WantedField(options, names, field);
  if (input == nullptr) return "";
  return ": `" + input->name + ": {type: f32, shape: " + input->shape.ToString() + "}`";
}

// Returns help for a text where a number is wanted.
std::string CellHelp::OfText(const CsvColumn& used) const {
  const std::string name = PrintableText(layout_.names[used.column]);
  if (options_.to_predict) return "the model reads numbers of this column";
  const bool may_be_label =
      used.column + 1 == layout_.names.size() && FindOption(options_, "label") == nullptr;
  return "write a number here; " +
         (may_be_label ? "if this is the label, `label: " + name + "` says so; " : "") +
         "a column of texts is a category, `categories: [" + name +
         "]`, or left out: `columns` lists the others";
}

std::string CellHelp::OfFirstLine() const {
  if (!options_.to_predict || options_.predicted_as.empty()) {
    return "if the first line holds names, leave `header: false` out";
  }
  return "if the first line holds names: `--set " + options_.predicted_as +
         ".header=true`, where the columns stand in the order of the training data's";
}

std::string CellHelp::OfNoNumber(const CsvColumn& used, std::string_view text) const {
  if (used.role == CsvRole::kLabel) {
    return layout_.fields[used.field].dtype == DType::kI32
               ? "the labels of the training data are integers"
               : "a label by name wants an input of int32";
  }
  if (IsDate(text)) {
    return "a date is no number: give its year, month and day columns of their own, or leave it "
           "out: `columns` lists the others";
  }
  if (IsBoolean(text) && !options_.to_predict) {
    return "write 1 and 0; or `categories: [" + PrintableText(layout_.names[used.column]) +
           "]` takes the texts as they are";
  }
  if (!IsOtherGap(text)) return OfText(used);
  return "if that is a gap, leave it empty or write `NA`, `NaN` or `?`; `missing: mean` and others "
         "say what takes its place";
}

CellHelp::OtherNumber CellHelp::OfOtherNumber(std::string_view text) const {
  const PlainNumber plain = WithoutLookalikes(text);
  std::string help = GroupsHelp(text);
  const char* kind = help.empty() ? "commas" : "thousands";
  if (help.empty()) help = GroupsHelp(plain.text);
  if (help.empty() && HasDecimalComma(plain.text)) help = CommaHelp(plain.text);
  if (help.empty() && !plain.note.empty() && IsFiniteNumber(plain.text)) {
    help = "write " + plain.text;
  }
  if (help.empty()) return {SignHelp(text), "sign"};
  if (plain.note.empty()) return {help, kind};
  return {help + "; " + plain.note, plain.note};
}

CellMistake CellHelp::OfNumber(TextNumber error, const CsvColumn& used, std::string_view text,
                               bool first) const {
  CellMistake mistake{QuotedText(text), "", "", ""};
  mistake.what = ": " + mistake.text + " " + FaultText(error, layout_.fields[used.field].dtype);
  if (error == TextNumber::kNotInteger) {
    mistake.help = "an input of f32 takes fractions" + AsFractions(layout_, options_, used.field);
  }
  if (error == TextNumber::kNotFinite) {
    mistake.help =
        "nothing can be learned from such a number: write one that is finite; or leave the "
        "cell empty, and " +
        OfGap(used);
    if (options_.to_predict) mistake.help = "write a number that is finite here";
  }
  mistake.kind = mistake.help;
  if (error != TextNumber::kNotNumber) return mistake;
  const OtherNumber number = OfOtherNumber(text);
  if (!number.help.empty()) {
    mistake.help = number.help;
    mistake.kind = number.kind;
  } else if (first && used.role != CsvRole::kLabel && !IsOtherGap(text)) {
    mistake.help = OfFirstLine();
    mistake.kind = kNames;
  } else if (csv_.header && Trimmed(text) == layout_.names[used.column]) {
    mistake.help = "the line of the names stands here again: leave it out";
    mistake.kind = kNames;
  } else {
    mistake.help = mistake.kind = OfNoNumber(used, text);
    if (options_.to_predict || IsOtherGap(text)) return mistake;
    mistake.rare_help =
        "most cells of this column are numbers: write one here; a gap is left empty, and " +
        OfGap(used);
  }
  return mistake;
}

}  // namespace cgrun
