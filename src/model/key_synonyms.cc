// The synonyms and notes in these tables come from Caffe, Keras, PyTorch, ONNX and darknet.
#include "src/model/key_synonyms.h"

#include <algorithm>

#include "src/base/diagnostics.h"
#include "src/base/name_notes.h"

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
    {"size", "units"},
    {"dim", "units"},
    {"strides", "stride"},
    {"pad", "padding"},
    {"pads", "padding"},
    {"dilations", "dilation"},
    {"dilationrate", "dilation"},
    {"group", "groups"},
    {"saveevery", "checkpoint_every"},
    {"savefrequency", "checkpoint_every"},
    {"snapshot", "checkpoint_every"},
    {"usebias", "bias"},
    {"ignoreindex", "ignore_label"},
    {"ignoreclass", "ignore_label"},
    {"biasterm", "bias"},
    {"eps", "epsilon"},
    {"p", "rate"},
    {"prob", "rate"},
    {"dropprob", "rate"},
    {"droprate", "rate"},
    {"ratio", "rate"},
    {"dropoutratio", "rate"},
    {"probability", "rate"},
    {"dim", "axis"},
    {"numembeddings", "entries"},
    {"embeddingdim", "units"},
    {"inputdim", "entries"},
    {"outputdim", "units"},
    {"negativeslope", "slope"},
    {"alpha", "slope"},
    {"act", "activation"},
    {"nonlinearity", "activation"},
    {"initializer", "init"},
    {"weightinit", "init"},
    {"weightinitializer", "init"},
    {"freeze", "frozen"},
    {"kernelinitializer", "init"},
    {"weightfiller", "init"},
    {"kernelregularizer", "regularize"},
    {"weightdecay", "regularize"},
    {"learningrate", "lr"},
    {"learnrate", "lr"},
    {"baselr", "lr"},
    {"rate", "lr"},
    {"lrscheduler", "schedule"},
    {"scheduler", "schedule"},
    {"lrschedule", "schedule"},
    {"lrpolicy", "schedule"},
    {"policy", "schedule"},
    {"batchsize", "batch"},
    {"minibatch", "batch"},
    {"numepochs", "epochs"},
    {"maxepochs", "epochs"},
    {"nepochs", "epochs"},
    {"iterations", "steps"},
    {"maxiter", "steps"},
    {"maxbatches", "steps"},
    {"maxsteps", "steps"},
    {"gradientaccumulation", "accumulate"},
    {"gradaccumulation", "accumulate"},
    {"gradaccum", "accumulate"},
    {"accumulategradbatches", "accumulate"},
    {"gradientaccumulationsteps", "accumulate"},
    {"itersize", "accumulate"},
    {"subdivisions", "accumulate"},
    {"monitor", "metric"},
    {"earlystopping", "early_stop"},
    {"randomseed", "seed"},
    {"dtype", "precision"},
    {"solver", "optimizer"},
    {"layers", "ops"},
    {"name", "model"},
    {"dataset", "data"},
    {"partitionby", "group_by"},
    {"groupcolumn", "group_by"},
    {"datasets", "data"},
    {"training", "train"},
    {"validation", "valid"},
    {"val", "valid"},
    {"dev", "valid"},
    {"testing", "test"},
    {"holdout", "test"},
    {"gpu", "device"},
    {"criterion", "loss"},
    {"objective", "loss"},
    {"lossfunction", "loss"},
    {"lossfn", "loss"},
    {"metric", "metrics"},
    {"input", "in"},
    {"inputs", "in"},
    {"target", "in"},
    {"targets", "in"},
    {"labels", "in"},
    {"predictions", "in"},
    {"bottom", "in"},
    {"top", "out"},
    {"dtype", "type"},
    {"type", "format"},
    {"kind", "format"},
    {"size", "shape"},
};

constexpr std::string_view kSizeIsKnown =
    "leave it out: the operator knows the size of what it reads";
constexpr std::string_view kOrderOfAxes =
    "leave it out: the order of axes is [N, channels, height, width]";
constexpr std::string_view kIsChanged =
    "samples are changed by operators of a path: `normalize`, `resize`, `random_crop`, "
    "`random_flip` and others (`cgrun ops`)";
constexpr std::string_view kOfSchedule =
    "it belongs in the schedule: `schedule: {step: {every: 10, factor: 0.1}}`, `cosine` and "
    "others";
constexpr std::string_view kIsBatchNorm =
    "it is an operator of its own, behind this one: `- batch_norm`, then `- relu` for an "
    "`activation`";
constexpr std::string_view kIsNorm =
    "it is an operator of its own, behind this one: `- batch_norm` or `- layer_norm`";
constexpr std::string_view kIsDropout =
    "it is an operator of its own, behind this one: `- {op: dropout, rate: 0.5}`";
constexpr std::string_view kIsPool =
    "it is an operator of its own, behind this one: `- {op: max_pool, kernel: 2}`";
constexpr std::string_view kIsActivation =
    "it is an operator of its own here, behind this one: `- relu`";
