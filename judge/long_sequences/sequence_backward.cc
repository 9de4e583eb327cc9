#include "judge/long_sequences/sequence_backward.h"

#include <algorithm>
#include <cmath>

namespace rankbox {

namespace {

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

BackwardAlone::BackwardAlone(const Sequence& sequence)
    : sequence_(sequence), scale_(1 / std::sqrt(static_cast<double>(sequence.shape.width))) {
  const SequenceShape& shape = sequence_.shape;
  const auto width = static_cast<std::size_t>(shape.width);
  y.resize(sequence.q.size());
  for (std::int64_t query = 0; query < shape.length; ++query) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      std::vector<double> weights;
      for (std::int64_t key = 0; key < shape.length; ++key)
        weights.push_back(scale_ * product(sequence.q, query, sequence.k, key, head));
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - largest);
      std::vector<double> weighted(width);
      for (std::int64_t key = 0; key < shape.length; ++key) {
        const double weight = weights[static_cast<std::size_t>(key)] /= sum;
        for (std::size_t i = 0; i < width; ++i)
          weighted[i] += weight * double{sequence.v[place(key, head) + i]};
      }
      for (std::size_t i = 0; i < width; ++i)
        y[place(query, head) + i] = static_cast<float>(weighted[i]);
      log_sums_.push_back(largest + std::log(sum));
      deltas_.push_back(product(sequence.dy, query, y, query, head));
      weights_.insert(weights_.end(), weights.begin(), weights.end());
    }
  }
}

double BackwardAlone::product(const std::vector<float>& a, std::int64_t of_a,
                              const std::vector<float>& b, std::int64_t of_b,
                              std::int64_t head) const {
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sequence_.shape.width); ++i)
    sum += double{a[place(of_a, head) + i]} * double{b[place(of_b, head) + i]};
  return sum;
}

BackwardAlone::Pair BackwardAlone::pair_of(std::int64_t query, std::int64_t key,
                                           std::int64_t head) const {
  const std::size_t at = row(query, head) * static_cast<std::size_t>(sequence_.shape.length) +
                         static_cast<std::size_t>(key);
  const double derivative =
      product(sequence_.dy, query, sequence_.v, key, head) - deltas_[row(query, head)];
  return {weights_[at], scale_ * weights_[at] * derivative};
}

Tensor BackwardAlone::log_sums_of(const Tokens& queries) const {
  const std::int64_t heads = sequence_.shape.heads;
  std::vector<float> rows;
  for (const std::int64_t query : queries) {
    for (std::int64_t head = 0; head < heads; ++head)
      rows.push_back(static_cast<float>(log_sums_[row(query, head)]));
  }
  return from_host(rows, {static_cast<std::int64_t>(queries.size()), heads});
}

Tensor BackwardAlone::dq_of(const Tokens& queries, const Tokens& keys) const {
  const SequenceShape& shape = sequence_.shape;
  std::vector<double> dq;
  for (const std::int64_t query : queries) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      std::vector<double> sum(static_cast<std::size_t>(shape.width));
      for (const std::int64_t key : keys) {
        const double derivative = pair_of(query, key, head).derivative;
        for (std::size_t i = 0; i < sum.size(); ++i)
          sum[i] += derivative * double{sequence_.k[place(key, head) + i]};
      }
      dq.insert(dq.end(), sum.begin(), sum.end());
    }
  }
  return from_host(rounded(dq),
                   {static_cast<std::int64_t>(queries.size()), shape.heads, shape.width});
}

Tensor BackwardAlone::dkv_of(const Tokens& keys, const Tokens& queries) const {
  const SequenceShape& shape = sequence_.shape;
  std::vector<double> dk, dv;
  for (const std::int64_t key : keys) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      std::vector<double> of_k(static_cast<std::size_t>(shape.width)), of_v = of_k;
      for (const std::int64_t query : queries) {
        const Pair pair = pair_of(query, key, head);
        for (std::size_t i = 0; i < of_k.size(); ++i) {
          of_k[i] += pair.derivative * double{sequence_.q[place(query, head) + i]};
          of_v[i] += pair.weight * double{sequence_.dy[place(query, head) + i]};
        }
      }
      dk.insert(dk.end(), of_k.begin(), of_k.end());
      dv.insert(dv.end(), of_v.begin(), of_v.end());
    }
  }
  dk.insert(dk.end(), dv.begin(), dv.end());
  return from_host(rounded(dk),
                   {2, static_cast<std::int64_t>(keys.size()), shape.heads, shape.width});
}

}  // namespace rankbox
