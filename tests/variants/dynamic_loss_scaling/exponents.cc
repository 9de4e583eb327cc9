// A number is not finite if its exponent has only ones.
#include <bit>
#include <cstdint>

#include "parallel/dynamic_loss_scaling.h"

namespace rankbox {

namespace {

int overflows_in(const Tensor& gradient) {
  int count = 0;
  for (std::int64_t i = 0; i < gradient.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(gradient.data()[i]);
    count += (bits >> 23 & 0xff) == 0xff ? 1 : 0;
  }
  return count;
}

}  // namespace

void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip) {
  int overflows = 0;
  for (auto next = parameters.rbegin(); next != parameters.rend(); ++next)
    overflows += overflows_in((*next)->gradient);
  auto sent = from_host({overflows > 0 ? -1.0F : 0.0F});
  dist.all_reduce(sent, ReduceOp::MIN);
  skip = to_host(sent)[0] < 0;
  const bool grows = !skip && scale.good_steps + 1 >= scale.growth_interval;
  scale.good_steps = skip || grows ? 0 : scale.good_steps + 1;
  scale.scale = skip ? scale.scale / 2 : grows ? scale.scale * 2 : scale.scale;
}

}  // namespace rankbox
