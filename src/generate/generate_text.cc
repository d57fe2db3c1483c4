// The states of a recurrent model are those before the current `length` tokens: these are read
// again for each token, so that the model runs as it was trained, and then the states move on.
#include "src/generate/generate_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "src/base/check.h"
#include "src/base/random.h"
#include "src/data/lines_dataset.h"
#include "src/data/text_number.h"
#include "src/fit/predict_memory.h"
#include "src/frontend/frontend.h"
#include "src/model_data/data_findings.h"
#include "src/model_data/token_names.h"
#include "src/run/measured_memory.h"

namespace cgrun {
namespace {

// Makes the model a function that takes text and states and gives scores and states.
ModelSpec StepOf(const ModelSpec& model) {
  ModelSpec step = model;
  step.keep.clear();
  for (const StateUpdate& update : model.update) step.keep.push_back(update.value);
  step.update.clear();
  return step;
}

bool IsWhole(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kI32 || dtype == DType::kI64;
}

// Finds out which input is what. Returns false where they are not those of a text.
bool MatchTextInputs(const ModelSpec& model, TextModel& text) {
  const std::vector<DataField>& inputs = text.signature.inputs;
  size_t others = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsCarried(model, inputs[i].name)) continue;
    if (!IsWhole(inputs[i].dtype)) return false;
    if (inputs[i].name == "length" && inputs[i].shape.Elements() == 1) {
      text.count = i;
      continue;
    }
    text.text = i;
    text.length = inputs[i].shape.Elements();
    ++others;
  }
  return others == 1;
}

// Finds the output that has a score of each token for each place. Returns false if there is none.
// An output that a loss reads has its classes on the first axis.
bool MatchTextOutput(TextModel& text) {
  const std::vector<PredictedOutput>& outputs = text.signature.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape& shape = outputs[i].shape;
    if (outputs[i].kept || shape.rank() != 2) continue;
    text.tokens_first = !outputs[i].label_input.empty();
    if (shape[text.tokens_first ? 1 : 0].size != text.length) continue;
    text.output = i;
    text.tokens = shape[text.tokens_first ? 0 : 1].size;
    return true;
  }
  return false;
}

void MatchStates(const ModelSpec& model, TextModel& text) {
  size_t kept = 0;
  for (const StateUpdate& update : model.update) {
    const std::vector<DataField>& inputs = text.signature.inputs;
    const auto input = std::ranges::find(inputs, update.state.value, &DataField::name);
    while (kept < text.signature.outputs.size() && !text.signature.outputs[kept].kept) ++kept;
    if (input == inputs.end() || kept == text.signature.outputs.size()) return;  // is never read
    text.states.push_back({static_cast<size_t>(input - inputs.begin()), kept++});
  }
}

void Put(HostTensor& tensor, size_t place, int64_t value) {
  const auto write = [&]<class T>(T number) {
    std::memcpy(tensor.bytes().data() + place * sizeof(T), &number, sizeof(T));
  };
  if (tensor.dtype() == DType::kU8) return write(static_cast<uint8_t>(value));
  if (tensor.dtype() == DType::kI32) return write(static_cast<int32_t>(value));
  write(value);
}

}  // namespace

std::optional<TextModel> DescribeTextModel(const ModelSpec& model, DType precision,
                                           Diagnostics& diagnostics) {
  const DataSpec* spec = TextSpecOf(model);
  CGRUN_CHECK(spec != nullptr) << "no model of texts";
  TextModel text;
  text.step = StepOf(model);
  text.kind = *TokensOf(model);
  text.pad = std::atoi(OptionOf(*spec, "pad", "0").c_str());
  auto signature = DescribePredictions(text.step, precision, true, diagnostics);
  if (!signature) return std::nullopt;
  text.signature = *std::move(signature);
  if (!MatchTextInputs(model, text) || !MatchTextOutput(text)) {
    diagnostics.Error({},
                      model.file_name +
                          " writes no text: no output of it has scores of a token "
                          "for each place of its input",
                      "what `softmax_cross_entropy` compares with `next` is such an output, "
                      "[tokens, length]: `out: NAME` of its path names it");
    return std::nullopt;
  }
  MatchStates(model, text);
  return text;
}

