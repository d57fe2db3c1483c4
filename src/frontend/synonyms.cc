// The table of synonyms: Caffe, Keras, PyTorch, ONNX.
#include "src/frontend/synonyms.h"

#include <algorithm>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

constexpr Synonym kSynonyms[] = {
    {"dense", "linear"},
    {"fc", "linear"},
    {"fullyconnected", "linear"},
    {"innerproduct", "linear"},
    {"gemm", "linear"},
    {"affine", "linear"},
    {"convolution", "conv"},
    {"conv2d", "conv"},
    {"convolution2d", "conv"},
    {"maxpool2d", "max_pool"},
    {"maxpooling", "max_pool"},
    {"maxpooling2d", "max_pool"},
    {"pooling", "max_pool"},
    {"averagepool", "avg_pool"},
    {"averagepooling2d", "avg_pool"},
    {"avgpool2d", "avg_pool"},
    {"meanpool", "avg_pool"},
    {"globalaveragepool", "global_avg_pool"},
    {"globalaveragepooling2d", "global_avg_pool"},
    {"adaptiveavgpool2d", "global_avg_pool"},
    {"batchnormalization", "batch_norm"},
    {"batchnorm2d", "batch_norm"},
    {"bn", "batch_norm"},
    {"batchnorm1d", "batch_norm"},
    {"adaptiveaveragepool2d", "global_avg_pool"},
    {"zeropad2d", "pad"},
    {"dropout2d", "dropout"},
    {"rectifier", "relu"},
    {"lrelu", "leaky_relu"},
    {"logistic", "sigmoid"},
    {"elemwiseadd", "add"},
    {"eltwise", "add"},
    {"multiply", "mul"},
    {"subtract", "sub"},
    {"divide", "div"},
    {"negative", "neg"},
    {"concatenate", "concat"},
    {"cat", "concat"},
    {"permute", "transpose"},
    {"view", "reshape"},
    {"mean", "reduce_mean"},
    {"sum", "reduce_sum"},
    {"rescale", "normalize"},
    {"upsample", "resize"},
    {"interpolate", "resize"},
    {"padding", "pad"},
    {"zeropadding2d", "pad"},
    {"crossentropy", "softmax_cross_entropy"},
    {"crossentropyloss", "softmax_cross_entropy"},
    {"categoricalcrossentropy", "softmax_cross_entropy"},
    {"sparsecategoricalcrossentropy", "softmax_cross_entropy"},
    {"softmaxwithloss", "softmax_cross_entropy"},
    {"nll", "softmax_cross_entropy"},
    {"nllloss", "softmax_cross_entropy"},
    {"mse", "squared_error"},
    {"mseloss", "squared_error"},
    {"meansquarederror", "squared_error"},
    {"l2loss", "squared_error"},
    {"euclideanloss", "squared_error"},
    {"acc", "accuracy"},
    {"top1", "accuracy"},
    {"topk", "top_k_accuracy"},
    {"top5", "top_k_accuracy"},
    {"top5accuracy", "top_k_accuracy"},
    {"topkcategoricalaccuracy", "top_k_accuracy"},
    {"perclass", "per_class_accuracy"},
    {"classaccuracy", "per_class_accuracy"},
    {"confusion", "confusion_matrix"},
    {"rocauc", "auc"},
    {"aucroc", "auc"},
    {"auroc", "auc"},
    {"f1score", "f1"},
    {"fscore", "f1"},
    {"fmeasure", "f1"},
    {"sensitivity", "recall"},
    {"mae", "mean_absolute_error"},
    {"mse", "mean_squared_error"},
    {"rsquared", "r2"},
    {"r2score", "r2"},
    {"momentum", "sgd"},
    {"nesterov", "sgd"},
    {"layernormalization", "layer_norm"},
    {"ln", "layer_norm"},
    {"power", "pow"},
    {"square", "pow"},
    {"absolute", "abs"},
    {"absval", "abs"},
    {"minimum", "min"},
    {"maximum", "max"},
    {"clamp", "clip"},
    {"clipbyvalue", "clip"},
    {"hardtanh", "clip"},
    {"relu6", "clip"},
    {"maskedfill", "where"},
    {"equal", "compare"},
    {"notequal", "compare"},
    {"less", "compare"},
    {"lessequal", "compare"},
    {"lessorequal", "compare"},
    {"greater", "compare"},
    {"greaterequal", "compare"},
    {"greaterorequal", "compare"},
    {"eq", "compare"},
    {"ne", "compare"},
    {"lt", "compare"},
    {"le", "compare"},
    {"gt", "compare"},
    {"ge", "compare"},
    {"onehotencoding", "one_hot"},
    {"categoryencoding", "one_hot"},
    {"embed", "embedding"},
    {"gather", "embedding"},
    {"lookuptable", "embedding"},
    {"randn", "random_normal"},
    {"gaussian", "random_normal"},
    {"normal", "random_normal"},
    {"rand", "random_uniform"},
    {"uniform", "random_uniform"},
    {"centercrop", "crop"},
    {"centercroppad", "crop"},
    {"cropping2d", "crop"},
    {"reverse", "flip"},
    {"fliplr", "flip"},
    {"flipud", "flip"},
    {"colorjitter", "color_jitter"},
    {"colourjitter", "color_jitter"},
    {"jitter", "color_jitter"},
    {"brightness", "color_jitter"},
    {"randombrightness", "color_jitter"},
    {"randomcontrast", "color_jitter"},
    {"hue", "color_jitter"},
    {"saturation", "color_jitter"},
    {"randomrotation", "random_rotate"},
    {"rotation", "rotate"},
    {"cutout", "random_erasing"},
    {"randomerase", "random_erasing"},
    {"inceptioncrop", "random_resized_crop"},
    {"randomhorizontalflip", "random_flip"},
    {"randomverticalflip", "random_flip"},
    {"deconvolution", "conv_transpose"},
    {"deconv", "conv_transpose"},
    {"convtranspose2d", "conv_transpose"},
    {"conv2dtranspose", "conv_transpose"},
    {"transposedconv", "conv_transpose"},
    {"bce", "binary_cross_entropy"},
    {"bceloss", "binary_cross_entropy"},
    {"bcewithlogitsloss", "binary_cross_entropy"},
    {"bcewithlogits", "binary_cross_entropy"},
    {"sigmoidcrossentropyloss", "binary_cross_entropy"},
    {"sigmoidcrossentropy", "binary_cross_entropy"},
    {"mae", "absolute_error"},
    {"l1", "absolute_error"},
    {"l1loss", "absolute_error"},
    {"meanabsoluteerror", "absolute_error"},
    {"huberloss", "huber"},
    {"smoothl1loss", "smooth_l1"},
    {"l1smooth", "smooth_l1"},
    {"marginrankingloss", "ranking"},
    {"marginranking", "ranking"},
    {"rankingloss", "ranking"},
    {"pairwise", "ranking"},
    {"hingeloss", "hinge"},
    {"svm", "hinge"},
    {"rms", "rmsprop"},
};

}  // namespace

std::span<const Synonym> OperatorSynonyms() { return kSynonyms; }

std::string_view BareName(std::string_view name) {
  name = name.substr(0, name.find('('));
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::string SuggestOperator(std::string_view name, std::span<const std::string> known) {
  return SuggestSynonym(BareName(name), known, kSynonyms);
}

std::string SameOperator(std::string_view name, std::span<const std::string> known) {
  const std::string plain = PlainName(BareName(name));
  for (const std::string& candidate : known) {
    if (PlainName(candidate) == plain) return candidate;
  }
  for (const Synonym& synonym : kSynonyms) {
    const bool here = std::ranges::find(known, synonym.ours) != known.end();
    if (synonym.theirs == plain && here) return std::string(synonym.ours);
  }
  return "";
}

std::string GuessOperator(std::string_view name, std::span<const std::string> known) {
  const std::string same = SameOperator(name, known);
  return same.empty() ? NearestName(BareName(name), known) : same;
}

}  // namespace cgrun
