// Names of classes: a run keeps those of its labels in the metadata of its weights, so that
// predictions know them where the data are not at hand.
#ifndef CGRUN_MODEL_DATA_CLASS_NAMES_H_
#define CGRUN_MODEL_DATA_CLASS_NAMES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"
#include "src/io/safetensors.h"
#include "src/model/model_spec.h"

namespace cgrun {

// By the name of the input that takes the labels; the name of label 0 first.
using ClassNames = std::map<std::string, std::vector<std::string>>;

// Those that a data set knows; `inputs[i]` takes field i.
ClassNames ClassNamesOf(const Dataset& dataset, const std::vector<std::string>& inputs);

// Those of the options `classes` of a model's data, for an input of any name ("").
ClassNames ClassNamesInFile(const ModelSpec& model);

// As metadata: "classes.label": "[\"cat\",\"dog\"]". Reading passes over what is no such list.
SafetensorsMetadata ClassMetadata(const ClassNames& names);
ClassNames ReadClassMetadata(const SafetensorsMetadata& metadata);

// The names of the classes that `input` takes, of which there are `count` as far as the model
// knows: those of that input, however many they are; where nobody knows it, the only list of that
// length, or else the list that the model file gives for any input. Empty where there is none.
std::vector<std::string> FindClassNames(const ClassNames& names, std::string_view input,
                                        int64_t count);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_CLASS_NAMES_H_
