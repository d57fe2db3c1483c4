// The sections of a model file, each read by its table. ReadModel() is the entry point.
#ifndef CGRUN_MODEL_READ_SECTIONS_H_
#define CGRUN_MODEL_READ_SECTIONS_H_

#include <vector>

#include "src/model/model_spec.h"
#include "src/model/read_ops.h"
#include "src/model/schema.h"

namespace cgrun {

// The whole file, without what needs several sections at once: see ExpandBlocks(), CheckModel().
void ReadModel(const TreeNode& root, ModelSpec& model, Diagnostics& diagnostics);

// The value of one top-level key. Read graph sections in any order.
void ReadData(const TreeEntry& entry, ModelSpec& model, const Reader& reader);
void ReadInputs(const TreeEntry& entry, ModelSpec& model, const Reader& reader);
void ReadNetworks(const TreeEntry& entry, ModelSpec& model, const Reader& reader);
void ReadBlocks(const TreeEntry& entry, ModelSpec& model, const Reader& reader);
void ReadPaths(const TreeEntry& entry, ModelSpec& model, const Reader& reader);
void ReadTrain(const TreeEntry& entry, ModelSpec& model, const Reader& reader);
void ReadGan(const TreeEntry& entry, ModelSpec& model, const Reader& reader);

// Their tables.
std::vector<MapDoc> DataDocs();
std::vector<MapDoc> GraphDocs();
std::vector<MapDoc> GanDocs();
std::vector<MapDoc> TrainDocs();

// Reads the update operator of `optimizer:`. It is broken after an error.
OpSpec ReadOptimizer(const TreeEntry& entry, const Reader& reader);

}  // namespace cgrun

#endif  // CGRUN_MODEL_READ_SECTIONS_H_
