// A class that owns the flat tensor of one step.
#include <vector>

#include "parallel/zero1.h"

namespace rankbox {

namespace {

class Step {
 public:
  Step(Comm& dist, Shard& shard)
      : dist_(dist), shard_(shard), flat_(flat_for(shard, dist.world_size())) {}

  Step& average(const std::vector<Parameter*>& parameters) {
    pack_gradients(parameters, shard_, flat_);
    dist_.wait(dist_.reduce_scatter_async(flat_, gradient_of(shard_.mine), ReduceOp::SUM));
    shard_.mine.gradient /= static_cast<float>(dist_.world_size());
    return *this;
  }
  void share(const std::vector<Parameter*>& parameters) {
    dist_.all_gather(shard_.mine.value, flat_);
    std::int64_t at = 0;
    for (Parameter* parameter : parameters) {
      const std::int64_t end = at + parameter->value.size();
      copy(parameter->value, Slice(flat_).sub(at, end));
      at = end;
    }
  }

 private:
  Comm& dist_;
  Shard& shard_;
  Tensor flat_;
};

}  // namespace

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  Step step(dist, shard);
  step.average(parameters);
  optimizer.step();
  step.share(parameters);
}

}  // namespace rankbox
