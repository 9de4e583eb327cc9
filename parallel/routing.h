// A router's choices, and the rows of tokens that follow from them.
//
// A router gives each token a score for every expert. Softmax makes probabilities of them, and the
// token goes to the k experts with the highest; their probabilities are its gates.
//
//   4 experts, k = 2    scores 1 3 3 0    probabilities 0.06 0.46 0.46 0.02
//                       experts 1 2       gates 0.46 0.46
//
// Choices are in host memory: they decide how much is sent to whom. Rows stay where tensors are.
//
// Thread safety: as tensors. Errors: InvalidArgument for shapes and numbers that do not fit.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/tensor.h"

namespace rankbox {

/// The experts that some tokens go to.
struct Choices {
  std::vector<int> experts = {};  // [tokens · k]: k different ones of a token, the best first
  std::vector<float> gates = {};  // [tokens · k]: their probabilities
};

/// Returns every token's k best experts. If scores are equal, the lower number comes first.
///
/// @param scores [tokens, experts]
Choices choose_experts(const Tensor& scores, int k);

/// Returns the softmax of every token's scores, [tokens · experts].
std::vector<double> probabilities_of(const Tensor& scores);

/// The rows that choices make of tokens: those for expert 0 first, then those for expert 1.
struct ExpertRows {
  std::vector<std::int64_t> tokens = {};  // [rows]: which token it is
  std::vector<float> gates = {};          // [rows]
  std::vector<std::int64_t> counts = {};  // [experts]: how many are for each
};

/// Returns all choices as rows: of an expert the first choices before the second ones, and of these
/// in the order of the tokens.
ExpertRows rows_by_expert(const Choices& choices, int k, std::int64_t experts);

/// Returns the derivative by the scores, [tokens, experts], given that by the gate of each row. A
/// gate is a probability, so it depends on the scores of all experts.
Tensor scores_backward(const Tensor& scores, const ExpertRows& rows,
                       const std::vector<float>& by_gates);

/// Returns the scalar product of each row of a with that row of b.
///
/// @param a, b [n, h]
std::vector<float> row_products(const Tensor& a, const Tensor& b);

/// Returns the tensor's rows of these numbers, [indices, h]; a row may be there several times.
///
/// @param rows [n, h]
Tensor rows_at(const Tensor& rows, const std::vector<std::int64_t>& indices);

/// into[indices[i]] += factors[i] · rows[i], in order of i.
///
/// @param into [n, h]
/// @param rows [indices, h]
void add_rows_at(Tensor& into, const Tensor& rows, const std::vector<std::int64_t>& indices,
                 const std::vector<float>& factors);

/// Returns the rows, in their order, each multiplied by the matrix of an expert. The first
/// counts[0] rows are for the first expert, counts[1] for the next; after the last expert the first
/// follows again. So rows may come from several ranks, one after the other, each rank's by expert.
///
/// @param rows [n, h]; counts add up to n
/// @param weights [experts, h, h]: y = x W
Tensor apply_experts(const Tensor& rows, const std::vector<std::int64_t>& counts,
                     const Tensor& weights);

/// Returns the derivative by the rows, dy Wᵀ, given that by the result, dy [n, h]. Adds that by the
/// weights to dweights [experts, h, h]: xᵀ dy of each expert's rows.
Tensor apply_experts_backward(const Tensor& rows, const std::vector<std::int64_t>& counts,
                              const Tensor& weights, const Tensor& dy, Tensor& dweights);

}  // namespace rankbox
