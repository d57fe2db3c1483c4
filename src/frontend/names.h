// The names that operators of a model file can read: those of their own path, block or network, of
// the paths before it, and qualified ones (`path.name`).
#ifndef CGRUN_FRONTEND_NAMES_H_
#define CGRUN_FRONTEND_NAMES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Names of one level; inner scopes hide outer ones. A name with an invalid value stands for what
// could not be built, which was reported where that happened.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, ValueId> values;

  std::optional<ValueId> Find(const std::string& name) const;
  void CollectNames(std::vector<std::string>& names) const;
};

class Names {
 public:
  // `incomplete`: a name that is not found may stand in what could not be read, so that it is no
  // error.
  explicit Names(bool incomplete = false) : incomplete_(incomplete) {}

  Scope& global() { return global_; }
  const Scope& global() const { return global_; }

  // A path of the file: for the help where its names are not there.
  void Declare(const PathSpec& path);
  // Notes a path that no step of training runs. A reader of its values is an error that says so. If
  // `maybe_meant` is true, that error is not reported, because a wrong name in the sequence may
  // stand for this path.
  void DeclareLeftOut(const PathSpec& path, bool maybe_meant);
  // Returns whether a value of this name is made in a path that was left out, and nowhere else.
  bool IsLeftOut(const std::string& name) const;
  // Later paths see the names of this one. A name that two paths have must be qualified; a path
  // that runs again gives its names new values.
  void Publish(const Scope& scope, const std::string& path);

  // The path whose operators look up names from now on; "" outside of paths.
  void Enter(const std::string& path) { current_ = path; }

  // The result is invalid after an error, reported here or where the value is made.
  ValueId Lookup(const MarkedText& name, const Scope& scope, Diagnostics& diagnostics) const;

 private:
  struct Declaration {
    std::string path;
    int line;
  };

  // A value that a path reads of another one.
  struct Read {
    std::string reader;
    std::string name;
    std::string from;
  };

  // Reports that `name` is made in a path that the current one cannot read, as no step runs it.
  void ReportLeftOut(const MarkedText& name, Diagnostics& diagnostics) const;
  std::string HelpWithUnknown(const std::string& name, const Scope& scope) const;
  std::vector<Read> ReadsOf(const std::string& path) const;
  // Returns the circle in which each path reads the next one and the last the first, by way of
  // `name` of the current path. Returns nothing if there is none.
  std::vector<Read> CircleOf(const std::string& name) const;

  bool incomplete_;
  Scope global_;
  std::map<std::string, std::string> first_path_;  // that has a name
  std::map<std::string, std::string> ambiguous_;   // name → the qualified names to choose from
  std::map<std::string, Declaration> declared_;    // the first in the file of each name
  std::map<std::string, std::vector<std::string>> read_;  // path → the names that it reads
  std::map<std::string, bool> left_out_;                  // path → whether it is maybe meant
  std::string current_;                                   // path
};

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_NAMES_H_
