// A layer of experts on one rank: of E matrices each token passes the k that its router chooses.
//
//   scores = x Rᵀ     y_t = Σ_j gate_tj · (x_t W_e)     e = the j-th choice of t
//
// x [tokens, h] → y [tokens, h]; R [E, h], W [E, h, h]. Gates are the probabilities of the chosen
// experts among all (routing.h), and have derivatives. No choice is dropped.
//
// Backward: dR, dW and dx, the last one through experts and gates. Saves x, rows and results.
// Cost: 2 tokens·k·h² operations forward, twice that backward, and those of the router.
// Starts uniform: R in ±1/√h, W in ±3/√h, since gates are far below 1.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/routing.h"
#include "training/layers/linear.h"
#include "training/random.h"

namespace rankbox {

class Experts : public Layer {
 public:
  /// @param choices k: how many experts each token chooses
  Experts(std::int64_t width, std::int64_t experts, int choices, Random random);

  Tensor forward(Tensor x, Saved& saved) override;
  Tensor backward(Tensor dy, Saved& saved) override;
  std::vector<Parameter*> parameters() override { return {&router.weight, &weights}; }

  /// From now on evaluation adds the rows of each expert to these E numbers, which must outlive the
  /// layer.
  void count_loads(std::vector<std::int64_t>& loads) { loads_ = &loads; }
  /// Adds the rows that these tokens make, for a caller that evaluates the layer itself.
  void count(const Tensor& x);

  Linear router;      // no bias
  Parameter weights;  // [E, h, h]
  const int k;

 private:
  ExpertRows rows_for(const Tensor& scores) const;
  void add_loads(const ExpertRows& rows);

  std::vector<std::int64_t>* loads_ = nullptr;
};

}  // namespace rankbox
