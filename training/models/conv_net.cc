#include "training/models/conv_net.h"

#include "training/layers/batch_norm.h"
#include "training/layers/conv.h"
#include "training/layers/linear.h"
#include "training/layers/max_pool.h"
#include "training/layers/relu.h"

namespace rankbox {

template <class T>
ModelOf<T> conv_net(const ConvNetOptions& options) {
  const Random random(options.seed);
  const auto conv = [&](const std::string& name, std::int64_t channels, std::int64_t filters) {
    return recipe<ConvOf<T>>(name, ConvOptions{.channels = channels, .filters = filters},
                             random.stream(name));
  };
  const std::int64_t side = options.side / 4;
  const std::int64_t features = side * side * options.filters2;
  return {
      conv("conv1", 1, options.filters1),
      recipe<BatchNormOf<T>>("norm1", options.filters1),
      recipe<ReluOf<T>>("relu1"),
      recipe<MaxPoolOf<T>>("pool1", 2),
      conv("conv2", options.filters1, options.filters2),
      recipe<BatchNormOf<T>>("norm2", options.filters2),
      recipe<ReluOf<T>>("relu2"),
      recipe<MaxPoolOf<T>>("pool2", 2),
      recipe<LinearOf<T>>("fc", features, options.classes, random.stream("fc")),
  };
}

template ModelOf<float> conv_net(const ConvNetOptions&);
template ModelOf<double> conv_net(const ConvNetOptions&);

}  // namespace rankbox
