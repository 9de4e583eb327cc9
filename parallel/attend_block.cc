#include "parallel/attend_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each_row.h"
#include "compute/matrix.h"
#include "training/rows.h"

namespace rankbox {

namespace {

struct BlockShape {
  std::int64_t queries, keys, heads, width;
};

BlockShape shape_of(const Tensor& q, const Tensor& kv) {
  const std::vector<std::int64_t>&of_q = q.shape().extents(), &of_kv = kv.shape().extents();
  if (of_q.size() == 3 && of_kv.size() == 4 && of_kv[0] == 2 && of_kv[2] == of_q[1] &&
      of_kv[3] == of_q[2]) {
    return {of_q[0], of_kv[1], of_q[1], of_q[2]};
  }
  throw InvalidArgument(
      fmt::format("attend_block: q has shape {} and kv {}, expected [queries, heads, width] and "
                  "[2, keys, heads, width]; empty_kv() makes a kv to receive into",
                  to_string(q.shape()), to_string(kv.shape())));
}

constexpr std::int64_t kMostRows = 64;  // of scores at a time

/// One head of these tokens, in rows of all heads.
template <class T>
MatrixOf<T> head_of(T* rows, const BlockShape& shape, std::int64_t head, std::int64_t begin,
                    std::int64_t end) {
  const std::int64_t row = shape.heads * shape.width;
  return {rows + begin * row + head * shape.width, end - begin, shape.width, row};
}

/// Every row of the scores, of queries from `first` on, becomes e^(scale · score - maximum) over
/// the keys that it attends to, 0 after them. maximum and sum are those of one head, `heads` apart.
void weigh(MatrixOf<float> scores, std::int64_t heads, std::int64_t first, bool is_causal,
           float scale, float* maximum, float* sum) {
  const std::int64_t keys = scores.columns;
  float* const all = scores.data;
  for_each_row(scores.rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    float* const at = all + row * keys;
    const std::int64_t count = is_causal ? first + row + 1 : keys;
    const float largest = scale * lanes.max<float>(count, [=](std::int64_t j) { return at[j]; });
    sum[row * heads] = lanes.sum<float>(
        count, [=](std::int64_t j) { return at[j] = std::exp(scale * at[j] - largest); });
    maximum[row * heads] = largest;
    lanes.each(keys, [=](std::int64_t j) { at[j] = j < count ? at[j] : 0.0F; });
  });
}

/// Every row of the scores becomes the softmax p = e^(scale · score - log_sum); dp, the derivatives
/// by p, become those by the products of q and k. log_sum is that of one head, `heads` apart.
void derive(MatrixOf<float> scores, MatrixOf<float> dp, const BlockShape& shape, float scale,
            const float* y, const float* dy, const float* log_sum) {
  const std::int64_t keys = scores.columns, heads = shape.heads, width = shape.width;
  float* const weights = scores.data;
  float* const derivatives = dp.data;
  for_each_row(scores.rows, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const std::int64_t first = row * heads * width;
    const float product =
        lanes.sum<float>(width, [=](std::int64_t i) { return dy[first + i] * y[first + i]; });
    lanes.each(keys, [=](std::int64_t j) {
      float& weight = weights[row * keys + j];
      float& derivative = derivatives[row * keys + j];
      weight = std::exp(scale * weight - log_sum[row * heads]);
      derivative = scale * weight * (derivative - product);
    });
  });
}

void check_rows(const char* call, const AttentionPart& part, const Tensor& maximum) {
  if (part.maximum.size() == maximum.size() && part.sum.size() == maximum.size()) return;
  throw InvalidArgument(
      fmt::format("{}: a part has {} maxima and {} sums, expected {} of each, one for each query "
                  "and head",
                  call, part.maximum.size(), part.sum.size(), maximum.size()));
}

}  // namespace

