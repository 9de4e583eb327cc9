#include "verdict/tensor_parallel/row_linear.h"

#include "parallel/layer_shards.h"
#include "verdict/tensor_parallel/whole_and_parts.h"

namespace rankbox {

namespace {

constexpr std::int64_t kOut = 3;

Linear whole_layer(int world_size) {
  const std::int64_t in = 2 * world_size;
  return {small_values({kOut, in}, "weight"), small_values(kOut, "bias")};
}

/// The bias in every row.
Tensor rows_of_bias(const Tensor& bias, std::int64_t rows) {
  Tensor made({rows, kOut});
  for (std::int64_t i = 0; i < made.size(); ++i) made.data()[i] = bias.data()[i % kOut];
  return made;
}

}  // namespace

std::vector<Case> RowLinear::cases() const { return cases_by_rows(); }

std::optional<Difference> RowLinear::run(Comm& dist, const Case& example) const {
  const int r = dist.rank(), p = dist.world_size();
  const auto ranks = static_cast<float>(p);
  const std::int64_t rows = *example.count;
  Linear whole = whole_layer(p);
  const Tensor x = small_values({rows, 2 * p}, "x");
  const Tensor dy = small_values({rows, kOut}, "dy");
  Linear shard = row_shard(whole, r, p);
  Parameter bias = whole.bias;
  start_gradients({&whole.weight, &whole.bias, &shard.weight, &bias});

  Saved saved;
  Tensor tensor = column_part(x, r, p);
  function_(dist, shard, bias, Direction::kForward, tensor, saved);
  const Tensor y = std::move(tensor);
  tensor = clone(dy);
  function_(dist, shard, bias, Direction::kBackward, tensor, saved);

  const Passes alone = run_alone(whole, x, dy);
  Linear part = row_shard(whole, r, p);
  const Tensor own = run_alone(part, column_part(x, r, p), dy).y;
  const Tensor b = rows_of_bias(whole.bias.value, rows);
  const Tensor product = weighted_sum(-1, b, alone.y);
  if (auto wrong = compare_tensor(
          "forward: y", y, alone.y, kLinearBound,
          {{"that is this rank's product alone: the ranks' are to be added up (g, forward)",
            weighted_sum(1, own, b)},
           {"the bias is in it p times: it was added on every rank, before the sum",
            weighted_sum(ranks, b, product)},
           {"the bias is missing", product},
           {"that is the mean of the ranks' products: their sum is wanted",
            weighted_sum(1 / ranks, product, b)}},
          "this should be y of the whole layer, [rows, out]"))
    return wrong;
  const Tensor part_of_dx = column_part(alone.dx, r, p);
  if (auto wrong = compare_tensor(
          "backward: dx", tensor, part_of_dx, kLinearBound,
          {{"dy was added up over the ranks: all have the whole of it, and backward g leaves it "
            "alone (f and g swapped?)",
            scaled(part_of_dx, ranks)},
           {"all ranks' columns were gathered: each keeps its own, for the layer before",
            alone.dx}},
          "these should be this rank's columns of dx, [rows, in / p]"))
    return wrong;
  if (auto wrong = compare_parameters(
          {{&shard.weight, "shard.weight", column_part(whole.weight.gradient, r, p),
            column_part(whole.weight.value, r, p)},
           {&bias, "bias", whole.bias.gradient, whole.bias.value}},
          kLinearBound, p))
    return wrong;
  return compare_saved(saved);
}

std::vector<NativeCall> RowLinear::exchanges(const Case& example) const {
  return {{CollectiveKind::kAllReduce, *example.count * kOut}};  // forward
}

}  // namespace rankbox
