// A micro-batch is a call, which starts its messages and waits for each at once.
#include <utility>

#include "parallel/model_parallel.h"

namespace rankbox {

namespace {

struct Rank {
  Comm& dist;
  Stage& stage;

  void receive(Tensor& into, int from) const { dist.wait(dist.irecv(into, from)); }
  void send(const Tensor& from, int to) const { dist.wait(dist.isend(from, to)); }

  void run(int i) const {
    if (i == stage.micro_batches()) return;
    {
      const int r = dist.rank();
      Tensor t = stage.empty_input(i);
      if (r > 0) receive(t, r - 1);
      t = stage.forward(i, std::move(t));
      if (!stage.is_last()) {
        send(t, r + 1);
        t = stage.empty_output_gradient(i);
        receive(t, r + 1);
      }
      t = stage.backward(i, std::move(t));
      if (r > 0) send(t, r - 1);
    }
    run(i + 1);
  }
};

}  // namespace

void model_parallel(Comm& dist, Stage& stage) { Rank{dist, stage}.run(0); }

}  // namespace rankbox
