// Names that other programs give to what we know: tables of synonyms, and the search in them.
#ifndef CGRUN_BASE_SYNONYMS_H_
#define CGRUN_BASE_SYNONYMS_H_

#include <span>
#include <string>
#include <string_view>

namespace cgrun {

struct Synonym {
  std::string_view theirs;  // in small letters, without '_' and '-'
  std::string_view ours;
};

// `name` in small letters, without '_' and '-': "MaxPool2d" and "max_pool_2d" are the same.
std::string PlainName(std::string_view name);

// The one of `known` that others call `name`: where only case, '_' and '-' differ ('MaxPool'), or
// where `table` has a synonym of it that is known; "" where there is none.
std::string OurName(std::string_view name, std::span<const std::string> known,
                    std::span<const Synonym> table);

// Returns the same, or else the known name that `name` is a typing error of; "" where it is none.
std::string MeantName(std::string_view name, std::span<const std::string> known,
                      std::span<const Synonym> table);

// Returns the help for `name`, which is not among `known`. If OurName() finds a name, the help is
// "write 'max_pool'". Otherwise SuggestName() gives it.
std::string SuggestSynonym(std::string_view name, std::span<const std::string> known,
                           std::span<const Synonym> table);

}  // namespace cgrun

#endif  // CGRUN_BASE_SYNONYMS_H_
