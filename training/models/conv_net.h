// The convolutional network for digits that PyTorch tutorials on distributed training use: twice
// convolution 5 × 5, batch norm, ReLU, pooling; then one linear layer.
//
//   x [batch, 28, 28, 1] → [batch, 14, 14, 16] → [batch, 7, 7, 32] → logits [batch, 10]
//
// Layers: conv1, norm1, relu1, pool1, conv2, norm2, relu2, pool2, fc.
#pragma once

#include "training/sequential.h"

namespace rankbox {

struct ConvNetOptions {
  std::int64_t side = 28;  // of the image, a multiple of 4
  std::int64_t filters1 = 16;
  std::int64_t filters2 = 32;
  std::int64_t classes = 10;
  std::uint64_t seed = 1;
};

template <class T = float>
ModelOf<T> conv_net(const ConvNetOptions& options = {});

}  // namespace rankbox
