// Maps of a model file, read by tables: one row a key, with its type, default, doc text and reader.
// FormatReference() gives all tables, for the documentation, a JSON Schema and ResolvedTree().
#ifndef CGRUN_MODEL_SCHEMA_H_
#define CGRUN_MODEL_SCHEMA_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/model/tree.h"

namespace cgrun {

// Describes a type of values for people, and as the text of a JSON Schema.
struct ValueType {
  std::string_view text;
  std::string_view json;
};

// The choices of a type whose text lists them: "shared, separate".
std::vector<std::string> Choices(const ValueType& type);

inline constexpr std::string_view kRequired = "required";

struct KeyDoc {
  std::string_view name;
  ValueType type;
  std::string_view fallback;  // kRequired, the default in YAML, or "" for neither
  std::string_view doc;
  std::string_view group = "";  // of the keys with one group at most one may stand in a map
};

// A table of keys. `place` is where its maps stand: "train.clip"; "paths.*" for the value of every
// key; "" for the file itself; "ops[]" for every item of `ops:`, and what is written like one.
struct MapDoc {
  std::string_view place;
  std::string_view doc;
  std::vector<KeyDoc> keys;
  bool open = false;  // further keys are allowed
};

// Returns all tables, outer ones first.
std::vector<MapDoc> FormatReference();

// "train.epochs" for `epochs`, where that is no key of the file itself; "" for what is nowhere.
std::string HomeOfKey(std::string_view key);

// "line 12", or what an override is called.
std::string PlaceText(const SourceMark& mark);

// Readers report to this, and it says whether `${…}` may stand in place of any value.
struct Reader {
  Diagnostics& diagnostics;
  bool in_template = false;

  // A value that is to be checked once its `${…}` is replaced.
  bool IsDeferred(const TreeNode& node) const;
  bool CheckMap(const TreeNode& node, std::string_view what) const;
  bool CheckSequence(const TreeNode& node, std::string_view what) const;
};

// A row: the key, and what takes its value into a Spec.
template <class Spec>
struct Key {
  KeyDoc doc;
  void (*read)(const TreeEntry& entry, Spec& spec, const Reader& reader);
};

template <class Spec>
std::vector<KeyDoc> Docs(std::span<const Key<Spec>> keys) {
  std::vector<KeyDoc> docs;
  for (const Key<Spec>& key : keys) docs.push_back(key.doc);
  return docs;
}

// Says how a key is written where it belongs: "write `train: {clip: …}`". Returns "" if it belongs
// to several places or none.
std::string HelpWithHome(std::string_view key);
// Suggests our name for a number type that the file calls otherwise: "write `precision: f32`".
std::string HelpWithNumberType(const std::string& key, const std::string& type);

// Reports a key of `map` (null: not at hand) that is not in `keys`; behind one without a value it
// may belong to that, `empty`.
void ReportUnknownKey(const TreeEntry& entry, std::string_view what, std::span<const KeyDoc> keys,
                      const Reader& reader, const TreeNode* map = nullptr,
                      const TreeEntry* empty = nullptr);
// Returns whether a key of `map` that is not in `keys` was to be `name`: then that is said of the
// key.
bool IsMeant(const TreeNode& map, std::string_view name, std::span<const KeyDoc> keys);
// Reports required keys of `map` that are missing, at `place`, and keys that exclude each other.
void CheckKeys(const TreeNode& map, std::string_view what, const SourceMark& place,
               std::span<const KeyDoc> keys, const Reader& reader);

// Reads the map `node` into `spec`. A key without a value stands for its default. `what` names the
// map in messages; `place` is where a missing key is reported. `other` takes the keys that the
// table does not have; without it they are errors.
template <class Spec>
void ReadMap(const TreeNode& node, std::string_view what, const SourceMark& place,
             std::span<const Key<Spec>> keys, Spec& spec, const Reader& reader,
             void (*other)(const TreeEntry&, Spec&, const Reader&) = nullptr) {
  if (!reader.CheckMap(node, what)) return;
  const std::vector<KeyDoc> docs = Docs<Spec>(keys);
  const TreeEntry* empty = nullptr;  // the last known key, where it has no value
  for (const TreeEntry& entry : node.entries) {
    const Key<Spec>* known = nullptr;
    for (const Key<Spec>& key : keys) {
      if (key.doc.name == entry.key) known = &key;
    }
    if (known != nullptr) empty = entry.value.IsNull() ? &entry : nullptr;
    if (known == nullptr && other == nullptr) {
      ReportUnknownKey(entry, what, docs, reader, &node, empty);
    } else if (known == nullptr) {
      other(entry, spec, reader);
    } else if (!entry.value.IsNull() && !reader.IsDeferred(entry.value)) {
      known->read(entry, spec, reader);
    }
  }
  CheckKeys(node, what, place, docs, reader);
}

}  // namespace cgrun

#endif  // CGRUN_MODEL_SCHEMA_H_
