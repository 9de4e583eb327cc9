// A transformer encoder that classifies text, after BERT: the first token stands for the whole
// text, and a linear layer classifies its vector after the blocks.
//
//   tokens [batch, length] → [batch, length, width] → [batch, width] → logits [batch, classes]
//
// A block is x + attention(norm(x)), then x + feed_forward(norm(x)), with the norms first, as in
// GPT-2, because that trains without a warm-up. Pass::lengths says where texts end.
//
// Layers: embedding, block1 … blockN, norm, first_token, head.
#pragma once

#include "training/sequential.h"

namespace rankbox {

struct TextTransformerOptions {
  std::int64_t vocabulary = 1000;
  std::int64_t longest = 32;  // tokens of a text
  std::int64_t width = 64;
  std::int64_t heads = 4;           // divides width
  std::int64_t feed_forward = 128;  // width of its hidden layer
  std::int64_t blocks = 2;
  std::int64_t classes = 2;
  double dropout = 0.1;
  std::uint64_t seed = 1;
};

/// Throws InvalidArgument if the heads do not divide the width.
template <class T = float>
ModelOf<T> text_transformer(const TextTransformerOptions& options = {});

}  // namespace rankbox
