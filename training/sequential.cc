#include "training/sequential.h"

#include <fmt/format.h>

namespace rankbox {

template <class T>
SequentialOf<T>::SequentialOf(const ModelOf<T>& model, std::int64_t begin, std::int64_t end) {
  const auto layers = static_cast<std::int64_t>(model.size());
  if (end == -1) end = layers;
  if (begin < 0 || begin > end || end > layers) {
    throw InvalidArgument(fmt::format("layers {} to {} of a model of {} layers: there are no such",
                                      begin, end, layers));
  }
  for (std::int64_t i = begin; i < end; ++i) {
    const RecipeOf<T>& recipe = model[static_cast<std::size_t>(i)];
    add(recipe.name, recipe.make());
  }
  if (begin == 0) omit_input_gradient();
}

template <class T>
SequentialOf<T>& SequentialOf<T>::add(const std::string& name, std::unique_ptr<LayerOf<T>> layer) {
  for (ParameterOf<T>* parameter : layer->parameters())
    parameter->name = name + "." + parameter->name;
  for (NamedTensorOf<T>* tensor : layer->statistics()) tensor->name = name + "." + tensor->name;
  layers_.push_back({name, std::move(layer)});
  return *this;
}

template <class T>
TensorOf<T> SequentialOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  detail::check_delivered("forward", x, Place());
  for (Entry& entry : layers_) x = entry.layer->forward(std::move(x), saved);
  return x;
}

template <class T>
TensorOf<T> SequentialOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  detail::check_delivered("backward", dy, Place());
  for (std::int64_t i = size(); i-- > 0;) dy = layer(i).backward(std::move(dy), saved);
  return dy;
}

template <class T>
std::vector<ParameterOf<T>*> SequentialOf<T>::parameters() {
  std::vector<ParameterOf<T>*> all;
  for (Entry& entry : layers_) {
    for (ParameterOf<T>* parameter : entry.layer->parameters()) all.push_back(parameter);
  }
  return all;
}

template <class T>
std::vector<NamedTensorOf<T>*> SequentialOf<T>::statistics() {
  std::vector<NamedTensorOf<T>*> all;
  for (Entry& entry : layers_) {
    for (NamedTensorOf<T>* tensor : entry.layer->statistics()) all.push_back(tensor);
  }
  return all;
}

template <class T>
void SequentialOf<T>::omit_input_gradient() {
  if (!layers_.empty()) layers_.front().layer->omit_input_gradient();
}

template class SequentialOf<float>;
template class SequentialOf<double>;

}  // namespace rankbox