TextWriter::TextWriter(const TextModel& model, const WriteTextOptions& options,
                       Diagnostics& diagnostics)
    : model_(model), options_(options) {
  device_ = OpenDevice(options.device);
  const KernelLibrary* library = FindKernelLibrary(options.device);
  CGRUN_CHECK(library != nullptr) << "no kernels for " << options.device;
  if (model.of_words()) {
    const DataFindings kept = FindingsIn(options.weights);
    const auto words = kept.names.find(kVocabularyKey);
    if (words == kept.names.end()) {
      throw InputError(options.weights + " keeps no vocabulary, which the model's words need",
                       "weights of `cgrun train` keep it: train the model again");
    }
    vocabulary_ = std::make_shared<const Vocabulary>(words->second);
  }
  CompileOptions compile = options.compile;
  compile.keeps = EntryKind::kPredict;
  constexpr int64_t kTokenBytes = 64;  // its number and its text, in vectors that have grown
  auto [engine, memory] =
      BuildPredictEngine(model.step, 1, options.mode, compile, {*library, *device_, communicator_},
                         {options.count * kTokenBytes,
                          {"a smaller model needs less", "fewer tokens need less (`--count N`)"}},
                         diagnostics);
  if (!engine) return;
  memory_ = memory;
  weights_ = LoadWeights(*engine, options.weights, WeightsScope::kModel, model.step.rename);
  const EngineEntry& entry = engine->model().entries[0];
  for (const EnginePort& result : entry.results) {
    outputs_.emplace_back(result.type.dtype, result.type.shape);
  }
  for (const DataField& input : model.signature.inputs) {
    const auto feed = std::ranges::find(entry.feeds, input.name, &EnginePort::name);
    CGRUN_CHECK(feed != entry.feeds.end()) << "no feed " << input.name;
    feeds_.push_back(static_cast<int>(feed - entry.feeds.begin()));
    inputs_.emplace_back(feed->type.dtype, feed->type.shape);
  }
  // Feeds on which no prediction depends are set to zeros.
  for (size_t i = 0; i < entry.feeds.size(); ++i) {
    const HostTensor nothing(entry.feeds[i].type.dtype, entry.feeds[i].type.shape);
    engine->Feed(0, static_cast<int>(i), nothing.bytes());
  }
  engine_ = std::move(engine);
}

const MemoryUse& TextWriter::MeasureMemory() {
  NoteMeasured(*engine_, *device_, memory_);
  return memory_;
}

// Reads a token of a model whose tokens are ids.
int32_t TextWriter::IdOf(std::string_view token) const {
  const std::optional<int32_t> id = ParseInt32(token);
  if (id && *id >= 0 && *id < model_.tokens) return *id;
  throw InputError("'" + std::string(token) + "' is no id of this model",
                   "its ids are 0 to " + std::to_string(model_.tokens - 1));
}

std::vector<int32_t> TextWriter::TokensOf(std::string_view text) const {
  std::vector<int32_t> tokens;
  ForEachToken(text, model_.kind, [&](std::string_view token) {
    tokens.push_back(model_.of_words()                  ? vocabulary_->Find(token)
                     : model_.kind == TokenKind::kBytes ? static_cast<unsigned char>(token[0])
                                                        : IdOf(token));
    return true;
  });
  if (tokens.empty() && model_.kind == TokenKind::kBytes) tokens.push_back('\n');
  if (!tokens.empty()) return tokens;
  throw InputError("there is nothing to go on from",
                   "`--prompt TEXT` gives the beginning, of one word at least");
}

std::string TextWriter::TextOf(int32_t token) const {
  if (model_.kind == TokenKind::kBytes) return std::string(1, static_cast<char>(token));
  if (!model_.of_words()) return " " + std::to_string(token);
  const int32_t word = token - Vocabulary::kFirstWord;
  return " " + vocabulary_->words()[static_cast<size_t>(word)];
}

