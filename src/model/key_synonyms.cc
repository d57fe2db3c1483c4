// The table of synonyms: Caffe, Keras, PyTorch, ONNX, darknet.
#include "src/model/key_synonyms.h"

namespace cgrun {
namespace {

constexpr Synonym kSynonyms[] = {
    {"outchannels", "filters"},
    {"channels", "filters"},
    {"numoutput", "filters"},
    {"numfilter", "filters"},
    {"numfilters", "filters"},
    {"outplanes", "filters"},
    {"units", "filters"},
    {"filters", "units"},
    {"neurons", "units"},
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
    {"ignoreindex", "ignore_label"},
    {"ignoreclass", "ignore_label"},
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
    {"dataset", "data"},
    {"dtype", "type"},
    {"size", "shape"},
};

}  // namespace

std::span<const Synonym> KeySynonyms() { return kSynonyms; }

std::string SuggestKey(std::string_view name, std::span<const std::string> known) {
  return SuggestSynonym(name, known, kSynonyms);
}

}  // namespace cgrun