AttentionPart attend_block(Comm& dist, const Tensor& q, const Tensor& kv, Mask mask) {
  const BlockShape shape = shape_of(q, kv);
  const bool is_causal = mask == Mask::kCausal;
  if (is_causal && shape.queries != shape.keys) {
    throw InvalidArgument(
        fmt::format("attend_block: a causal block has {} queries and {} keys, expected the same "
                    "tokens; pass Mask::kNone for a block of earlier tokens",
                    shape.queries, shape.keys));
  }
  const Shape rows = {shape.queries, shape.heads};
  if (shape.queries * shape.keys == 0) {
    return {zeros(q.shape()), full(rows, -std::numeric_limits<float>::infinity()), zeros(rows)};
  }

  const std::int64_t pairs =
      is_causal ? shape.keys * (shape.keys + 1) / 2 : shape.queries * shape.keys;
  dist.compute(attention_seconds(pairs, shape.heads, shape.width), "attend");
  const float scale = 1 / std::sqrt(static_cast<float>(shape.width));
  const float* const keys = kv.data();
  const float* const values = keys + kv.size() / 2;
  AttentionPart part = {empty_like(q), Tensor(rows), Tensor(rows)};
  Tensor scores({std::min(shape.queries, kMostRows), shape.keys});
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const auto k = head_of(keys, shape, head, 0, shape.keys);
    const auto v = head_of(values, shape, head, 0, shape.keys);
    for (std::int64_t begin = 0; begin < shape.queries; begin += kMostRows) {
      const std::int64_t end = std::min(begin + kMostRows, shape.queries);
      const std::int64_t at = begin * shape.heads + head;
      const MatrixOf<float> weights = {scores.data(), end - begin, shape.keys};
      multiply(head_of(q.data(), shape, head, begin, end), k.transposed(), weights);
      weigh(weights, shape.heads, begin, is_causal, scale, part.maximum.data() + at,
            part.sum.data() + at);
      multiply(weights, v, head_of(part.weighted.data(), shape, head, begin, end));
    }
  }
  return part;
}

Tensor attend_block_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, Tensor& dq) {
  const BlockShape shape = shape_of(q, kv);
  if (y.size() != q.size() || dy.size() != q.size() || dq.size() != q.size() ||
      log_sum.size() != shape.queries * shape.heads) {
    throw InvalidArgument(fmt::format(
        "attend_block_backward: q has {} elements, y {}, dy {}, dq {} and log_sum {}, expected as "
        "many, and {} of log_sum",
        q.size(), y.size(), dy.size(), dq.size(), log_sum.size(), shape.queries * shape.heads));
  }
  Tensor dkv = zeros(kv.shape());
  if (shape.queries * shape.keys == 0) return dkv;

  dist.compute(attention_backward_seconds(shape.queries * shape.keys, shape.heads, shape.width),
               "backward");
  const float scale = 1 / std::sqrt(static_cast<float>(shape.width));
  const std::int64_t half = kv.size() / 2;
  const std::int64_t tile = std::min(shape.queries, kMostRows);
  Tensor scores({tile, shape.keys}), dscores({tile, shape.keys});
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const auto k = head_of(kv.data(), shape, head, 0, shape.keys);
    const auto v = head_of(kv.data() + half, shape, head, 0, shape.keys);
    const auto dk = head_of(dkv.data(), shape, head, 0, shape.keys);
    const auto dv = head_of(dkv.data() + half, shape, head, 0, shape.keys);
    for (std::int64_t begin = 0; begin < shape.queries; begin += kMostRows) {
      const std::int64_t end = std::min(begin + kMostRows, shape.queries);
      const MatrixOf<float> p = {scores.data(), end - begin, shape.keys};
      const MatrixOf<float> ds = {dscores.data(), end - begin, shape.keys};
      const auto queries = head_of(q.data(), shape, head, begin, end);
      const auto dout = head_of(dy.data(), shape, head, begin, end);
      multiply(queries, k.transposed(), p);
      multiply(dout, v.transposed(), ds);
      derive(p, ds, shape, scale, head_of(y.data(), shape, head, begin, end).data, dout.data,
             log_sum.data() + begin * shape.heads + head);
      multiply(p.transposed(), dout, dv, Into::kAdd);
      multiply(ds, k, head_of(dq.data(), shape, head, begin, end), Into::kAdd);
      multiply(ds.transposed(), queries, dk, Into::kAdd);
    }
  }
  return dkv;
}

