// Numbers that stand among the inputs of an operator: `in: [x, 2]`.
#ifndef CGRUN_FRONTEND_NUMBERS_H_
#define CGRUN_FRONTEND_NUMBERS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/ir/builder.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns whether an item of `in:` is a number, not the name of a value.
bool IsNumber(const MarkedText& input);

// The constants that numbers stand for, scalars; each of a type is added once.
class Numbers {
 public:
  Numbers(Builder& builder, Diagnostics& diagnostics)
      : builder_(builder), diagnostics_(diagnostics) {}

  // The constant of type `dtype`; nothing, after an error, where that type has no such number.
  std::optional<ValueId> Constant(const MarkedText& number, DType dtype);

 private:
  Builder& builder_;
  Diagnostics& diagnostics_;
  std::map<std::pair<DType, std::string>, ValueId> known_;
};

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_NUMBERS_H_
