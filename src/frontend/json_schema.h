// The JSON Schema of model files, for editors: made of the tables that the parser reads by, of the
// operator table, and of those that it is given. JsonSchema() is the entry point.
#ifndef CGRUN_FRONTEND_JSON_SCHEMA_H_
#define CGRUN_FRONTEND_JSON_SCHEMA_H_

#include <span>
#include <string>
#include <vector>

namespace cgrun {

// A key of a table that is none of the front end's. `type` is the text of a schema, which may refer
// to `#/definitions/…`: see json_schema.cc.
struct SchemaKey {
  std::string name;
  std::string doc;
  std::string type;
  bool required = false;
};

// A name that stands for the keys that it takes: a format of data sets, a learning-rate schedule.
struct SchemaChoice {
  std::string name;
  std::string doc;
  std::vector<SchemaKey> keys;
  std::string others = "";  // the type of further keys; "": there are none
};

// The type of a number, or a ratio, within bounds as those of attributes: kAboveZero and kBelowOne
// are no values themselves.
std::string NumberSchema(bool whole, double minimum, double maximum);

// The text of a schema of draft 7. It knows nothing of names that are to be found elsewhere in the
// file, of shapes, and of most that several values tell together: see
// docs/reference/model-format.md.
std::string JsonSchema(std::span<const SchemaChoice> formats,
                       std::span<const SchemaChoice> schedules);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_JSON_SCHEMA_H_