void rescale(AttentionPart& part, const Tensor& maximum) {
  check_rows("rescale", part, maximum);
  if (part.maximum.empty()) return;
  const std::int64_t width = part.weighted.size() / part.maximum.size();
  float* const weighted = part.weighted.data();
  float* const sums = part.sum.data();
  float* const old = part.maximum.data();
  const float* const wanted = maximum.data();
  for_each_row(part.maximum.size(), [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    // Without keys the old maximum is -infinity, and so may the new one be.
    const float factor = old[row] == wanted[row] ? 1.0F : std::exp(old[row] - wanted[row]);
    lanes.each(width, [=](std::int64_t i) { weighted[row * width + i] *= factor; });
    lanes.each(1, [=](std::int64_t) { sums[row] *= factor; });
  });
  part.maximum = clone(maximum);
}

Tensor normalized(AttentionPart part) {
  check_rows("normalized", part, part.maximum);
  if (part.sum.empty()) return std::move(part.weighted);
  const std::int64_t width = part.weighted.size() / part.sum.size();
  float* const weighted = part.weighted.data();
  const float* const sums = part.sum.data();
  for_each(part.sum.size(), width, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t i) {
    weighted[row * width + i] /= sums[row];
  });
  return std::move(part.weighted);
}

Tensor swapped(const Tensor& pieces, std::int64_t rows, std::int64_t columns) {
  if (rows < 0 || columns < 0 ||
      (rows * columns == 0 ? pieces.size() != 0 : pieces.size() % (rows * columns) != 0)) {
    throw InvalidArgument(fmt::format("swapped: {} elements are not {} x {} pieces of equal size",
                                      pieces.size(), rows, columns));
  }
  const std::int64_t size = pieces.size() / std::max<std::int64_t>(1, rows * columns);
  Tensor made({columns, rows, size});
  const float* const from = pieces.data();
  float* const to = made.data();
  for_each(rows * columns, size, [=] RANKBOX_PORTABLE(std::int64_t piece, std::int64_t i) {
    const std::int64_t row = piece / columns, column = piece % columns;
    to[(column * rows + row) * size + i] = from[piece * size + i];
  });
  return made;
}

std::int64_t heads_of_rank(const Tensor& q, int world_size) {
  const std::vector<std::int64_t>& extents = q.shape().extents();
  if (extents.size() != 3) {
    throw InvalidArgument(fmt::format(
        "heads_of_rank: q has shape {}, expected [tokens, heads, width]", to_string(q.shape())));
  }
  if (extents[1] % world_size != 0) {
    throw InvalidArgument(fmt::format(
        "{} heads on {} ranks: each needs as many whole heads; give a multiple of {} heads, or use "
        "ring_attention",
        extents[1], world_size, world_size));
  }
  return extents[1] / world_size;
}

std::int64_t zigzag_chunk(std::int64_t length, int world_size) {
  const std::int64_t chunks = 2 * std::int64_t{world_size};
  if (length % chunks == 0) return length / chunks;
  throw InvalidArgument(fmt::format(
      "{} tokens on {} ranks: zigzag cuts them into {} equal chunks; pad the sequence to "
      "{} tokens",
      length, world_size, chunks, (length / chunks + 1) * chunks));
}

Tensor empty_kv(const Tensor& kv, std::int64_t tokens) {
  std::vector<std::int64_t> extents = kv.shape().extents();
  if (extents.size() != 4) {
    throw InvalidArgument(fmt::format(
        "empty_kv: kv has shape {}, expected [2, tokens, heads, width]", to_string(kv.shape())));
  }
  extents[0] = 2;
  extents[1] = tokens;
  return Tensor(Shape(extents));
}

}  // namespace rankbox
