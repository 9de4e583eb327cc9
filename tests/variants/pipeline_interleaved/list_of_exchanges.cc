// A class with the two halves of an exchange; what travels is in members.
#include <optional>
#include <utility>
#include <vector>

#include "parallel/pipeline_interleaved.h"

namespace rankbox {

namespace {

class Interleaved {
 public:
  Interleaved(Comm& dist, std::vector<Stage>& chunks)
      : dist_(dist), chunks_(chunks), p_(dist.world_size()), v_(static_cast<int>(chunks.size())) {}

  void run() {
    const int all = v_ * chunks_.front().micro_batches();
    const int lead = 2 * (p_ - 1 - dist_.rank()) + (v_ - 1) * p_;
    prepare(0 < all ? 0 : -1, -1);
    exchange(Tensor(), Tensor());
    for (int k = 0; k < all + lead; ++k) {
      const int b = k - lead;
      Tensor y = k < all ? stage_of(k, false).forward(batch_of(k), std::move(x_)) : Tensor();
      Tensor dx = b >= 0 ? stage_of(b, true).backward(batch_of(b), std::move(dy_)) : Tensor();
      prepare(k + 1 < all ? k + 1 : -1, b + 1 >= 0 && b + 1 < all ? b + 1 : -1);
      exchange(y, dx);
    }
  }

 private:
  Stage& stage_of(int k, bool back) {
    const int chunk = k / p_ % v_;
    return chunks_[static_cast<std::size_t>(back ? v_ - 1 - chunk : chunk)];
  }
  int batch_of(int k) const { return k / (v_ * p_) * p_ + k % p_; }

  void prepare(int forward, int backward) {
    x_ = forward < 0 ? Tensor() : stage_of(forward, false).empty_input(batch_of(forward));
    dy_ = backward < 0 ? Tensor()
                       : stage_of(backward, true).empty_output_gradient(batch_of(backward));
  }
  void exchange(const Tensor& y, const Tensor& dx) {
    const int next = (dist_.rank() + 1) % p_, prev = (dist_.rank() + p_ - 1) % p_;
    std::vector<Request> requests;
    if (!y.empty()) requests.push_back(dist_.isend(y, next));
    if (!dx.empty()) requests.push_back(dist_.isend(dx, prev));
    if (!x_.empty()) requests.push_back(dist_.irecv(x_, prev));
    if (!dy_.empty()) requests.push_back(dist_.irecv(dy_, next));
    for (const Request& request : requests) dist_.wait(request);
  }

  Comm& dist_;
  std::vector<Stage>& chunks_;
  const int p_, v_;
  Tensor x_, dy_;
};

}  // namespace

void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks) {
  Interleaved(dist, chunks).run();
}

}  // namespace rankbox
