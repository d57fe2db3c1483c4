// Reads the images, NumPy arrays and tables that the user names, sample by sample. A file that
// cannot be used is noted, and the others go on.
#ifndef CGRUN_PREDICT_PREDICT_SOURCE_H_
#define CGRUN_PREDICT_PREDICT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/image_resample.h"
#include "src/data/sample_store.h"
#include "src/predict/predict_table.h"
#include "src/predict/whole_inputs.h"
#include "src/results/prediction.h"

namespace cgrun {

class PredictSource {
 public:
  // `arguments` are files, folders, or `INPUT=FILE` where a model reads several inputs, which
  // `wanted` lists. A folder gives all images and .npy files in it and below, by name, and its
  // tables where the model's data are tables. A table feeds all inputs.
  //
  // Images become samples as `fit` says, and rows of tables as `tables` does, which outlives this.
  // `whole` are inputs without a batch, which take one file or value each. If there are no other
  // inputs, there is one sample. Throws InputError if the arguments do not say which input a file
  // is for, or if several inputs have different numbers of samples.
  PredictSource(const std::vector<std::string>& arguments, std::vector<DataField> wanted,
                ImageFit fit, const TableReader& tables, const std::vector<DataField>& whole = {});

  // Counts the samples as if every file turns out to be whole.
  int64_t samples() const;
  // The most memory that files take at a time while they are read, but for what decoding them
  // takes of the heap in passing, in bytes.
  int64_t reading_bytes() const;
  // Paths of all files that were named and can be read as far as is known.
  std::vector<std::string> files() const;
  const std::vector<FileProblem>& problems() const { return problems_; }
  // Returns the files and values of the inputs without a batch, in their order.
  const std::vector<WholeInput>& whole() const { return whole_; }
  // Returns warnings about the files that are read, such as that categories are unknown.
  const Diagnostics& warnings() const { return warnings_; }
  // Returns notes on the files: Dataset::Notes().
  const std::vector<std::string>& notes() const { return notes_; }

  // Writes the next sample into `out`, a span a wanted input with its bytes; false at the end.
  // InputError for a bad file where there are several inputs: their samples belong together.
  bool Next(std::span<const std::span<std::byte>> out, SampleOrigin* origin);

 private:
  struct File {
    std::string path;
    bool is_array = false;
    int64_t samples = 1;
    bool is_table = false;
    bool feeds_all = false;  // a table that has the fields of all inputs
    int64_t bytes = 0;       // of memory, while it is read
  };
  // The files of one input, and how far they are read.
  struct Stream {
    DataField field;
    std::vector<File> files;
    size_t file = 0;
    int64_t sample = 0;
    SampleStore array = {};                        // of the current file
    PredictTable table = {};                       // the same
    std::vector<std::vector<std::byte>> row = {};  // of that table, by field
  };

  void AddArgument(const std::string& argument);
  void AddShared(const std::string& path);
  std::vector<DataField> FieldsOf(const Stream& stream, const File& file) const;
  void AddFolder(Stream& stream, const std::string& folder);
  void AddFile(Stream& stream, const std::string& path);
  Stream& StreamOf(const std::string& argument, std::string* path);
  std::string ExampleByName() const;
  void CheckGiven() const;
  void CheckCounts() const;
  int64_t CountRows(const std::string& path, const std::vector<DataField>& fields);
  File Describe(const DataField& field, const std::string& path);
  File DescribeImage(const DataField& field, const std::string& path) const;
  bool NextOf(Stream& stream, std::span<std::byte> out, SampleOrigin* origin);
  void Load(Stream& stream, const File& file, std::span<std::byte> out);
  void LoadRow(Stream& stream, const File& file, std::span<std::byte> out);
  void Note(FileProblem problem);

  ImageFit fit_;
  const TableReader& tables_;
  std::vector<Stream> streams_;
  std::vector<WholeInput> whole_;
  bool is_over_ = false;     // without streams: the one sample is read
  std::string shared_path_;  // of the table below, which several inputs read
  PredictTable shared_table_;
  std::vector<FileProblem> problems_;
  Diagnostics warnings_;
  std::vector<std::string> notes_;
};

}  // namespace cgrun

#endif  // CGRUN_PREDICT_PREDICT_SOURCE_H_
