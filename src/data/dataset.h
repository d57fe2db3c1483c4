// Data sets: samples of named fields, read one by one; and OpenDataset(), which finds their format.
#ifndef CGRUN_DATA_DATASET_H_
#define CGRUN_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/dtype.h"
#include "src/base/shape.h"
#include "src/base/synonyms.h"
#include "src/io/read_file.h"

namespace cgrun {

// One part of a sample, as "image" or "label".
struct DataField {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;  // of one sample: bound, without the batch axis

  int64_t bytes() const { return shape.Elements() * SizeOf(dtype); }
  friend bool operator==(const DataField&, const DataField&) = default;
};

// Says where a field of a sample was read from.
struct SamplePlace {
  int64_t sample = 0;  // as its file counts
  std::string file;
  SourceMark mark;   // the field itself, in a file of text; else where the user names the file
  bool own = false;  // `file` is the sample's own, or the folder of its class: no number is needed
  std::string text = {};  // the text there, in quotes, where that is not the value itself

  // Returns whether `mark` lies in the file itself.
  bool in_file() const { return mark.file != nullptr && mark.file->name == file; }
};

// Holds the findings about training data by which other data are read: the words of a vocabulary,
// the means of columns. Weights keep them.
struct DataFindings {
  std::map<std::string, std::vector<std::string>> names;
  std::map<std::string, std::vector<double>> numbers;

  bool empty() const { return names.empty() && numbers.empty(); }
  friend bool operator==(const DataFindings&, const DataFindings&) = default;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;  // samples, at least 1
  virtual const std::vector<DataField>& fields() const = 0;

  // Writes sample `index` into `out`, one span a field with the field's bytes (row-major elements).
  // Called by several threads at once. It must neither allocate nor enter OpenMP; it throws
  // UserError where the sample cannot be read.
  virtual void Read(int64_t index, std::span<const std::span<std::byte>> out) const = 0;

  // Bytes of host memory that the samples take while the data set lives.
  virtual int64_t decoded_bytes() const = 0;
  // The most that opening it took of the host's memory, what stays included.
  virtual int64_t opening_bytes() const { return decoded_bytes(); }
  // The part of decoded_bytes() that could lie in a file.
  virtual int64_t streamable_bytes() const { return 0; }

  // Returns the name of each label, from 0, of a field of labels whose names are known. Valid while
  // the data set lives; empty for every other field.
  virtual std::span<const std::string> ClassNames(size_t /*index*/) const { return {}; }

  // Returns how many elements of the first field the file has, where the sample was filled up to
  // its length. Returns nothing where samples are whole.
  virtual std::optional<int64_t> Given(int64_t /*index*/) const { return std::nullopt; }

  // Returns what the format found out about training data. Names of classes are not among it.
  virtual DataFindings Findings() const { return {}; }

  // Tells what became of the file without being wrong, such as rows that were left out. A part of a
  // data set tells it of the whole.
  virtual std::vector<std::string> Notes() const { return {}; }

  // Returns the data set that this one is a part of, or itself.
  virtual const Dataset& whole() const { return *this; }

  // Returns whether field `index` is read without decoding a file for each sample.
  virtual bool AtHand(size_t /*index*/) const { return false; }
  // Writes field `index` of samples from `first` on, as many as `out` holds, one after another. May
  // allocate. Without an override it reads whole samples.
  virtual void ReadField(size_t index, int64_t first, std::span<std::byte> out) const;

