// vocab_parallel_cross_entropy: the loss of logits whose classes are sharded over the ranks.
//
// A language model has a class for every word, some 10⁵ of them, and logits for each token: they
// are the largest tensor of all, and a column_linear leaves them in columns. Gathering them would
// cost more than everything else. The loss needs only three numbers per row from the other ranks'
// columns:
//
//   loss = log Σ e^(x_c - m) - (x_label - m)        m: the row's largest logit
//
//   m             the largest of the ranks' largest    all-reduce MAX of `batch` numbers
//   Σ e^(x_c - m) the sum of the ranks' sums        \  all-reduce SUM of 2 · `batch` numbers, in
//   x_label - m   one rank has it, others add 0     /  one tensor
//
//   gradient = (e^(x_c - m) / Σ - (1 if c is the label)) / counted      for this rank's classes
//
// m must be the largest over all ranks: if each rank used its own, their e^(x - m) could not be
// added up; without m, e^100 is too large for a float. Rank r has classes [C·r/p, C·(r+1)/p), so
// subtract the first from a label; most labels belong to other ranks. With C < p, some ranks have
// no classes.
//
// Build on dist.all_reduce, twice, of floats.
//
// Cost: two native all-reduces, of 4 · batch and 8 · batch bytes, however many classes there are.
// Memory: 1/p of the gradient, and a few numbers per row.
// Blocks: until all ranks have called it.
// Difficulty 4/5. Importance 4/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3 (there with three all-reduces).
#pragma once

#include <cstdint>
#include <span>

#include "comm/comm.h"
#include "training/cross_entropy.h"

namespace rankbox {

/// loss.sum, counted and gradient become those of cross_entropy (training/cross_entropy.h) with the
/// logits of all ranks; the gradient is that by this rank's logits, and has their shape.
/// loss.correct is unchanged.
///
/// @param logits [batch, C·(r+1)/p - C·r/p]: this rank's classes
/// @param classes C, of all ranks together
/// @param labels of all classes, [batch]; rows labelled kIgnoredLabel are in neither the sum nor
/// counted, and their gradient is 0
/// REQUIRES: every rank calls it with the same batch, classes >= 1 and labels, each a class or
/// kIgnoredLabel; logits are finite.
void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss);

}  // namespace rankbox
