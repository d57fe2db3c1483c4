// Guesses which verb or flag was meant by one that does not exist.
#include "src/cli/unknown_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/base/name_notes.h"
#include "src/base/synonyms.h"
#include "src/cli/command.h"
#include "src/model/key_synonyms.h"
#include "src/model/schema.h"
#include "src/run/run_folder.h"

namespace cgrun {
namespace {

// Other programs have these names for our verbs.
constexpr Synonym kVerbSynonyms[] = {
    {"fit", "train"},         {"run", "train"},        {"start", "train"},
    {"resume", "train"},      {"continue", "train"},   {"test", "eval"},
    {"evaluate", "eval"},     {"score", "eval"},       {"infer", "predict"},
    {"inference", "predict"}, {"classify", "predict"}, {"validate", "check"},
    {"lint", "check"},        {"verify", "check"},     {"doctor", "check"},
    {"sample", "generate"},   {"benchmark", "bench"},  {"memory", "plan"},
    {"draw", "graph"},        {"plot", "graph"},       {"info", "summary"},
    {"show", "summary"},      {"list", "ops"},
};

// Other programs have these names for our flags, beside those of keys of a model file.
constexpr Synonym kFlagSynonyms[] = {
    {"output", "out"},  {"outputdir", "out"},     {"outdir", "out"},   {"outputfile", "out"},
    {"savedir", "out"}, {"savepath", "out"},      {"saveto", "out"},   {"rundir", "out"},
    {"out", "output"},  {"outputfile", "output"}, {"ckpt", "weights"},
};

constexpr NameNote kVerbNotes[] = {
    {"convert", "", "`cgrun import` reads models of ONNX, and `cgrun export` writes them"},
    {"profile", "", "`cgrun train MODEL --profile` says where the time goes"},
    {"init", "", "copy a file of `models/`; docs/guide.md goes from there to your own data"},
    {"new", "", "copy a file of `models/`; docs/guide.md goes from there to your own data"},
};

// Returns how to set a key of the model file that was typed as a flag, such as `--epochs 3`; "" for
// others. If `exact` is true, names that are nearly right do not count.
std::string SetHelp(const Verb& verb, const std::string& flag, const std::string& value,
                    bool exact) {
  if (!verb.Has("--set")) return "";
  std::vector<std::string> keys = {"lr"};
  for (const MapDoc& map : FormatReference()) {
    for (const KeyDoc& key : map.keys) {
      if (map.place == "train") keys.emplace_back(key.name);
    }
  }
  std::string name = flag.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  const bool known = std::find(keys.begin(), keys.end(), name) != keys.end();
  if (!known) {
    const std::string ours = OurName(flag.substr(2), keys, KeySynonyms());
    name = !ours.empty() ? ours : exact ? "" : NearestName(name, keys);
  }
  if (name.empty()) return "";
  return "keys of the model file are set so: `--set train." +
         (name == "lr" ? "optimizer.lr" : name) + "=" + (value.empty() ? "…" : value) + "`";
}

// `--test new.csv`: data are named in the model file; "" of other flags.
std::string HelpWithData(const Verb& verb, const std::string& flag, const std::string& value) {
  constexpr Synonym kSets[] = {{"train", "train"},          {"traindata", "train"},
                               {"valid", "valid"},          {"val", "valid"},
                               {"validation", "valid"},     {"test", "test"},
                               {"validationdata", "valid"}, {"testdata", "test"}};
  if (!verb.Has("--set")) return "";
  const auto set = std::ranges::find(kSets, PlainName(flag.substr(2)), &Synonym::theirs);
  if (set == std::end(kSets)) return "";
  return "the model file names its data: `--set data." + std::string(set->ours) +
         ".file=" + (value.empty() ? "FILE" : value) +
         "` is another file of it, where its format has the key `file` (`folder` or `images` of "
         "others)";
}

// Other programs let users choose the threads that read data; "" of other flags.
std::string HelpWithLoader(const Verb& verb, const std::string& flag) {
  const std::string name = PlainName(flag.substr(2));
  if (name != "workers" && name != "numworkers" && name != "jobs") return "";
  return std::string("leave it out: a thread of the program reads samples ahead") +
         (verb.Has("--threads")
              ? "; `--threads N`, 1 to " + std::to_string(kMostThreads) + ", is for the kernels"
              : "");
}

// `--batch-size`, `--gpu`: what other programs call a flag of ours; "" of other flags.
std::string HelpWithOtherName(const std::string& flag, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& name : known) names.push_back(name.substr(2));
  std::string ours = OurName(flag.substr(2), names, kFlagSynonyms);
  if (ours.empty()) ours = OurName(flag.substr(2), names, KeySynonyms());
  return ours.empty() ? "" : "write '--" + ours + "'";
}

// Verbs that keep no cap on memory still have a batch; "" of other flags.
std::string HelpWithMemory(const Verb& verb, const std::string& flag) {
  if (flag != "--memory" || !verb.Has("--batch")) return "";
  return "it is a flag of verbs that train, evaluate or plan; a smaller `--batch` takes less";
}

std::string ValueAfter(const std::vector<std::string>& words, size_t i) {
  if (const size_t equals = words[i].find('='); equals != std::string::npos) {
    return words[i].substr(equals + 1);
  }
  return i + 1 < words.size() && !words[i + 1].starts_with('-') ? words[i + 1] : "";
}

}  // namespace

