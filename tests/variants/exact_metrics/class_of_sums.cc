// Sums are a class that can be added over ranks.
#include <vector>

#include "parallel/exact_metrics.h"

namespace rankbox {

namespace {

class Sums {
 public:
  explicit Sums(const Loss& loss) {
    copy(Slice(numbers_).sub(0, 1), full<double>(1, loss.sum));
    copy(Slice(numbers_).sub(1, 2), full<double>(1, static_cast<double>(loss.correct)));
    copy(Slice(numbers_).sub(2, 3), full<double>(1, static_cast<double>(loss.counted)));
  }
  Sums& add_ranks(Comm& dist) {
    dist.all_reduce(numbers_, ReduceOp::SUM);
    return *this;
  }
  Metrics metrics() const {
    const std::vector<double> n = to_host(numbers_);
    if (n[2] == 0) return {};
    return {n[0] / n[2], n[1] / n[2], static_cast<std::int64_t>(n[2])};
  }

 private:
  TensorOf<double> numbers_ = zeros<double>(3);
};

}  // namespace

void exact_metrics(Comm& dist, const Loss& mine, Metrics& all) {
  all = Sums(mine).add_ranks(dist).metrics();
}

}  // namespace rankbox