  // Returns where field `index` of a sample was read from; with `value`, where the first of its
  // elements of that value stands. May read a file again.
  virtual SamplePlace PlaceOf(size_t /*index*/, int64_t sample,
                              std::optional<int64_t> /*value*/) const {
    return {sample, "", {}};
  }
};

// An option's value as the user wrote it.
struct DataOption {
  std::string value;
  SourceMark mark;
  SourceMark key_mark = {};            // of the option's name; the same as `mark` where it has none
  std::vector<DataOption> items = {};  // of a list, one at least; `value` is "" then
  bool reported = false;               // its value was reported as an error already
  bool mended = false;                 // the same of its comma, for which `value` has a point
};

// SplitDataset() chooses samples in one of these ways.
enum class SplitOrder : uint8_t {
  kRandom,  // by the seed
  kInOrder  // the last of all are `test`, those before them `valid`: of samples that continue each
            // other
};

// Parts of the samples that are taken away from a set: SplitDataset().
struct DataSplit {
  double fraction = 0;  // of `valid`
  uint64_t seed = 0;
  double test = 0;  // the part of `test`
  SplitOrder order = SplitOrder::kRandom;
};

struct TablePart;

struct DataOptions {
  SourceMark mark;     // of the data set, for what is missing
  std::string folder;  // relative paths start here; empty: the working directory
  std::map<std::string, DataOption> values;
  int64_t memory_limit = kNoLimit;    // the most bytes that decoded_bytes() may become
  int64_t memory_cap = 0;             // on the run, of which the limit is left; 0: of free memory
  std::string cap_flag = "--memory";  // that sets this cap
  // If samples do not fit, they lie in files without a name in this folder; "": they are refused.
  // The number is the most bytes that such samples may take in memory.
  std::string stream_folder = {};
  int64_t most_in_memory = kNoLimit;
  std::vector<DataField> fields;      // of the model's placeholders, for formats that ask
  bool may_have_more_fields = false;  // others may stand in what of the model could not be read
  std::map<std::string, SourceMark> field_marks;  // of these placeholders, where they are known
  const Dataset* train = nullptr;  // for other sets of a model: the one whose labels they share
  // These findings are kept by the weights and used to read the data; null without any. They come
  // before those that would be found in the data, or are among those of `train`.
  const DataFindings* kept = nullptr;
  // If these are the training data, `split` says how much will be split away as `valid` and `test`.
  // A format leaves those samples out when it computes findings about the training data, such as
  // the means of columns.
  std::optional<DataSplit> split = std::nullopt;
  int readers = 2;  // threads that read at once without waiting for each other
  // Samples to predict: each has an answer, so that none is left out, and what is unknown is warned
  // of. `predicted_as` is the place of the options in the model file, "data.train"; may be "".
  bool to_predict = false;
  std::string predicted_as = {};
  // `group_by` of the model's data: the column of a table that names the group of a row. It is no
  // feature unless an option lists it.
  std::optional<DataOption> group_by = std::nullopt;
  // These rows of a table are read instead of its file, which is in memory; null: the file is read.
  const TablePart* part = nullptr;
};

// Says which values an option may have, beside one text.
struct DataOptionValues {
  bool list = false;     // or a list of texts
  bool integer = false;  // an integer alone, of this range
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  std::span<const std::string_view> choices = {};  // one of these alone, where there are any
  // If the values are of another kind, this function reports an invalid one. It is null where all
  // are valid.
  void (*check)(const DataOption&, Diagnostics&) = nullptr;
};

// A line of the format table.
struct DataOptionSpec {
  std::string_view name;
  bool required;
  std::string_view doc;
  DataOptionValues values = {};
};

struct DataFormat {
  std::string_view name;
  std::string_view doc;
  std::span<const DataOptionSpec> options;
  // Returns null after an error. Options that are unknown, or required and missing, were reported
  // before.
  std::unique_ptr<Dataset> (*open)(const DataOptions&, Diagnostics&);
  // If further options are the names of DataOptions::fields, this text says what they mean.
  std::string_view field_option_doc = "";
  bool field_option_list = false;         // whether their values may be lists
  std::string_view field_option_of = "";  // the option that names those that may have one; "": all
  // If an option asks for labels, these are that option and how it is written.
  std::string_view label_option = "", label_help = "";
  // If each file of the format can be wrong on its own, this function reports the wrong ones. It is
  // called where the training data have failed, so that the set cannot be opened. It is null for
  // other formats.
  void (*check_files)(const DataOptions&, Diagnostics&) = nullptr;
};

// Returns all formats, ordered by name.
std::span<const DataFormat* const> DataFormats();

// Names that options have in other programs. Each leads to an option of some format.
std::span<const Synonym> DataOptionSynonyms();

// Checks all that can be told without opening anything: the format, the names of options, and their
// values (DataOptionValues). If the format is unknown, the options are checked as those of the
// format that is probably meant, or of all formats. Returns the format, or null after an error.
const DataFormat* CheckDataset(const DataOption& format, const DataOptions& options,
                               Diagnostics& diagnostics);

// Opens the data set of format `format`. Returns null after errors in `diagnostics`: an unknown
// format or option (did you mean), a missing option, a bad value or file, each at its mark.
std::unique_ptr<Dataset> OpenDataset(const DataOption& format, const DataOptions& options,
                                     Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_DATASET_H_