Mistake UnknownVerb(const std::string& argument) {
  static const std::vector<std::string> kOwnFlags = {"--help", "--version"};
  if (argument.starts_with('-')) {
    const std::string flag = NearestName(argument, kOwnFlags);
    if (!flag.empty()) {
      return {"`cgrun` has no flag '" + argument + "'", "did you mean `cgrun " + flag + "`?"};
    }
    return {"a verb must come before '" + argument + "'",
            "`cgrun VERB " + argument + "`; `cgrun --help` lists the verbs"};
  }
  std::vector<std::string> verbs;
  for (const CommandEntry& entry : Commands()) verbs.emplace_back(entry.name);
  if ("--" + argument == kOwnFlags[1]) {
    return {"there is no verb '" + argument + "'", "write `cgrun --version`"};
  }
  if (const std::string note = NoteOn(argument, verbs, kVerbNotes); !note.empty()) {
    return {"there is no verb '" + argument + "'", note};
  }
  std::string nearest = OurName(argument, verbs, kVerbSynonyms);
  if (nearest.empty()) nearest = NearestName(argument, verbs);
  return {"there is no verb '" + argument + "'",
          nearest.empty() ? fmt::format("the verbs are {}", fmt::join(verbs, ", "))
                          : "did you mean `cgrun " + nearest + "`?"};
}

std::optional<Mistake> UnknownFlag(const Verb& verb, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const Flag& flag : verb.flags()) {
    for (const std::string& name : flag.long_names()) known.push_back("--" + name);
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string argument = words[i].substr(0, words[i].find('='));
    const bool is_known = std::ranges::find(known, argument) != known.end();
    if (!argument.starts_with("--") || argument == "--" || is_known) continue;
    const std::string nearest = NearestName(argument, known);
    const std::string value = ValueAfter(words, i);
    std::string help = HelpWithLoader(verb, argument);
    if (help.empty()) help = HelpWithMemory(verb, argument);
    if (help.empty()) help = HelpWithData(verb, argument, value);
    if (help.empty()) help = HelpWithOtherName(argument, known);
    if (help.empty()) help = SetHelp(verb, argument, value, /*exact=*/!nearest.empty());
    if (help.empty() && !nearest.empty()) help = "did you mean '" + nearest + "'?";
    if (help.empty()) help = "`cgrun " + verb.name() + " --help` lists its flags";
    return Mistake{"`cgrun " + verb.name() + "` has no flag '" + argument + "'", help};
  }
  return std::nullopt;
}

}  // namespace cgrun
