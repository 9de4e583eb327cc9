// Embeds words as vectors: y[n, i] = table[token x[n, i]] + positions[i].
//
// x [batch, length] → y [batch, length, width]. x holds whole numbers, 0 <= token < vocabulary, as
// elements of type T (exact up to 2^24 in float), so that it is a batch like any other. Backward
// adds dy to the rows that were looked up; there is no dx. Saves x.
//
// table [vocabulary, width], positions [longest, width]. Starts uniform, of variance 0.02².
// Errors: InvalidArgument for a token outside the table or a text longer than `longest`.
#pragma once

#include "training/layer.h"
#include "training/random.h"

namespace rankbox {

struct EmbeddingOptions {
  std::int64_t vocabulary = 1;
  std::int64_t longest = 1;
  std::int64_t width = 1;
};

template <class T>
class EmbeddingOf : public LayerOf<T> {
 public:
  EmbeddingOf(const EmbeddingOptions& options, Random random);

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override { return {&table, &positions}; }

  ParameterOf<T> table;
  ParameterOf<T> positions;

 private:
  EmbeddingOptions options_;
};
using Embedding = EmbeddingOf<float>;

}  // namespace rankbox
