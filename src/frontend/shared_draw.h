// The key `draws_as`: an operator that changes samples by chance draws what another one draws, so
// that an image and its mask are changed alike.
#ifndef CGRUN_FRONTEND_SHARED_DRAW_H_
#define CGRUN_FRONTEND_SHARED_DRAW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/ir/op_def.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns whether samples change by chance, so that `draws_as` means something.
bool ChangesByChance(const OpDef& def);

// The keys that operators `def` take beside their attributes: CommonKeys(), and `draws_as` where
// samples change by chance.
std::vector<std::string> KeysBeside(const OpDef& def);

// The name that `draws_as` gives; nothing where it is not there, or is no word, which is reported.
std::optional<MarkedText> FindDrawsAs(const OpSpec& op, Diagnostics& diagnostics);

// The key of the random numbers of the operator that makes `drawn`, which an operator `def` named
// `name` shares. Returns nothing after an error: another kind of operator, or one whose attributes
// or images let it draw something else.
std::optional<int64_t> SharedKey(const Graph& graph, const OpDef& def, const Attributes& attributes,
                                 ValueId input, ValueId drawn, const MarkedText& name,
                                 Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_SHARED_DRAW_H_
