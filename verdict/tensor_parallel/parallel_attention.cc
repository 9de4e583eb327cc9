#include "verdict/tensor_parallel/parallel_attention.h"

#include "parallel/layer_shards.h"
#include "verdict/tensor_parallel/block.h"

namespace rankbox {

namespace {

constexpr std::int64_t kWidth = 4;
constexpr std::int64_t kLength = 3;
constexpr std::int64_t kHeadWidth = 2;

/// Every other world has two heads a rank.
std::int64_t heads_of(int world_size) { return world_size * (world_size % 2 + 1); }

/// Some texts are shorter than others.
Pass pass_of(std::int64_t batch) {
  Pass pass;
  for (std::int64_t i = 0; i < batch; ++i)
    pass.lengths.push_back(static_cast<std::int32_t>(kLength - i % kLength));
  return pass;
}

/// A rank's part of the two linear layers.
struct AttentionShard {
  AttentionShard(const Linear& whole_qkv, const Linear& whole_out, std::int64_t heads, int rank,
                 int world_size)
      : qkv(column_shard(whole_qkv, rank, world_size)),
        out(row_shard(whole_out, rank, world_size)),
        bias(whole_out.bias),
        block{qkv, out, bias, heads} {}

  Linear qkv;
  Linear out;
  Parameter bias;
  ParallelAttention block;
};

}  // namespace

std::vector<Case> ParallelAttentionBlock::cases() const { return cases_by_rows(); }

std::optional<Difference> ParallelAttentionBlock::run(Comm& dist, const Case& example) const {
  const int r = dist.rank(), p = dist.world_size();
  const std::int64_t heads = heads_of(p);
  const std::int64_t inner = heads * kHeadWidth;
  Linear qkv(small_values({3 * inner, kWidth}, "qkv.weight"), small_values(3 * inner, "qkv.bias"));
  Attention attention(heads);
  Linear out(small_values({kWidth, inner}, "out.weight"), small_values(kWidth, "out.bias"));
  const Tensor x = small_values({*example.count, kLength, kWidth}, "x");
  const Tensor dy = small_values({*example.count, kLength, kWidth}, "dy");
  AttentionShard shard(qkv, out, heads, r, p);
  start_gradients({&qkv.weight, &qkv.bias, &out.weight, &out.bias});
  start_gradients(shard.block.parameters());

  const Pass pass = pass_of(*example.count);
  Saved saved(pass);
  Passes actual{clone(x), clone(dy)};
  function_(dist, shard.block, Direction::kForward, actual.y, saved);
  function_(dist, shard.block, Direction::kBackward, actual.dx, saved);

  Chain whole(qkv, attention, out);
  AttentionShard part(qkv, out, heads, r, p);
  Attention own_heads(heads / p);
  Chain own(part.qkv, own_heads, part.out);
  const BlockCheck check{run_alone(whole, x, dy, pass), run_alone(own, x, dy, pass), out.bias.value,
                         p};
  if (auto wrong = compare_block(actual, check)) return wrong;
  const auto rows = [=](const Tensor& all) { return row_part(all, r, p); };
  const auto columns = [=](const Tensor& all) { return column_part(all, r, p); };
  if (auto wrong = compare_parameters(
          {{&shard.qkv.weight, "shard.qkv.weight", rows(qkv.weight.gradient),
            rows(qkv.weight.value)},
           {&shard.qkv.bias, "shard.qkv.bias", rows(qkv.bias.gradient), rows(qkv.bias.value)},
           {&shard.out.weight, "shard.out.weight", columns(out.weight.gradient),
            columns(out.weight.value)},
           {&shard.bias, "shard.bias", out.bias.gradient, out.bias.value}},
          kBlockBound, p))
    return wrong;
  return compare_saved(saved);
}

std::vector<NativeCall> ParallelAttentionBlock::exchanges(const Case& example) const {
  const NativeCall one = {CollectiveKind::kAllReduce, *example.count * kLength * kWidth};
  return {one, one};  // forward, backward
}

}  // namespace rankbox
