// Names of classes: a run keeps those of its labels in the metadata of its weights, so that
// predictions know them where the data are not at hand.
#ifndef CGRUN_MODEL_DATA_CLASS_NAMES_H_
#define CGRUN_MODEL_DATA_CLASS_NAMES_H_

#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/io/safetensors.h"
#include "src/model/model_spec.h"
#include "src/results/named_classes.h"

namespace cgrun {

// Returns the names that a data set knows; `inputs[i]` takes field i.
ClassNames ClassNamesOf(const Dataset& dataset, const std::vector<std::string>& inputs);

// Returns the names in the options `classes` of a model's data, for an input of any name ("").
ClassNames ClassNamesInFile(const ModelSpec& model);

// Metadata look like this: "classes.label": "[\"cat\",\"dog\"]". Reading skips a text that is no
// such list.
SafetensorsMetadata ClassMetadata(const ClassNames& names);
ClassNames ReadClassMetadata(const SafetensorsMetadata& metadata);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_CLASS_NAMES_H_
