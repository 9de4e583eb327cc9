// stochastic_rounding: weights in BFloat16 that learn without a copy in 32 bits.
//
// Above 1.0 the next BFloat16 is 1.0078. Rounded to nearest, 1 + 0.001 is 1, in every step, which
// is why master_weights keeps a copy in 32 bits. Stochastic rounding needs none: it takes one of
// the two neighbours at random, the nearer one more often, so that the *mean* is the exact value.
//
//   exact      1.001
//   rounded    1.0078 with probability 0.001 / 0.0078 = 13 %, otherwise 1
//
// Random bits do it. A BFloat16 is the upper half of a float. Add a random number r of 16 bits to
// the float's 32 bits, then drop the lower half. The sum carries into the upper half with a
// probability of lower half / 65536: that is the distance from the neighbour nearer to zero.
//
//   1.001 as a float    0x3f80'20c5
//   r                 +      0xf000
//                       0x3f81'10c5    →  0x3f81 = 1.0078
//
// Values that are not finite stay what they are. (A GPU's NaN is 0x7fff'ffff: with r it would carry
// into the sign, and become a zero.) A finite value stays finite: where r would carry beyond the
// largest BFloat16, drop the lower half without r.
//
// Which r? Replicas must draw the same number for the same weight, or they drift apart. So r
// belongs to the seed, the step and the number of the weight in the model, never to the rank:
//
//   r = Random(seed).stream(step).at(number) >> 48        the upper 16 of 64 bits
//
// Random (training/random.h) computes any of its numbers without those before. So a rank that holds
// a part of the model draws what the others would draw for it, and any number of ranks trains the
// same model.
//
// Cost: no messages. Memory: 2 bytes per weight; with master weights it is 6.
// Blocks: never.
// Difficulty 3/5. Importance 3/5.
// Papers: Gupta et al., Deep learning with limited numerical precision, ICML 2015; Zamirai et al.,
// Revisiting BFloat16 training, 2020.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "training/random.h"

namespace rankbox {

/// One step of gradient descent: weights[i] becomes weights[i] - learning_rate * gradient[i],
/// computed in 32 bits and rounded as above. Weights keep their shape.
///
/// @param gradient the mean over the ranks, in 32 bits
/// @param seed of the run, the same on all ranks
/// @param step counts the steps of the run
/// @param first the number of weights[0] in the model; weights[i] has number first + i
/// REQUIRES: two tensors of one size; step >= 0; first >= 0.
void stochastic_rounding(const Tensor& gradient, float learning_rate, std::uint64_t seed,
                         std::int64_t step, std::int64_t first, TensorOf<BFloat16>& weights);

}  // namespace rankbox
