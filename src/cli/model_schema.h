// The JSON Schema of model files with the formats of data sets and the schedules of this program.
#ifndef CGRUN_CLI_MODEL_SCHEMA_H_
#define CGRUN_CLI_MODEL_SCHEMA_H_

#include <string>

namespace cgrun {

std::string ModelSchema();

}  // namespace cgrun

#endif  // CGRUN_CLI_MODEL_SCHEMA_H_