constexpr std::string_view kLoads =
    "leave it out: samples are read ahead by threads of the program";

constexpr std::string_view kIsClip = "write `clip: {norm: 1}`: the largest norm of all gradients";
constexpr std::string_view kIsClipOfElements =
    "write `clip: {value: 1}`: the largest absolute value of an element";
constexpr std::string_view kIsEarlyStop =
    "write `early_stop: {metric: loss, patience: 3}`: a metric of `valid`, and evaluations without "
    "progress";
constexpr std::string_view kIsInput =
    "what an operator reads stands behind `in`: of a loss `in: [OUTPUT, LABEL]`";
constexpr std::string_view kIsRegularize = "write `regularize: {l2: 1.0e-4}`";
constexpr std::string_view kIsMode =
    "leave it out: `cgrun train` trains, `eval` and `predict` do not, and operators follow that";
constexpr std::string_view kIsFrozen =
    "`frozen: true` keeps an operator's parameters as they are; without it they learn";
constexpr std::string_view kIsProgress =
    "leave it out: a terminal shows the progress, and metrics.csv has each step";
constexpr std::string_view kIsBest =
    "the best by the loss of `valid` are kept as best.safetensors; `keep_best: METRIC` chooses";
constexpr std::string_view kIsPrecision = "write `precision: bf16`";
constexpr std::string_view kIsSplit = "write `data: {valid: {split: 0.1}}`: a tenth, for example";

// Told even of what has a synonym: the value has another form here.
constexpr NameNote kForms[] = {
    {"clipnorm", "clip", kIsClip},
    {"clipgrad", "clip", kIsClip},
    {"clipgradnorm", "clip", kIsClip},
    {"clipgradients", "clip", kIsClip},
    {"globalclipnorm", "clip", kIsClip},
    {"gradclip", "clip", kIsClip},
    {"gradclipnorm", "clip", kIsClip},
    {"gradientclip", "clip", kIsClip},
    {"gradientclipval", "clip", kIsClip},
    {"gradientclipping", "clip", kIsClip},
    {"gradnorm", "clip", kIsClip},
    {"maxgradnorm", "clip", kIsClip},
    {"maxnorm", "clip", kIsClip},
    {"clipvalue", "clip", kIsClipOfElements},
    {"clipgradvalue", "clip", kIsClipOfElements},
    {"earlystopping", "early_stop", kIsEarlyStop},
    {"patience", "early_stop", kIsEarlyStop},
    {"monitor", "patience",
     "write `metric`: a name without `val_`, as `loss`; it is always that of `valid`"},
    {"target", "in", kIsInput},
    {"targets", "in", kIsInput},
    {"labels", "in", kIsInput},
    {"predictions", "in", kIsInput},
    {"kernelregularizer", "regularize", kIsRegularize},
    {"weightdecay", "regularize", kIsRegularize},
    {"l2", "regularize", kIsRegularize},
    {"l1", "regularize", "write `regularize: {l1: 1.0e-4}`"},
    {"amp", "precision", kIsPrecision},
    {"fp16", "precision", kIsPrecision},
    {"mixedprecision", "precision", kIsPrecision},
    {"validationsplit", "early_stop", kIsSplit},
    {"valsplit", "early_stop", kIsSplit},
    {"callbacks", "early_stop",
     "there are none: `early_stop: {metric: loss, patience: 3}` ends a run, `keep_best` and "
     "`checkpoint_every` keep its weights"},
};

