#include "training/run/task.h"

#include <array>
#include <bit>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "training/data/digits.h"
#include "training/data/idx.h"
#include "training/data/sentences.h"
#include "training/data/texts.h"
#include "training/models/conv_net.h"
#include "training/models/mlp.h"
#include "training/models/text_transformer.h"
#include "training/run/moe_model.h"

namespace rankbox::train {
namespace {

// ---- Data ---------------------------------------------------------------------------------------

/// Keeps the first `count` samples.
void cut(Dataset& dataset, std::int64_t count) {
  const auto samples = static_cast<std::size_t>(count);
  dataset.values.resize(samples * static_cast<std::size_t>(dataset.sample_shape.elements()));
  dataset.labels.resize(samples);
  if (!dataset.lengths.empty()) dataset.lengths.resize(samples);
}

void check_folder(const Plan& plan) {
  if (std::filesystem::is_directory(plan.data)) return;
  throw InvalidArgument(
      fmt::format("--data {}: there is no such folder; leave it out for embedded data", plan.data));
}

/// Applies the plan's number of samples to data read from files.
void take_samples(const Plan& plan, Dataset& train) {
  if (plan.samples > train.size()) {
    throw InvalidArgument(fmt::format("--samples {}: {} holds {} to train with; give that at most",
                                      plan.samples, plan.data, train.size()));
  }
  if (plan.samples > 0) cut(train, plan.samples);
}

Split read_images(const Plan& plan) {
  check_folder(plan);
  Split data = read_mnist(plan.data);
  take_samples(plan, data.train);
  if (data.train.sample_shape != data.test.sample_shape) {
    throw InvalidArgument(
        fmt::format("--data {}: images to train with and to test with differ in size", plan.data));
  }
  return data;
}

/// Returns the images, and their description.
std::pair<Split, std::string> images(const Plan& plan) {
  DigitsOptions options;
  if (plan.samples > 0) options.train = plan.samples;
  Split data = plan.data.empty() ? digits(options) : read_images(plan);
  const std::string what = plan.data.empty() ? "digits" : "images of " + plan.data;
  std::string name =
      fmt::format("{} {}, {} test samples", data.train.size(), what, data.test.size());
  return {std::move(data), std::move(name)};
}

constexpr std::int64_t kLongestText = 64;  // tokens of a text from a file; the rest is cut off

/// Reads train.csv and test.csv, whose first records name their columns: text and label are
/// required.
/// @param left_out what the description says of test records whose label no training record has
TextSplit read_csv_texts(const Plan& plan, std::string& left_out) {
  check_folder(plan);
  const std::string train = plan.data + "/train.csv";
  const std::vector<std::string> classes = read_classes(train, "label");
  const std::vector<LabelledText> known = read_texts(train, "text", "label", classes).texts;
  const TextFile test = read_texts(plan.data + "/test.csv", "text", "label", classes);
  std::int64_t records = 0;
  std::vector<std::string> labels;
  for (const auto& [label, count] : test.left_out) {
    records += count;
    labels.push_back(label);
  }
  if (records > 0) {
    constexpr std::size_t kMostNamed = 5;
    if (labels.size() > kMostNamed) {
      labels.resize(kMostNamed);
      labels.emplace_back("…");
    }
    left_out = fmt::format(" ({} more are left out, whose label train.csv lacks: {})", records,
                           fmt::join(labels, ", "));
  }
  const Vocabulary vocabulary(known);
  const auto number = static_cast<std::int64_t>(classes.size());
  TextSplit texts;
  texts.vocabulary = vocabulary.size();
  texts.split.train = text_dataset(known, vocabulary, kLongestText, number);
  texts.split.test = text_dataset(test.texts, vocabulary, kLongestText, number);
  take_samples(plan, texts.split.train);
  return texts;
}

/// Returns the texts, and their description.
std::pair<TextSplit, std::string> texts_of(const Plan& plan) {
  SentencesOptions options;
  if (plan.samples > 0) options.train = plan.samples;
  std::string left_out;
  TextSplit texts = plan.data.empty() ? sentences(options) : read_csv_texts(plan, left_out);
  std::string name = fmt::format("{} {}, {} test samples{}", texts.split.train.size(),
                                 plan.data.empty() ? "sentences" : "texts of " + plan.data,
                                 texts.split.test.size(), left_out);
  return {std::move(texts), std::move(name)};
}

// ---- Models -------------------------------------------------------------------------------------

Task make_mlp(const Plan& plan) {
  auto [data, name] = images(plan);
  MlpOptions options;
  options.inputs = data.train.sample_shape.elements();
  options.seed = plan.seed;
  std::string model =
      fmt::format("mlp {}-{}-{}", options.inputs, fmt::join(options.hidden, "-"), options.classes);
  return {std::move(data), mlp(options), std::move(model), std::move(name)};
}

Task make_conv_net(const Plan& plan) {
  auto [data, name] = images(plan);
  const std::vector<std::int64_t>& sides = data.train.sample_shape.extents();
  if (sides[0] != sides[1] || sides[0] % 4 != 0) {
    throw InvalidArgument(
        fmt::format("--data {}: images of {} x {}; convnet takes squares with a side that is a "
                    "multiple of 4, mlp takes any",
                    plan.data, sides[0], sides[1]));
  }
  ConvNetOptions options;
  options.side = sides[0];
  options.seed = plan.seed;
  std::string model = fmt::format("convnet {0}x{0}-{1}-{2}-{3}", options.side, options.filters1,
                                  options.filters2, options.classes);
  return {std::move(data), conv_net(options), std::move(model), std::move(name)};
}

Task make_transformer(const Plan& plan) {
  auto [texts, name] = texts_of(plan);
  TextTransformerOptions options;
  options.vocabulary = texts.vocabulary;
  options.longest = texts.split.train.sample_shape.elements();
  options.classes = texts.split.train.classes;
  options.seed = plan.seed;
  std::string model = fmt::format("transformer of {} blocks, width {}, {} heads, {} words",
                                  options.blocks, options.width, options.heads, options.vocabulary);
  return {std::move(texts.split), text_transformer(options), std::move(model), std::move(name)};
}

Task make_moe(const Plan& plan) {
  auto [data, name] = images(plan);
  MoeOptions options;
  options.inputs = data.train.sample_shape.elements();
  options.seed = plan.seed;
  std::string model = fmt::format("moe {}-{}-{}, {} experts, {} a token", options.inputs,
                                  options.width, options.classes, options.experts, options.k);
  return {std::move(data), moe(options), std::move(model), std::move(name), options.experts};
}

// Their accuracy is in docs/training.md.
constexpr std::array kModels = {
    ModelKind{"mlp", "two hidden layers; digits", 3, 64, OptimizerKind::kSgd, 0.05, 0.001,
              make_mlp},
    ModelKind{"convnet", "two convolutions with batch norm; digits", 3, 64, OptimizerKind::kSgd,
              0.01, 0.001, make_conv_net},
    ModelKind{"transformer", "two encoder blocks; sentences, positive or negative", 8, 32,
              OptimizerKind::kAdam, 0.01, 0.002, make_transformer},
    ModelKind{"moe", "eight experts, of which an image takes two; digits", 3, 64,
              OptimizerKind::kSgd, 0.05, 0.001, make_moe},
};

}  // namespace

std::span<const ModelKind> model_kinds() { return kModels; }

const ModelKind& model_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ModelKind& kind : kModels) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw InvalidArgument(
      fmt::format("--model {}: there is no such model, only {}", name, fmt::join(names, ", ")));
}

std::int64_t digest_of(const Dataset& dataset) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, over words
  const auto add = [&hash](std::uint32_t word) { hash = (hash ^ word) * 0x100000001b3; };
  for (const float value : dataset.values) add(std::bit_cast<std::uint32_t>(value));
  for (const std::int32_t label : dataset.labels) add(static_cast<std::uint32_t>(label));
  return static_cast<std::int64_t>(hash >> 1);
}

}  // namespace rankbox::train
