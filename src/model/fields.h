// Reads members for the tables: each common type of member has a function, made from its pointer.
#ifndef CGRUN_MODEL_FIELDS_H_
#define CGRUN_MODEL_FIELDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "src/model/model_spec.h"
#include "src/model/read_ops.h"
#include "src/model/schema.h"
#include "src/model/values.h"

namespace cgrun {

template <class T>
struct MemberOwner;
template <class Owner, class Value>
struct MemberOwner<Value Owner::*> {
  using type = Owner;
};
template <auto kMember>
using OwnerOf = typename MemberOwner<decltype(kMember)>::type;

// Puts `value`, if there is one, with its mark into a Marked<T> or optional<Marked<T>>.
template <auto kMember, class T>
void Put(std::optional<T> value, const TreeEntry& entry, OwnerOf<kMember>& spec) {
  if (value) spec.*kMember = Marked<T>{std::move(*value), entry.value.mark};
}

template <auto kMember, int64_t kMinimum>
void ReadIntegerField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  Put<kMember>(ReadInteger(entry.value, entry.key, reader.diagnostics, kMinimum), entry, spec);
}

// A number above 0.
template <auto kMember>
void ReadPositiveField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  const auto value = ReadReal(entry.value, entry.key, reader.diagnostics);
  if (value && *value <= 0) {
    reader.diagnostics.Error(entry.value.mark,
                             "'" + entry.key + "' must be above 0, not " + Describe(entry.value));
  } else {
    Put<kMember>(value, entry, spec);
  }
}

template <auto kMember>
void ReadBooleanField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  Put<kMember>(ReadBoolean(entry.value, entry.key, reader.diagnostics), entry, spec);
}

template <auto kMember>
void ReadTextField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  Put<kMember>(ReadText(entry.value, entry.key, reader.diagnostics), entry, spec);
}

template <auto kMember>
void ReadBytesField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  Put<kMember>(ReadBytes(entry.value, entry.key, reader.diagnostics), entry, spec);
}

template <auto kMember>
void ReadSecondsField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  Put<kMember>(ReadSeconds(entry.value, entry.key, reader.diagnostics), entry, spec);
}

// One of the choices that the key's type lists.
template <auto kMember, const ValueType& kType>
void ReadChoiceField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  Put<kMember>(ReadChoice(entry.value, entry.key, Choices(kType), reader.diagnostics), entry, spec);
}

template <auto kMember>
void ReadNamesField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  spec.*kMember = ReadNames(entry.value, entry.key, reader);
}

template <auto kMember>
void ReadReferencesField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  spec.*kMember = ReadReferences(entry.value, entry.key, reader);
}

template <auto kMember>
void ReadOpsField(const TreeEntry& entry, OwnerOf<kMember>& spec, const Reader& reader) {
  spec.*kMember = ReadOps(entry.value, entry.key, reader);
}

}  // namespace cgrun

#endif  // CGRUN_MODEL_FIELDS_H_
