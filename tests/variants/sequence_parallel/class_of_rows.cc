// A class knows how many rows there are, and makes both exchanges.
#include <utility>

#include "parallel/sequence_parallel.h"

namespace rankbox {

namespace {

class Rows {
 public:
  Rows(Comm& dist, const Tensor& mine) : dist_(dist), mine_(mine.shape().extents()[0]) {}

  Tensor gathered(const Tensor& mine) const {
    const std::int64_t width = mine.shape().extents()[1];
    Tensor all({mine_ * dist_.world_size(), width});
    dist_.wait(dist_.all_gather_async(mine, all));
    return all;
  }
  Tensor added_up(Tensor all) const {
    Tensor mine({mine_, all.shape().extents()[1]});
    dist_.wait(dist_.reduce_scatter_async(all, mine, ReduceOp::SUM));
    return mine;
  }

 private:
  Comm& dist_;
  const std::int64_t mine_;
};

}  // namespace

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  const Rows rows(dist, tensor);
  Tensor all = rows.gathered(tensor);
  if (direction == Direction::kForward) {
    all = shard.fc1.forward(std::move(all), saved);
    all = shard.activation.forward(std::move(all), saved);
    tensor = rows.added_up(shard.fc2.forward(std::move(all), saved));
    add_bias(tensor, shard.bias.value);
  } else {
    add_bias_gradient(all, gradient_of(shard.bias));
    all = shard.fc2.backward(std::move(all), saved);
    all = shard.activation.backward(std::move(all), saved);
    tensor = rows.added_up(shard.fc1.backward(std::move(all), saved));
  }
}

}  // namespace rankbox
