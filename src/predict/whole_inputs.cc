// Reads what inputs without a batch are given.
#include "src/predict/whole_inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/base/tensor_text.h"
#include "src/io/file_error.h"
#include "src/io/npy_file.h"
#include "src/model_data/sample_shape.h"

namespace cgrun {
namespace {

bool IsFile(const std::string& text) {
  std::error_code error;
  return text.ends_with(".npy") || text.ends_with(".npy.gz") ||
         std::filesystem::exists(text, error);
}

HostTensor ReadFileOf(const DataField& field, const std::string& path) {
  const HostTensor read = ReadNpy(path);
  if (read.shape() != field.shape) {
    ThrowFileError(path,
                   "holds " + read.shape().ToString() + ", but input '" + field.name + "' is " +
                       TypeText(field),
                   "an input without a batch is read as a whole");
  }
  std::optional<HostTensor> converted = ConvertTensor(read, field.dtype);
  if (converted) return *std::move(converted);
  ThrowFileError(path, "holds numbers that are no " + std::string(Name(field.dtype)) +
                           ", as input '" + field.name + "' is");
}

HostTensor ParseValueOf(const DataField& field, const std::string& text) {
  std::optional<HostTensor> value = ParseTensor(text, field.dtype);
  const bool is_one = value && value->shape().rank() == 0 && field.shape.Elements() == 1;
  if (value && value->shape() == field.shape) return *std::move(value);
  if (is_one) {
    HostTensor shaped(field.dtype, field.shape);
    std::ranges::copy(value->bytes(), shaped.bytes().begin());
    return shaped;
  }
  throw InputError("'" + text + "' is neither a file nor a value of input '" + field.name +
                       "', which is " + TypeText(field),
                   "write a number, a list such as `[1, 2]`, or the name of an .npy file");
}

// The place of the field that an argument is for; nothing where it is for none of them.
std::optional<size_t> FieldOf(const std::vector<DataField>& fields, bool alone,
                              const std::string& argument, std::string* text) {
  const size_t equals = argument.find('=');
  for (size_t i = 0; equals != argument.npos && i < fields.size(); ++i) {
    if (argument.substr(0, equals) != fields[i].name) continue;
    *text = argument.substr(equals + 1);
    return i;
  }
  *text = argument;
  if (alone && fields.size() == 1) return size_t{0};
  return std::nullopt;
}

}  // namespace

std::vector<WholeInput> TakeWholeInputs(const std::vector<DataField>& fields, bool alone,
                                        std::vector<std::string>& arguments) {
  std::vector<std::optional<WholeInput>> taken(fields.size());
  std::vector<std::string> others;
  for (const std::string& argument : arguments) {
    std::string text;
    const std::optional<size_t> at = FieldOf(fields, alone, argument, &text);
    if (!at) {
      others.push_back(argument);
      continue;
    }
    if (taken[*at]) {
      throw InputError("input '" + fields[*at].name + "' is given twice",
                       "an input without a batch takes one file or value");
    }
    const bool is_file = IsFile(text);
    taken[*at] = WholeInput{
        text, is_file, is_file ? ReadFileOf(fields[*at], text) : ParseValueOf(fields[*at], text)};
  }
  std::vector<WholeInput> inputs;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!taken[i]) {
      throw InputError(
          "nothing is given for input '" + fields[i].name + "'",
          "it has no batch and takes one file or value: `" + fields[i].name + "=FILE.npy`");
    }
    inputs.push_back(*std::move(taken[i]));
  }
  arguments = std::move(others);
  return inputs;
}

}  // namespace cgrun
