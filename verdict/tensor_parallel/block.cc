#include "verdict/tensor_parallel/block.h"

namespace rankbox {

std::optional<Difference> compare_block(const Passes& actual, const BlockCheck& check) {
  const auto ranks = static_cast<float>(check.world_size);
  const Tensor& y = check.whole.y;
  const Tensor& dx = check.whole.dx;
  Tensor b(y.shape());  // the bias in every row
  for (std::int64_t i = 0; i < b.size(); ++i)
    b.data()[i] = check.bias.data()[i % check.bias.size()];

  if (auto wrong = compare_tensor(
          "forward: y", actual.y, check.part(y), kBlockBound,
          {{"that is this rank's share alone: the ranks' are to be added up, behind the last layer",
            check.part(weighted_sum(1, check.own.y, b))},
           {"the bias is in it p times: it was added on every rank, before the sum",
            check.part(weighted_sum(ranks - 1, b, y))},
           {"the bias is missing", check.part(weighted_sum(-1, b, y))},
           {"that is the mean of the ranks' shares: their sum is wanted",
            check.part(weighted_sum(1 / ranks, weighted_sum(-1, b, y), b))},
           {"these are all ranks' rows: each keeps its own", y}},
          "this should be y of the whole block"))
    return wrong;
  return compare_tensor(
      "backward: dx", actual.dx, check.part(dx), kBlockBound,
      {{"that is what this rank's weights give: the ranks' are to be added up (f, backward)",
        check.part(check.own.dx)},
       {"dy was added up over the ranks: all have the whole of it, and backward g leaves it alone",
        check.part(scaled(dx, ranks))},
       {"that is the mean over the ranks: each rank's is a summand, so their sum is wanted",
        check.part(scaled(dx, 1 / ranks))},
       {"these are all ranks' rows: each keeps its own", dx}},
      "this should be dx of the whole block");
}

}  // namespace rankbox
