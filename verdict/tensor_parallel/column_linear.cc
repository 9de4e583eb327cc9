#include "verdict/tensor_parallel/column_linear.h"

#include "parallel/layer_shards.h"
#include "verdict/tensor_parallel/whole_and_parts.h"

namespace rankbox {

namespace {

constexpr std::int64_t kIn = 3;

Linear whole_layer(int world_size) {
  const std::int64_t out = 2 * world_size;
  return {small_values({out, kIn}, "weight"), small_values(out, "bias")};
}

/// All ranks' columns, added up: what no layer has a use for.
Tensor sum_of_parts(const Tensor& whole, int world_size) {
  Tensor sum = column_part(whole, 0, world_size);
  for (int rank = 1; rank < world_size; ++rank)
    sum = weighted_sum(1, column_part(whole, rank, world_size), sum);
  return sum;
}

}  // namespace

std::vector<Case> ColumnLinear::cases() const { return cases_by_rows(); }

std::optional<Difference> ColumnLinear::run(Comm& dist, const Case& example) const {
  const int r = dist.rank(), p = dist.world_size();
  const auto ranks = static_cast<float>(p);
  Linear whole = whole_layer(p);
  const Tensor x = small_values({*example.count, kIn}, "x");
  const Tensor dy = small_values({*example.count, 2 * p}, "dy");
  Linear shard = column_shard(whole, r, p);
  start_gradients(whole.parameters());
  start_gradients(shard.parameters());

  Saved saved;
  Tensor tensor = clone(x);
  function_(dist, shard, Direction::kForward, tensor, saved);
  const Tensor y = std::move(tensor);
  tensor = column_part(dy, r, p);
  function_(dist, shard, Direction::kBackward, tensor, saved);

  const Passes alone = run_alone(whole, x, dy);
  const Tensor part_of_y = column_part(alone.y, r, p);
  Linear part = column_shard(whole, r, p);
  const Passes own = run_alone(part, x, column_part(dy, r, p));
  const Tensor with_sum_of_x = run_alone(part, scaled(x, ranks), column_part(dy, r, p)).y;
  if (auto wrong = compare_tensor(
          "forward: y", y, part_of_y, kLinearBound,
          {{"all ranks' columns were gathered: each keeps its own, for the next layer", alone.y},
           {"that was added up over the ranks, whose columns are different ones (f and g swapped?)",
            sum_of_parts(alone.y, p)},
           {"x was added up over the ranks: all have the same one, and forward f leaves it alone",
            with_sum_of_x}},
          "these should be this rank's columns of y, [rows, out / p]"))
    return wrong;
  if (auto wrong = compare_tensor(
          "backward: dx", tensor, alone.dx, kLinearBound,
          {{"that is what this rank's rows of W give: the ranks' are to be added up (f, backward)",
            own.dx},
           {"that is the mean over the ranks: each rank's is a summand, so their sum is wanted",
            scaled(alone.dx, 1 / ranks)}},
          "this should be dx of the whole layer, [rows, in]"))
    return wrong;
  if (auto wrong =
          compare_parameters({{&shard.weight, "shard.weight", row_part(whole.weight.gradient, r, p),
                               row_part(whole.weight.value, r, p)},
                              {&shard.bias, "shard.bias", row_part(whole.bias.gradient, r, p),
                               row_part(whole.bias.value, r, p)}},
                             kLinearBound, p))
    return wrong;
  return compare_saved(saved);
}

std::vector<NativeCall> ColumnLinear::exchanges(const Case& example) const {
  return {{CollectiveKind::kAllReduce, *example.count * kIn}};  // backward
}

}  // namespace rankbox
