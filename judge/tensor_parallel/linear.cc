// Judges column_linear and row_linear: one linear layer, split by columns or rows.
//
// Column: columns of y, a whole dx. Row: a whole y, columns of dx. Both: the gradients of the
// shard.
#include "judge/tensor_parallel/whole_and_parts.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "parallel/column_linear.h"
#include "parallel/direction.h"
#include "parallel/layer_shards.h"
#include "parallel/row_linear.h"

namespace rankbox {

namespace {

using ColumnFunction = decltype(&column_linear);
using RowFunction = decltype(&row_linear);

constexpr std::int64_t kWhole =
    3;  // the extent that is not cut: a column layer's in, a row layer's out
constexpr std::int64_t kCut = 2;  // of the other extent, for each rank

Linear whole_layer(std::int64_t out, std::int64_t in) {
  return {small_values({out, in}, "weight"), small_values(out, "bias")};
}

/// Returns the sum of all ranks' columns.
Tensor sum_of_parts(const Tensor& whole, int world_size) {
  Tensor sum = column_part(whole, 0, world_size);
  for (int rank = 1; rank < world_size; ++rank)
    sum = weighted_sum(1, column_part(whole, rank, world_size), sum);
  return sum;
}

std::optional<Difference> run_column(ColumnFunction function, Comm& dist, const Case& example) {
  const int r = dist.rank(), p = dist.world_size();
  const auto ranks = static_cast<float>(p);
  Linear whole = whole_layer(kCut * p, kWhole);
  const Tensor x = small_values({*example.count, kWhole}, "x");
  const Tensor dy = small_values({*example.count, kCut * p}, "dy");
  const Tensor own_dy = column_part(dy, r, p);
  Linear shard = column_shard(whole, r, p);
  const float before = gradient_before(*example.count);
  start_gradients(whole.parameters(), before);
  start_gradients(shard.parameters(), before);

  Saved saved;
  const Passes actual = both_directions(clone(x), clone(own_dy), saved, has_two_batches(example),
                                        [&](Direction way, Tensor& tensor, Saved& of_batch) {
                                          function(dist, shard, way, tensor, of_batch);
                                        });

  const Passes alone = run_alone(whole, x, dy);
  Linear part = column_shard(whole, r, p);
  const Passes own = run_alone(part, x, own_dy);
  const Tensor with_sum_of_x = run_alone(part, scaled(x, ranks), own_dy).y;
  const TensorCheck y = {
      column_part(alone.y, r, p),
      {{{"columns-gathered",
         "all ranks' columns were gathered: each keeps its own, for the next layer"},
        alone.y},
       {{"columns-added",
         "that was added up over the ranks, whose columns are different ones (f and g swapped?)"},
        sum_of_parts(alone.y, p)},
       {{"x-summed",
         "x was added up over the ranks: all have the same one, and forward f leaves it alone"},
        with_sum_of_x}},
      {"columns-of-y", "these should be this rank's columns of y, [rows, out / p]"}};
  const TensorCheck dx = {
      alone.dx,
      {{{"dx-of-own-rows",
         "that is what this rank's rows of W give: the ranks' are to be added up (f, backward)"},
        own.dx},
       {{"mean-not-sum", "that is the mean over the ranks: sum across ranks; do not average"},
        scaled(alone.dx, 1 / ranks)}},
      {"dx-of-whole-layer", "this should be dx of the whole layer, [rows, in]"}};
  return compare_shard(actual, saved, y, dx,
                       {{&shard.weight, "shard.weight", row_part(whole.weight.gradient, r, p),
                         row_part(whole.weight.value, r, p)},
                        {&shard.bias, "shard.bias", row_part(whole.bias.gradient, r, p),
                         row_part(whole.bias.value, r, p)}},
                       before, kLinearBound, p);
}

std::optional<Difference> run_row(RowFunction function, Comm& dist, const Case& example) {
  const int r = dist.rank(), p = dist.world_size();
  const auto ranks = static_cast<float>(p);
  Linear whole = whole_layer(kWhole, kCut * p);
  const Tensor x = small_values({*example.count, kCut * p}, "x");
  const Tensor dy = small_values({*example.count, kWhole}, "dy");
  const Tensor own_x = column_part(x, r, p);
  Linear shard = row_shard(whole, r, p);
  Parameter bias = whole.bias;
  const float before = gradient_before(*example.count);
  start_gradients({&whole.weight, &whole.bias, &shard.weight, &bias}, before);

  Saved saved;
  const Passes actual = both_directions(clone(own_x), clone(dy), saved, has_two_batches(example),
                                        [&](Direction way, Tensor& tensor, Saved& of_batch) {
                                          function(dist, shard, bias, way, tensor, of_batch);
                                        });

  const Passes alone = run_alone(whole, x, dy);
  Linear part = row_shard(whole, r, p);
  const Tensor own = run_alone(part, own_x, dy).y;
  const TensorCheck y = {
      alone.y,
      mistakes_of_sum(alone.y, own, whole.bias.value, p,
                      {{"own-product-alone",
                        "that is this rank's product alone: the ranks' are to be "
                        "added up (g, forward)"},
                       {"mean-of-products",
                        "that is the mean of the ranks' products: their sum is "
                        "wanted"}}),
      {"y-of-whole-layer", "this should be y of the whole layer, [rows, out]"}};
  const Tensor part_of_dx = column_part(alone.dx, r, p);
  const TensorCheck dx = {
      part_of_dx,
      {{{"dy-summed",
         "dy was added up over the ranks: all have the whole of it, and backward g leaves it alone "
         "(f and g swapped?)"},
        scaled(part_of_dx, ranks)},
       {{"columns-gathered",
         "all ranks' columns were gathered: each keeps its own, for the layer before"},
        alone.dx}},
      {"columns-of-dx", "these should be this rank's columns of dx, [rows, in / p]"}};
  return compare_shard(actual, saved, y, dx,
                       {{&shard.weight, "shard.weight", column_part(whole.weight.gradient, r, p),
                         column_part(whole.weight.value, r, p)},
                        {&bias, "bias", whole.bias.gradient, whole.bias.value}},
                       before, kLinearBound, p);
}

/// Returns the calls in one direction, which depend on the extent that is not cut, for each batch.
NativeCalls calls(const Case& example) {
  return repeated(has_two_batches(example) ? 2 : 1,
                  {{CollectiveKind::kAllReduce, *example.count * kWhole}});
}

Subject subject() {
  return subject_with_calls([] { return cases_by_rows(); }, calls, {check_of_calls(calls)});
}

}  // namespace

Family family::column_linear() {
  return make_family<ColumnFunction>(
      "column_linear",
      "(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved)", subject(),
      run_column);
}

Family family::row_linear() {
  return make_family<RowFunction>("row_linear",
                                  "(Comm& dist, Linear& shard, Parameter& bias, Direction "
                                  "direction, Tensor& tensor, Saved& saved)",
                                  subject(), run_row);
}

}  // namespace rankbox
