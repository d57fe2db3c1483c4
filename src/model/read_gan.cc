// `gan:`, two networks that train against each other.
#include <string>
#include <utility>
#include <vector>

#include "src/model/fields.h"
#include "src/model/read_sections.h"
#include "src/model/types.h"

namespace cgrun {
namespace {

template <MarkedText GanSpec::*kMember>
void ReadNetwork(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  if (auto name = ReadName(entry.value, entry.key, reader)) gan.*kMember = std::move(*name);
}

void ReadRealSamples(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  if (auto name = ReadReference(entry.value, entry.key, reader)) gan.real = std::move(*name);
}

void ReadLatent(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  ReadOperator(entry.value, entry.key, nullptr, reader);
  gan.latent = entry.value;
}

constexpr Key<GanSpec> kStepsKeys[] = {
    {{"discriminator", kPositiveType, "1", "updates of the discriminator"},
     [](const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
       gan.discriminator_steps =
           ReadInteger(entry.value, entry.key, reader.diagnostics, 1).value_or(1);
     }},
    {{"generator", kPositiveType, "1", "updates of the generator"},
     [](const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
       gan.generator_steps = ReadInteger(entry.value, entry.key, reader.diagnostics, 1).value_or(1);
     }},
};

void ReadSteps(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  ReadMap<GanSpec>(entry.value, entry.key, entry.key_mark, kStepsKeys, gan, reader);
  gan.has_steps = true;
  gan.steps_mark = entry.key_mark;
}

// Reads one optimizer for both networks, or `{discriminator: …, generator: …}`.
void ReadGanOptimizer(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  const TreeNode& node = entry.value;
  const bool each = node.IsMap() && (node.Find("discriminator") || node.Find("generator"));
  if (!each) {
    ReadOptimizer(entry, reader);
    gan.discriminator_optimizer = gan.generator_optimizer = node;
    return;
  }
  for (const TreeEntry& one : node.entries) {
    if (one.key != "discriminator" && one.key != "generator") {
      reader.diagnostics.Error(one.key_mark, "unknown key '" + one.key + "' in 'optimizer'",
                               "one optimizer, or `{discriminator: …, generator: …}`");
      continue;
    }
    ReadOptimizer(one, reader);
    (one.key == "generator" ? gan.generator_optimizer : gan.discriminator_optimizer) = one.value;
  }
}

template <std::optional<TreeNode> GanSpec::*kMember>
void ReadPositiveNode(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  const auto value = ReadReal(entry.value, entry.key, reader.diagnostics);
  if (value && *value > 0) {
    gan.*kMember = entry.value;
  } else if (value) {
    reader.diagnostics.Error(entry.value.mark,
                             "'" + entry.key + "' must be above 0, not " + Describe(entry.value));
  }
}

constexpr Synonym kLossSynonyms[] = {
    {"bce", "non_saturating"},     {"binarycrossentropy", "non_saturating"},
    {"vanilla", "non_saturating"}, {"minimax", "non_saturating"},
    {"ns", "non_saturating"},      {"nsgan", "non_saturating"},
    {"mse", "least_squares"},      {"squarederror", "least_squares"},
    {"ls", "least_squares"},       {"lsgan", "least_squares"},
    {"wgan", "wasserstein"},       {"wgangp", "wasserstein"},
};

void ReadGanLoss(const TreeEntry& entry, GanSpec& gan, const Reader& reader) {
  const std::vector<std::string> choices = Choices(kGanLossType);
  Put<&GanSpec::loss>(
      ReadChoice(entry.value, entry.key, choices, reader.diagnostics, kLossSynonyms), entry, gan);
}

constexpr Key<GanSpec> kGanKeys[] = {
    {{"generator", kNameType, kRequired, "a network: latent → sample"},
     ReadNetwork<&GanSpec::generator>},
    {{"discriminator", kNameType, kRequired, "a network: sample → score, one number a sample"},
     ReadNetwork<&GanSpec::discriminator>},
    {{"latent", kOperatorType, kRequired, "what the generator reads, `{op: random_normal, …}`"},
     ReadLatent},
    {{"real", kReferenceType, kRequired, "the real samples: an input, or a value of a path"},
     ReadRealSamples},
    {{"loss", kGanLossType, "non_saturating", "what the two make small"}, ReadGanLoss},
    {{"clip", kPositiveRealType, "", "of wasserstein: the largest weight of the discriminator",
      "bound"},
     ReadPositiveNode<&GanSpec::clip>},
    {{"gradient_penalty", kPositiveRealType, "",
      "of wasserstein: the weight of the penalty on slopes other than 1", "bound"},
     ReadPositiveNode<&GanSpec::gradient_penalty>},
    {{"steps", kMapType, "", "updates of each in a step"}, ReadSteps},
    {{"optimizer", kGanOptimizerType, "",
      "of both, or one for each; without it the one of `train`"},
     ReadGanOptimizer},
};

// Checks the keys that a wasserstein pair must have one of, and other pairs cannot have.
void CheckBound(const TreeEntry& entry, const GanSpec& gan, const Reader& reader) {
  const bool wasserstein = gan.loss.value == "wasserstein";
  for (const char* key : {"clip", "gradient_penalty"}) {
    const TreeEntry* found = entry.value.Find(key);
    if (wasserstein || found == nullptr) continue;
    reader.diagnostics.Error(found->key_mark,
                             "'" + std::string(key) + "' belongs to `loss: wasserstein`",
                             "the loss of this pair is " + gan.loss.value);
  }
  if (wasserstein && !gan.clip && !gan.gradient_penalty) {
    reader.diagnostics.Error(gan.loss.mark, "a wasserstein pair needs 'clip' or 'gradient_penalty'",
                             "`clip: 0.01`, or `gradient_penalty: 10`");
  }
}

}  // namespace

void ReadGan(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  const int errors = reader.diagnostics.error_count();
  GanSpec gan;
  gan.mark = entry.key_mark;
  ReadMap<GanSpec>(entry.value, entry.key, entry.key_mark, kGanKeys, gan, reader);
  if (entry.value.IsMap()) CheckBound(entry, gan, reader);
  gan.complete = reader.diagnostics.error_count() == errors;
  model.gan = std::move(gan);
}

std::vector<MapDoc> GanDocs() {
  return {{"gan", "A pair of networks that train against each other.", Docs<GanSpec>(kGanKeys)},
          {"gan.steps", "How often each is updated in a step.", Docs<GanSpec>(kStepsKeys)}};
}

}  // namespace cgrun
