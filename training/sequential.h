// Layers in sequence, by name; and models, as recipes for such sequences.
//
//   Model model = mlp();
//   Sequential whole(model);                       // every layer
//   Sequential stage(model, 2, 4);                 // layers 2 and 3: a stage of a pipeline
//
// A model is a list of recipes and not of layers, because a rank of a pipeline should build (and
// hold in memory) only its own layers. A recipe gives the same layer on every rank and at any time:
// initial values depend on the model's seed and the layer's name.
//
// To do something between layers, such as sending gradients while the rest of backward runs, go
// through them yourself:
//
//   for (std::int64_t i = whole.size(); i-- > 0;) {
//     dy = whole.layer(i).backward(std::move(dy), saved);
//     start_sending(whole.layer(i).parameters());
//   }
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "training/layer.h"

namespace rankbox {

template <class T>
struct RecipeOf {
  std::string name;  // "fc1"
  std::function<std::unique_ptr<LayerOf<T>>()> make;
};

template <class T>
using ModelOf = std::vector<RecipeOf<T>>;
using Model = ModelOf<float>;

/// recipe<Linear>("fc1", 784, 500, random): a Linear(784, 500, random) called fc1.
template <class L, class... Arguments>
RecipeOf<typename L::Element> recipe(std::string name, Arguments... arguments) {
  return {std::move(name), [=] { return std::make_unique<L>(arguments...); }};
}

template <class T>
class SequentialOf : public LayerOf<T> {
 public:
  /// Layers [begin, end) of a model; end -1: all that follow. If they begin with the model's first
  /// layer, backward returns an empty tensor: the derivative by the data is not needed.
  /// Throws InvalidArgument unless 0 <= begin <= end <= model.size().
  explicit SequentialOf(const ModelOf<T>& model, std::int64_t begin = 0, std::int64_t end = -1);
  SequentialOf() = default;

  /// Names of its parameters become "name.weight". Returns this.
  SequentialOf& add(const std::string& name, std::unique_ptr<LayerOf<T>> layer);

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override;
  std::vector<NamedTensorOf<T>*> statistics() override;
  void omit_input_gradient() override;

  std::int64_t size() const { return static_cast<std::int64_t>(layers_.size()); }
  LayerOf<T>& layer(std::int64_t i) { return *layers_.at(static_cast<std::size_t>(i)).layer; }
  const std::string& name(std::int64_t i) const {
    return layers_.at(static_cast<std::size_t>(i)).name;
  }

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<LayerOf<T>> layer;
  };
  std::vector<Entry> layers_;
};
using Sequential = SequentialOf<float>;

}  // namespace rankbox
