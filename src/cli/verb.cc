// Both handles pass each call on to CLI11.
#include "src/cli/verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace cgrun {

Flag Flag::Value(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Flag Flag::OneOf(const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words));
  return Value(fmt::format("{}", fmt::join(words, "|")));
}

Flag Flag::Between(int64_t least, int64_t most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

Flag Flag::Between(double least, double most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

Flag Flag::OptionalValue() const {
  option_->expected(0, 1);
  return *this;
}

Flag Flag::Repeated() const {
  option_->expected(1)->take_all();
  return *this;
}

Flag Flag::Required(bool required) const {
  option_->required(required);
  return *this;
}

Flag Flag::NotWith(Flag other) const {
  option_->excludes(other.option_);
  return *this;
}

Flag Flag::Describe(const std::string& description) const {
  option_->description(description);
  return *this;
}

Flag Flag::Under(const std::string& heading) const {
  option_->group(heading);
  return *this;
}

std::string Flag::name() const { return option_->get_name(); }
std::string Flag::description() const { return option_->get_description(); }
std::vector<std::string> Flag::short_names() const { return option_->get_snames(); }
std::vector<std::string> Flag::long_names() const { return option_->get_lnames(); }
bool Flag::is_argument() const { return option_->get_positional(); }

bool Flag::takes_value() const {
  return option_->get_type_size() != 0 && option_->get_expected_max() != 0;
}

bool Flag::value_is_optional() const {
  return takes_value() && !is_argument() && option_->get_expected_min() == 0;
}

bool Flag::is_required() const { return option_->get_required(); }
bool Flag::takes_many() const { return option_->get_expected_max() > 1; }

bool Flag::is_repeated() const {
  return option_->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

std::string Flag::value_name() const {
  if (!takes_value()) return "";
  const std::string type = option_->get_type_name();  // a check stands behind a colon
  const std::string name = type.substr(0, type.find(':'));
  const bool is_declared = name != "TEXT";
  return is_argument() && !is_declared ? option_->get_name() : name;
}

std::vector<Flag> Flag::not_with() const {
  std::vector<Flag> others;
  for (CLI::Option* other : option_->get_excludes()) others.emplace_back(other);
  return others;
}

bool Flag::given() const { return option_->count() > 0; }
std::vector<std::string> Flag::values() const { return option_->results(); }

template <class T>
Flag Verb::Add(const std::string& names, T& value, const std::string& description) const {
  return Flag(app_->add_option(names, value, description));
}

#define CGRUN_VALUE(T) template Flag Verb::Add(const std::string&, T&, const std::string&) const
CGRUN_VALUE(std::string);
CGRUN_VALUE(std::vector<std::string>);
CGRUN_VALUE(int);
CGRUN_VALUE(int64_t);
CGRUN_VALUE(double);
CGRUN_VALUE(std::optional<std::string>);
CGRUN_VALUE(std::optional<double>);
#undef CGRUN_VALUE

Flag Verb::AddSwitch(const std::string& names, bool& is_given,
                     const std::string& description) const {
  return Flag(app_->add_flag(names, is_given, description));
}

void Verb::WhenParsed(const std::function<void()>& action) const {
  app_->parse_complete_callback(action);
}

std::string Verb::name() const { return app_->get_name(); }
std::string Verb::summary() const { return app_->get_description(); }

std::vector<Flag> Verb::flags() const {
  std::vector<Flag> flags;
  const auto any = [](CLI::Option* option) { return option != nullptr; };
  for (CLI::Option* option : app_->get_options(any)) flags.emplace_back(option);
  return flags;
}

std::optional<Flag> Verb::Find(const std::string& name) const {
  CLI::Option* option = app_->get_option_no_throw(name);
  return option == nullptr ? std::nullopt : std::optional(Flag(option));
}

Flag Verb::Get(const std::string& name) const { return Flag(app_->get_option(name)); }

bool Verb::Given(const std::string& name) const {
  const std::optional<Flag> flag = Find(name);
  return flag && flag->given();
}

}  // namespace cgrun