constexpr NameNote kNotes[] = {
    {"inplace", "", "leave it out: what can be computed in place is"},
    {"infeatures", "", kSizeIsKnown},
    {"inchannels", "", kSizeIsKnown},
    {"numfeatures", "", kSizeIsKnown},
    {"inputsize", "", kSizeIsKnown},
    {"inputshape", "", kSizeIsKnown},
    {"inputdim", "", kSizeIsKnown},
    {"numinput", "", kSizeIsKnown},
    {"numchannels", "", kSizeIsKnown},
    {"dataformat", "", kOrderOfAxes},
    {"channelslast", "", kOrderOfAxes},
    {"mode", "activation", kIsMode},
    {"training", "activation", kIsMode},
    {"istraining", "activation", kIsMode},
    {"train", "activation", kIsMode},
    {"eval", "activation", kIsMode},
    {"mode", "epochs", kIsMode},
    {"mode", "cgrun", kIsMode},
    {"mode", "patience", "leave it out: it is known whether a metric gets better by rising"},
    {"mindelta", "patience", "there is none: any progress counts"},
    {"restorebestweights", "patience", kIsBest},
    {"savebest", "keep_best", kIsBest},
    {"savebestonly", "keep_best", kIsBest},
    {"checkpoint", "keep_best",
     "there is one at the end of each epoch; `checkpoint_every: STEPS` says when else"},
    {"resume", "keep_best", "`cgrun train --resume FOLDER` goes on with a run"},
    {"verbose", "epochs", kIsProgress},
    {"logevery", "epochs", kIsProgress},
    {"loginterval", "epochs", kIsProgress},
    {"ema", "epochs", "there is no average of weights in this version"},
    {"labelsmoothing", "epochs",
     "it is a key of the loss: `loss: {op: softmax_cross_entropy, label_smoothing: 0.1, …}`"},
    {"labels", "valid",
     "it is an option of a set: `train: {format: idx, images: FILE, labels: FILE}`"},
    {"images", "valid",
     "it is an option of a set: `train: {format: idx, images: FILE, labels: FILE}`"},
    {"labels", "inputs",
     "an input holds them, `inputs: {label: {type: int32, shape: []}}`, and `data` says where they "
     "come from"},
    {"trainable", "frozen", kIsFrozen},
    {"requiresgrad", "frozen", kIsFrozen},
    {"affine", "",
     "leave it out: scale and shift are always there; `frozen: {scale: true, shift: true}` keeps "
     "them at 1 and 0"},
    {"elementwiseaffine", "",
     "leave it out: scale and shift are always there; `frozen: {scale: true, shift: true}` keeps "
     "them at 1 and 0"},
    {"fromlogits", "", "leave it out: this loss always reads logits, without softmax before it"},
    {"reduction", "", "leave it out: a loss is the mean over the batch; `weight` multiplies it"},
    {"l2", "weight_decay", "write `weight_decay`"},
    {"trackrunningstats", "", "leave it out: the running statistics are always kept"},
    {"returnindices", "", "leave it out: nothing reads them"},
    {"bn", "regularize", kIsBatchNorm},
    {"batchnorm", "regularize", kIsBatchNorm},
    {"batchnormalization", "regularize", kIsBatchNorm},
    {"normalization", "regularize", kIsNorm},
    {"norm", "regularize", kIsNorm},
    {"layernorm", "regularize", kIsNorm},
    {"dropout", "regularize", kIsDropout},
    {"pool", "regularize", kIsPool},
    {"pooling", "regularize", kIsPool},
    {"maxpool", "regularize", kIsPool},
    {"activation", "block", kIsActivation},
    {"activation", "network", kIsActivation},
    {"numworkers", "", kLoads},
    {"workers", "", kLoads},
    {"pinmemory", "", kLoads},
    {"prefetch", "", kLoads},
    {"transform", "", kIsChanged},
    {"transforms", "", kIsChanged},
    {"preprocess", "", kIsChanged},
    {"preprocessing", "", kIsChanged},
    {"augment", "", kIsChanged},
    {"augmentation", "", kIsChanged},
    {"augmentations", "", kIsChanged},
    {"betas", "beta1", "write its two numbers apart: `beta1: …, beta2: …`"},
    {"momentum", "beta1", "its momentum is `beta1`"},
    {"amsgrad", "beta1", "there is no such variant of it here"},
    {"dampening", "nesterov", "leave it out: there is none here"},
    {"gamma", "schedule", kOfSchedule},
    {"stepsize", "schedule", kOfSchedule},
    {"milestones", "schedule", kOfSchedule},
    {"warmup", "optimizer",
     "it belongs in the optimizer's schedule: `schedule: {cosine: {warmup: 1}}`"},
    {"warmup", "schedule", "it belongs in the schedule: `schedule: {cosine: {warmup: 1}}`"},
    {"warmupsteps", "schedule",
     "it belongs in the schedule: `schedule: {cosine: {warmup_steps: 100}}`"},
    {"decay", "schedule", "weights decay by `weight_decay`, rates by `schedule`"},
};

}  // namespace

std::span<const Synonym> KeySynonyms() { return kSynonyms; }

std::string SuggestKey(std::string_view name, std::span<const std::string> known) {
  const std::string help = HelpWithMeantKey(name, known);
  return help.empty() ? SuggestName(name, known) : help;
}

std::string MeantKey(std::string_view name, std::span<const std::string> known) {
  return MeantName(name, known, kSynonyms);
}

std::string HelpWithMeantKey(std::string_view name, std::span<const std::string> known) {
  if (std::string form = NoteOn(name, known, kForms); !form.empty()) return form;
  const std::string note = NoteOn(name, known, kNotes);
  if (!note.empty() && OurName(name, known, kSynonyms).empty()) return note;
  return MeantKey(name, known).empty() ? "" : SuggestSynonym(name, known, kSynonyms);
}

std::string SuggestMetric(std::string_view name, std::span<const std::string> known) {
  for (const std::string_view prefix : {"val_", "valid_", "validation_", "eval_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string bare(name.substr(prefix.size()));
    const bool is_known = std::ranges::find(known, bare) != known.end();
    const std::string meant = is_known ? bare : NearestName(bare, known);
    if (!meant.empty()) return "write `" + meant + "`: it is that of `valid`";
  }
  return SuggestName(name, known);
}

std::string HomeOfSynonym(std::string_view name, std::string (*home)(std::string_view)) {
  const std::string plain = PlainName(name);
  for (const Synonym& synonym : kSynonyms) {
    if (synonym.theirs != plain) continue;
    if (std::string place = home(synonym.ours); !place.empty()) return place;
  }
  return "";
}

}  // namespace cgrun
