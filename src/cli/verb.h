// A verb's arguments and flags: how it declares them, and what the command line gave for them.
//
// CLI11 parses the command line. Its header costs each file that includes it seconds of the build,
// so verb.cc and command_line.cc alone include it. Both classes here are handles: copies mean the
// same thing, which the CommandLine owns.
#ifndef CGRUN_CLI_VERB_H_
#define CGRUN_CLI_VERB_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cgrun {

// A flag, as `--out DIR`, or an argument, which has no dashes, as `MODEL`.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  // Declarations; each returns this flag.

  // --help calls the value by this name.
  Flag Value(const std::string& name) const;
  // The value is one of these words, which --help shows.
  Flag OneOf(const std::vector<std::string>& words) const;
  Flag Between(int64_t least, int64_t most) const;
  Flag Between(int least, int most) const { return Between(int64_t{least}, int64_t{most}); }
  Flag Between(double least, double most) const;
  Flag OptionalValue() const;
  // The flag may be given several times.
  Flag Repeated() const;
  Flag Required(bool required = true) const;
  Flag NotWith(Flag other) const;
  Flag Describe(const std::string& description) const;
  // The heading that --help lists the flag under.
  Flag Under(const std::string& heading) const;

  // These read the declaration.

  std::string name() const;  // "--out", "MODEL"; of several names the last long one
  std::string description() const;
  std::vector<std::string> short_names() const;  // without dashes
  std::vector<std::string> long_names() const;
  bool is_argument() const;
  bool takes_value() const;
  bool value_is_optional() const;
  bool is_required() const;
  bool takes_many() const;  // values, one after the other
  bool is_repeated() const;
  std::string value_name() const;  // of a switch ""
  std::vector<Flag> not_with() const;

  // These read the command line.

  bool given() const;
  std::vector<std::string> values() const;

 private:
  CLI::Option* option_;
};

class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  // Declares a flag by its names ("-n,--count"), or an argument. The command line's value is
  // stored in `value`, which must outlive the parse.
  // T: std::string, int, int64_t, double, an optional string or double, or a vector of strings.
  template <class T>
  Flag Add(const std::string& names, T& value, const std::string& description) const;
  // Declares a flag without a value.
  Flag AddSwitch(const std::string& names, bool& is_given, const std::string& description) const;

  // Has `action` run once the command line is parsed without a mistake.
  void WhenParsed(const std::function<void()>& action) const;

  std::string name() const;
  std::string summary() const;
  // All flags and arguments, in the order in which they were declared.
  std::vector<Flag> flags() const;
  std::optional<Flag> Find(const std::string& name) const;
  // One that is declared.
  Flag Get(const std::string& name) const;
  bool Has(const std::string& name) const { return Find(name).has_value(); }
  // Returns whether the command line gives this flag.
  bool Given(const std::string& name) const;

 private:
  CLI::App* app_;
};

}  // namespace cgrun

#endif  // CGRUN_CLI_VERB_H_
