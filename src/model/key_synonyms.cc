// The table of synonyms: Caffe, Keras, PyTorch, ONNX, darknet.
#include "src/model/key_synonyms.h"

#include <algorithm>
#include <cctype>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

struct Synonym {
  std::string_view theirs;  // in small letters, without '_' and '-'
  std::string_view ours;
};

constexpr Synonym kSynonyms[] = {
    {"outchannels", "filters"},
    {"channels", "filters"},
    {"numoutput", "filters"},
    {"numfilter", "filters"},
    {"numfilters", "filters"},
    {"outfeatures", "units"},
    {"features", "units"},
    {"hidden", "units"},
    {"numoutput", "units"},
    {"numclasses", "units"},
    {"output", "units"},
    {"kernelsize", "kernel"},
    {"kernelshape", "kernel"},
    {"poolsize", "kernel"},
    {"size", "kernel"},
    {"strides", "stride"},
    {"pad", "padding"},
    {"pads", "padding"},
    {"dilations", "dilation"},
    {"dilationrate", "dilation"},
    {"group", "groups"},
    {"usebias", "bias"},
    {"biasterm", "bias"},
    {"eps", "epsilon"},
    {"p", "rate"},
    {"ratio", "rate"},
    {"dropoutratio", "rate"},
    {"probability", "rate"},
    {"dim", "axis"},
    {"act", "activation"},
    {"nonlinearity", "activation"},
    {"initializer", "init"},
    {"kernelinitializer", "init"},
    {"weightfiller", "init"},
    {"kernelregularizer", "regularize"},
    {"weightdecay", "regularize"},
    {"learningrate", "lr"},
    {"baselr", "lr"},
    {"rate", "lr"},
    {"lrscheduler", "schedule"},
    {"lrpolicy", "schedule"},
    {"policy", "schedule"},
    {"batchsize", "batch"},
    {"numepochs", "epochs"},
    {"maxepochs", "epochs"},
    {"nepochs", "epochs"},
    {"iterations", "steps"},
    {"maxiter", "steps"},
    {"maxbatches", "steps"},
    {"maxsteps", "steps"},
    {"gradientaccumulation", "accumulate"},
    {"gradaccumulation", "accumulate"},
    {"itersize", "accumulate"},
    {"subdivisions", "accumulate"},
    {"clipnorm", "clip"},
    {"clipgradients", "clip"},
    {"gradclip", "clip"},
    {"earlystopping", "early_stop"},
    {"randomseed", "seed"},
    {"dtype", "precision"},
    {"solver", "optimizer"},
    {"layers", "ops"},
    {"name", "model"},
    {"path", "folder"},
    {"directory", "folder"},
    {"dir", "folder"},
    {"root", "folder"},
    {"filename", "file"},
    {"dataset", "data"},
    {"dtype", "type"},
    {"size", "shape"},
};

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

}  // namespace

std::string SuggestKey(std::string_view name, std::span<const std::string> known) {
  const std::string plain = Plain(name);
  for (const Synonym& synonym : kSynonyms) {
    const bool here = std::find(known.begin(), known.end(), synonym.ours) != known.end();
    if (synonym.theirs == plain && here) return "write '" + std::string(synonym.ours) + "'";
  }
  return SuggestName(name, known);
}

}  // namespace cgrun