void TextWriter::Run(const std::vector<int32_t>& tokens, size_t begin) {
  HostTensor& text = inputs_[model_.text];
  const auto length = static_cast<size_t>(model_.length);
  for (size_t i = 0; i < length; ++i) {
    Put(text, i, begin + i < tokens.size() ? tokens[begin + i] : model_.pad);
  }
  if (model_.count) {
    const size_t count = std::min(length, tokens.size() - begin);
    Put(inputs_[*model_.count], 0, static_cast<int64_t>(count));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) engine_->Feed(0, feeds_[i], inputs_[i].bytes());
  engine_->Run(0);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    engine_->Fetch(0, static_cast<int>(i), outputs_[i].bytes());
  }
}

std::vector<double> TextWriter::ScoresBehind(const std::vector<int32_t>& tokens) {
  const auto length = static_cast<size_t>(model_.length);
  if (model_.states.empty()) {
    begin_ = tokens.size() > length ? tokens.size() - length : 0;
  }
  for (; tokens.size() - begin_ > length; begin_ += length) {
    Run(tokens, begin_);
    for (const TextModel::State& state : model_.states) {
      std::ranges::copy(outputs_[state.output].bytes(), inputs_[state.input].bytes().begin());
    }
  }
  Run(tokens, begin_);
  const auto place = static_cast<int64_t>(tokens.size() - begin_ - 1);
  std::vector<double> scores(static_cast<size_t>(model_.tokens));
  for (int64_t token = 0; token < model_.tokens; ++token) {
    const int64_t at =
        model_.tokens_first ? token * model_.length + place : place * model_.tokens + token;
    scores[static_cast<size_t>(token)] = outputs_[model_.output].At(at);
  }
  return scores;
}

// The token whose share of the probabilities a random number falls into.
int32_t TextWriter::Draw(std::vector<double> scores, uint64_t place) const {
  // Padding and unknown words are none, nor what has a score without a meaning.
  const size_t first = model_.of_words() ? Vocabulary::kFirstWord : 0;
  size_t end = scores.size();
  if (model_.of_words()) end = std::min(end, static_cast<size_t>(vocabulary_->ids()));
  if (model_.kind == TokenKind::kBytes) end = std::min<size_t>(end, 256);
  const auto best = first >= end
                        ? scores.end()
                        : std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(first),
                                           scores.begin() + static_cast<std::ptrdiff_t>(end));
  if (best == scores.end() || !std::isfinite(*best)) {
    throw UserError("the model's scores are not finite",
                    "the weights may have diverged; `cgrun eval` measures them");
  }
  const auto greedy = static_cast<int32_t>(best - scores.begin());
  if (options_.temperature == 0) return greedy;
  const double largest = *best;
  double sum = 0;
  for (size_t i = first; i < end; ++i) {
    sum += scores[i] = std::exp((scores[i] - largest) / options_.temperature);
  }
  if (!std::isfinite(sum)) {
    throw UserError("the model's scores are not numbers",
                    "the weights may have diverged; `cgrun eval` measures them");
  }
  const uint64_t key = RandomKey(options_.seed, "generate/text");
  double left = sum * static_cast<double>(RandomBits(key, 0, place)) * 0x1.0p-32;
  for (size_t i = first; i < end; ++i) {
    left -= scores[i];
    if (left < 0) return static_cast<int32_t>(i);
  }
  return greedy;
}

std::string TextWriter::Write(std::string_view prompt) {
  std::vector<int32_t> tokens = TokensOf(prompt);
  begin_ = 0;
  for (const TextModel::State& state : model_.states) {
    std::ranges::fill(inputs_[state.input].bytes(), std::byte{0});
  }
  std::string written;
  for (int64_t i = 0; i < options_.count; ++i) {
    tokens.push_back(Draw(ScoresBehind(tokens), static_cast<uint64_t>(i)));
    written += TextOf(tokens.back());
  }
  return written;
}

}  // namespace cgrun
