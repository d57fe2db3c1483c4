// One of ONNX's node tests: a model, with inputs and the outputs that they must give.
#ifndef CGRUN_TESTS_ONNX_CONFORMANCE_CONFORMANCE_CASE_H_
#define CGRUN_TESTS_ONNX_CONFORMANCE_CONFORMANCE_CASE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/import/import.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

enum class Verdict { kPassed, kFailed, kLeftOut };

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string reason = {};  // says why it failed or is left out
};

// Says what a test is about.
struct ConformanceKind {
  std::string op;         // its operator; "several operators" where it has several nodes
  bool in_scope = false;  // tensors of our number types, standard operators without control flow,
                          // shapes that do not depend on data
};

// Returns the bytes of a file by its name below the folder of a test, such as
// "test_data_set_0/input_0.pb"; nothing where there is none.
using ReadTestFile = std::function<std::optional<std::string>(const std::string& name)>;

// Reads and runs a test.
class ConformanceCase {
 public:
  // `model` is the path of its model, `read` reads its data. UserError where the model cannot be
  // read.
  ConformanceCase(const std::string& model, ReadTestFile read);

  ConformanceKind Kind() const;
  // Imports the model for each set of data. It is imported as the file is, or with the sizes of the
  // data, or with all inputs but the first as constants. The last way is the only one where one of
  // these has no elements. Then it runs in graph mode and in eager mode. Both must give the outputs
  // to 1e-3 relative or 1e-5 absolute.
  Outcome Run();

 private:
  using Tensors = std::map<std::string, HostTensor>;  // by the name of the value

  // Returns nothing where a value is no tensor of our number types.
  std::optional<Tensors> ReadValues(const std::string& set, const std::string& kind,
                                    const std::vector<onnx::ValueInfo>& values) const;
  std::map<std::string, int64_t> SizesOf(const Tensors& inputs) const;
  // Leaves in `inputs` those that are no constants. Nothing, with the reason, where none is
  // possible.
  std::optional<ImportedModel> Import(Tensors* inputs, std::string* reason);
  Outcome RunSet(const std::string& set);

  onnx::OnnxFile file_;
  ReadTestFile read_;
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_ONNX_CONFORMANCE_CONFORMANCE_CASE_H_
