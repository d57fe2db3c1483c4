// Text that a model writes, a token at a time: what `cgrun generate --prompt` shows. Each token is
// drawn by what the model says of the one behind those before it.
#ifndef CGRUN_GENERATE_GENERATE_TEXT_H_
#define CGRUN_GENERATE_GENERATE_TEXT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/compile/compile.h"
#include "src/data/token_text.h"
#include "src/data/vocabulary.h"
#include "src/predict/predict.h"
#include "src/run/engine.h"
#include "src/run/weights.h"

namespace cgrun {

// Describes how a model reads a text and predicts what follows.
struct TextModel {
  ModelSpec step;  // the model, but that recurrent states are inputs, and their next values kept
  PredictSignature signature;   // of it
  size_t text = 0;              // among its inputs: the tokens, [length]
  std::optional<size_t> count;  // the input that takes how many there are
  int64_t length = 1;
  size_t output = 0;         // among its outputs: scores of [tokens, length], …
  bool tokens_first = true;  // … or of [length, tokens]
  int64_t tokens = 0;
  TokenKind kind = TokenKind::kBytes;
  int32_t pad = 0;

  // A state: the input that takes it, and the output that is its next value.
  struct State {
    size_t input, output;
  };
  std::vector<State> states;

  bool of_words() const { return kind == TokenKind::kWords; }
};

// Describes a model that learns what follows in a text, as TokensOf() says. After an error, such as
// that no output has scores of a token for each place, the result is empty.
std::optional<TextModel> DescribeTextModel(const ModelSpec& model, DType precision,
                                           Diagnostics& diagnostics);

struct WriteTextOptions {
  std::string device = "reference";
  Mode mode = Mode::kGraph;
  CompileOptions compile;
  std::string weights;     // a file
  int64_t count = 200;     // tokens to write
  double temperature = 1;  // 0: always the most probable token
  uint64_t seed = 0;
};

class TextWriter {
 public:
  // Errors of the model go to `diagnostics`: then it is not ready. Throws UserError for the rest,
  // such as weights that keep no vocabulary where the model's tokens are words.
  TextWriter(const TextModel& model, const WriteTextOptions& options, Diagnostics& diagnostics);

  bool ready() const { return engine_ != nullptr; }
  const WeightsReport& weights() const { return weights_; }
  // The result has the memory as planned, and as measured until now.
  const MemoryUse& MeasureMemory();

  // Goes on from `prompt`, of which a model with recurrent state reads all, and another one as much
  // as fits its length. Returns what it has written, without the prompt. UserError for a prompt
  // without a token, unless tokens are bytes: then it begins behind the end of a line.
  std::string Write(std::string_view prompt);

 private:
  std::vector<int32_t> TokensOf(std::string_view text) const;
  int32_t IdOf(std::string_view token) const;
  std::string TextOf(int32_t token) const;
  // Returns the scores of the token behind `tokens`.
  std::vector<double> ScoresBehind(const std::vector<int32_t>& tokens);
  // Runs the model on tokens from `begin`.
  void Run(const std::vector<int32_t>& tokens, size_t begin);
  int32_t Draw(std::vector<double> scores, uint64_t place) const;

  const TextModel& model_;
  const WriteTextOptions options_;
  std::unique_ptr<Device> device_;
  SingleProcess communicator_;
  std::unique_ptr<Engine> engine_;
  MemoryUse memory_;
  WeightsReport weights_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // of words
  std::vector<HostTensor> inputs_;                // of the signature
  std::vector<HostTensor> outputs_;               // the same
  std::vector<int> feeds_;                        // of the inputs: which feed of the engine each is
  size_t begin_ = 0;                              // of the tokens that are behind the states
};

}  // namespace cgrun

#endif  // CGRUN_GENERATE_GENERATE_TEXT_H_
