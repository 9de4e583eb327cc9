#include "judge/tensor_parallel/block.h"

#include <string>

#include "parallel/layer_shards.h"

namespace rankbox {

namespace {

/// Values reach about 30, and their sums are in another order than the whole layer's.
constexpr float kBound = 1e-4f;

Linear linear(const std::string& name, std::int64_t out, std::int64_t in) {
  return {small_values({out, in}, name + ".weight"), small_values(out, name + ".bias")};
}

/// Returns the gradient of a bias that is added to these rows.
Tensor gradient_of_bias(const Tensor& rows, std::int64_t width, float before) {
  Tensor sum = full(width, before);
  add_bias_gradient(rows, sum);
  return sum;
}

/// Compares the shard's gradients with their parts of the whole gradients, and its values with
/// those it was made from.
std::vector<ParameterCheck> checks_of(const BlockShard& shard, const Block& whole,
                                      const BlockShape& shape, int rank, int world_size) {
  const auto rows = [=](const Tensor& all) { return row_part(all, rank, world_size); };
  const auto columns = [=](const Tensor& all) { return column_part(all, rank, world_size); };
  const std::string first = std::string("shard.") + shape.first;
  const std::string last = std::string("shard.") + shape.last;
  return {{&shard.first.weight, first + ".weight", rows(whole.first.weight.gradient),
           rows(whole.first.weight.value)},
          {&shard.first.bias, first + ".bias", rows(whole.first.bias.gradient),
           rows(whole.first.bias.value)},
          {&shard.last.weight, last + ".weight", columns(whole.last.weight.gradient),
           columns(whole.last.weight.value)},
          {&shard.bias, "shard.bias", whole.last.bias.gradient, whole.last.bias.value}};
}

}  // namespace

BlockShape mlp_shape(std::int64_t in, std::int64_t out, int world_size) {
  return {"fc1", "fc2", in, 2 * world_size, 2 * world_size, out};
}

Block::Block(const BlockShape& shape)
    : first(linear(shape.first, shape.first_out, shape.in)),
      last(linear(shape.last, shape.out, shape.last_in)) {}

BlockShard::BlockShard(const Block& whole, int rank, int world_size)
    : first(column_shard(whole.first, rank, world_size)),
      last(row_shard(whole.last, rank, world_size)),
      bias(whole.last.bias) {}

std::optional<Difference> compare_block(const Comm& dist, const BlockRun& run,
                                        const BlockFunction& function) {
  const int r = dist.rank(), p = dist.world_size();
  const auto part = [&](const Tensor& all) { return run.cut_by_rows ? row_part(all, r, p) : all; };
  Block block(run.shape);
  BlockShard shard(block, r, p);
  start_gradients(block.parameters(), run.gradient_before);
  start_gradients(shard.parameters(), run.gradient_before);

  Saved saved(run.pass);
  const Passes actual =
      both_directions(clone(part(run.x)), clone(part(run.dy)), saved, run.two_batches,
                      [&](Direction way, Tensor& tensor, Saved& of_batch) {
                        function(shard, way, tensor, of_batch);
                      });

  BlockShard fresh(block, r, p);
  Chain chain(block.first, run.middle, block.last);
  Chain own_chain(fresh.first, run.own_middle, fresh.last);
  const Passes whole = run_alone(chain, run.x, run.dy, run.pass);
  const Passes own = run_alone(own_chain, run.x, run.dy, run.pass);
  const auto ranks = static_cast<float>(p);
  TensorCheck y = {
      part(whole.y),
      mistakes_of_sum(
          whole.y, own.y, block.last.bias.value, p,
          {{"own-share-alone",
            "that is this rank's share alone: the ranks' are to be added "
            "up, after the last layer"},
           {"mean-of-shares", "that is the mean of the ranks' shares: their sum is wanted"}}),
      {"y-of-whole-block", "this should be y of the whole block"}};
  for (Guess& guess : y.guesses) guess.tensor = part(guess.tensor);
  y.guesses.push_back(
      {{"rows-of-all-ranks", "these are all ranks' rows: each keeps its own"}, whole.y});
  const TensorCheck dx = {
      part(whole.dx),
      {{{"dx-of-own-weights",
         "that is what this rank's weights give: the ranks' are to be added up (f, backward)"},
        part(own.dx)},
       {{"dy-summed",
         "dy was added up over the ranks: all have the whole of it, and backward g leaves it "
         "alone"},
        part(scaled(whole.dx, ranks))},
       {{"mean-not-sum", "that is the mean over the ranks: sum across ranks; do not average"},
        part(scaled(whole.dx, 1 / ranks))},
       {{"rows-of-all-ranks", "these are all ranks' rows: each keeps its own"}, whole.dx}},
      {"dx-of-whole-block", "this should be dx of the whole block"}};

  std::vector<ParameterCheck> parameters = checks_of(shard, block, run.shape, r, p);
  if (run.cut_by_rows) {
    parameters.back().guesses = {
        {{"bias-gradient-of-own-rows",
          "that is the gradient of this rank's rows: b is added to all ranks' rows"},
         gradient_of_bias(part(run.dy), run.shape.out, run.gradient_before)}};
  }
  return compare_shard(actual, saved, y, dx, parameters, run.gradient_before, kBound, p);
}

}  // namespace rankbox
