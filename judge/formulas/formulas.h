// What layers and losses compute, as their formulas read: xtensor expressions in double.
//
// Judges and tests compare with them. They share no code with training/, whose loops are fast; here
// a line is a line of the paper. Slow and large: every intermediate result is a whole array.
//
// Thread safety: any threads. Costs no more than some passes over the operands, except attention
// and linear, which make arrays of the size of all products.
#pragma once

#include <cstdint>
#include <span>

#include "comm/tensor.h"
#include "training/cross_entropy.h"

namespace rankbox::formula {

/// Values, and the derivative of Σ dy·y by x.
struct Normalized {
  TensorOf<double> y;
  TensorOf<double> dx;
};

/// y = (x - mean) / √(variance + ε) for every column of x [rows, features]: batch normalization
/// without its scale and shift.
Normalized batch_norm(const TensorOf<double>& x, const TensorOf<double>& dy, double epsilon);

/// The same for every row of x [rows, width]: layer normalization.
Normalized layer_norm(const TensorOf<double>& x, const TensorOf<double>& dy, double epsilon);

/// Loss and derivative of logits [batch, classes]; training/cross_entropy.h says what counts.
LossOf<double> cross_entropy(const TensorOf<double>& logits, std::span<const std::int32_t> labels);

/// y = softmax(q kᵀ / √d) v of every sample and head; x as in training/layers/attention.h.
TensorOf<double> attention(const TensorOf<double>& x, std::int64_t heads);

/// y = x Wᵀ + b for x [rows, in], W [out, in] and b [out].
TensorOf<double> linear(const TensorOf<double>& x, const TensorOf<double>& weight,
                        const TensorOf<double>& bias);

}  // namespace rankbox::formula
