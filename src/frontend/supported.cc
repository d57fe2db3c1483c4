// Lists the keys and values that are not supported, and finds them in a file.
#include "src/frontend/supported.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/frontend/frontend.h"
#include "src/model/schema.h"

namespace cgrun {
namespace {

constexpr UnsupportedKey kUnsupported[] = {
    {"", "plugins"},
    {"train", "precision", "f16", "", "f32, bf16 and f64 are what there is, and on GPUs tf32"},
};

// The map at a place such as "data.test"; null where the file has none.
const TreeNode* FindMap(const TreeNode& root, std::string_view place) {
  const TreeNode* map = &root;
  while (!place.empty()) {
    const size_t dot = std::min(place.find('.'), place.size());
    const TreeEntry* entry = map->Find(place.substr(0, dot));
    if (entry == nullptr) return nullptr;
    map = &entry->value;
    place.remove_prefix(std::min(dot + 1, place.size()));
  }
  return map;
}

bool IsRefused(const UnsupportedKey& key, const TreeNode& value) {
  if (value.IsNull() || (value.IsSequence() && value.items.empty())) return false;
  if (key.values.empty()) return !value.IsScalar() || value.scalar != key.fine;
  const std::vector<std::string> values = Choices({key.values, ""});
  return value.IsScalar() && std::find(values.begin(), values.end(), value.scalar) != values.end();
}

// "cuda", "cuda:1".
bool IsOfGpu(std::string_view device) {
  return device.substr(0, std::min(device.find(':'), device.size())) == "cuda";
}

void CheckTF32(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.train || model.train->precision.value != "tf32") return;
  if (IsOfGpu(model.device.value)) return;
  diagnostics.Error(model.train->precision.mark,
                    "'precision: tf32' is for device cuda alone, not '" + model.device.value + "'",
                    "tf32 is a number type of GPUs; write `precision: f32`, or `bf16`");
}

// Data have samples, and an input without a batch has none.
void CheckFed(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.data) return;
  for (const InputSpec& input : model.inputs) {
    if (input.batch.value || IsCarried(model, input.name.value)) continue;
    diagnostics.Error(input.batch.mark,
                      "input '" + input.name.value + "' has no batch, so `data` cannot feed it",
                      "leave `batch: false` out, or make it a `parameter`; `cgrun predict` takes a "
                      "file or a value for it");
  }
}

// Reports networks that nobody has imported. The importer reports the faults of a file itself.
void CheckImported(const ModelSpec& model, Diagnostics& diagnostics) {
  for (const NetworkSpec& network : model.networks) {
    if (!network.onnx || !network.ops.empty() || diagnostics.has_errors()) continue;
    diagnostics.Error(
        network.onnx->file.mark,
        "the network '" + network.name.value + "' is a model of ONNX that was not imported",
        "the commands of `cgrun` import it");
  }
}

}  // namespace

std::span<const UnsupportedKey> UnsupportedKeys() { return kUnsupported; }

void CheckSupported(const ModelSpec& model, Diagnostics& diagnostics) {
  for (const UnsupportedKey& key : kUnsupported) {
    const TreeNode* map = FindMap(model.tree, key.place);
    const TreeEntry* entry = map == nullptr ? nullptr : map->Find(key.key);
    if (entry == nullptr || !IsRefused(key, entry->value)) continue;
    const std::string value = key.values.empty() ? "" : ": " + entry->value.scalar;
    diagnostics.Error(value.empty() ? entry->key_mark : entry->value.mark,
                      "this version does not carry out '" + std::string(key.key) + value + "' yet",
                      std::string(key.help));
  }
  CheckTF32(model, diagnostics);
  CheckFed(model, diagnostics);
  CheckImported(model, diagnostics);
}

DType PrecisionOf(const ModelSpec& model) {
  return model.train && model.train->precision.value == "f64" ? DType::kF64 : DType::kF32;
}

}  // namespace cgrun
