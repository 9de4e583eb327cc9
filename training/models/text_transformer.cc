#include "training/models/text_transformer.h"

#include <fmt/format.h>

#include "training/layers/attention.h"
#include "training/layers/dropout.h"
#include "training/layers/embedding.h"
#include "training/layers/first_token.h"
#include "training/layers/gelu.h"
#include "training/layers/layer_norm.h"
#include "training/layers/linear.h"
#include "training/layers/residual.h"

namespace rankbox {
namespace {

template <class T>
std::unique_ptr<LayerOf<T>> with_residual(const ModelOf<T>& inner) {
  auto layers = std::make_unique<SequentialOf<T>>();
  for (const RecipeOf<T>& recipe : inner) layers->add(recipe.name, recipe.make());
  return std::make_unique<ResidualOf<T>>(std::move(layers));
}

template <class T>
std::unique_ptr<LayerOf<T>> block(const TextTransformerOptions& options, const Random& random) {
  const std::int64_t width = options.width;
  auto layers = std::make_unique<SequentialOf<T>>();
  layers->add("attention",
              with_residual<T>({
                  recipe<LayerNormOf<T>>("norm", width),
                  recipe<LinearOf<T>>("qkv", width, 3 * width, random.stream("qkv")),
                  recipe<AttentionOf<T>>("heads", options.heads),
                  recipe<LinearOf<T>>("out", width, width, random.stream("out")),
                  recipe<DropoutOf<T>>("dropout", options.dropout, random.stream("dropout1")),
              }));
  layers->add("feed_forward",
              with_residual<T>({
                  recipe<LayerNormOf<T>>("norm", width),
                  recipe<LinearOf<T>>("fc1", width, options.feed_forward, random.stream("fc1")),
                  recipe<GeluOf<T>>("gelu"),
                  recipe<LinearOf<T>>("fc2", options.feed_forward, width, random.stream("fc2")),
                  recipe<DropoutOf<T>>("dropout", options.dropout, random.stream("dropout2")),
              }));
  return layers;
}

}  // namespace

template <class T>
ModelOf<T> text_transformer(const TextTransformerOptions& options) {
  if (options.heads < 1 || options.width % options.heads != 0) {
    throw InvalidArgument(fmt::format("text_transformer: {} heads do not divide a width of {}",
                                      options.heads, options.width));
  }
  const Random random(options.seed);
  ModelOf<T> model = {recipe<EmbeddingOf<T>>(
      "embedding", EmbeddingOptions{options.vocabulary, options.longest, options.width},
      random.stream("embedding"))};
  for (std::int64_t i = 1; i <= options.blocks; ++i) {
    const std::string name = "block" + std::to_string(i);
    const Random of_block = random.stream(name);
    model.push_back({name, [=] { return block<T>(options, of_block); }});
  }
  model.push_back(recipe<LayerNormOf<T>>("norm", options.width));
  model.push_back(recipe<FirstTokenOf<T>>("first_token"));
  model.push_back(
      recipe<LinearOf<T>>("head", options.width, options.classes, random.stream("head")));
  return model;
}

template ModelOf<float> text_transformer(const TextTransformerOptions&);
template ModelOf<double> text_transformer(const TextTransformerOptions&);

}  // namespace rankbox
