// Each send is waited for when the next one starts.
#include <optional>
#include <utility>

#include "parallel/pipeline_gpipe.h"

namespace rankbox {

namespace {

/// The message that is under way.
class Outbox {
 public:
  explicit Outbox(Comm& dist) : dist_(dist) {}

  void send(Tensor tensor, int to) {
    flush();
    tensor_ = std::move(tensor);
    request_ = dist_.isend(tensor_, to);
  }
  void flush() {
    if (request_) dist_.wait(*request_);
    request_.reset();
    tensor_ = Tensor();
  }

 private:
  Comm& dist_;
  Tensor tensor_;
  std::optional<Request> request_;
};

}  // namespace

void pipeline_gpipe(Comm& dist, Stage& stage) {
  Outbox outbox(dist);
  const int r = dist.rank();
  const int m = stage.micro_batches();
  for (int i = 0; i < m; ++i) {
    Tensor x = stage.empty_input(i);
    if (r > 0) dist.wait(dist.irecv(x, r - 1));
    x = stage.forward(i, std::move(x));
    if (!stage.is_last()) outbox.send(std::move(x), r + 1);
  }
  outbox.flush();
  for (int i = 0; i < m; ++i) {
    Tensor dy = stage.empty_output_gradient(i);
    if (!stage.is_last()) dist.wait(dist.irecv(dy, r + 1));
    dy = stage.backward(i, std::move(dy));
    if (r > 0) outbox.send(std::move(dy), r - 1);
  }
  outbox.flush();
}

}  // namespace rankbox
