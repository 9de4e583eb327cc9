// A bucket is an object that sends itself when it is destroyed.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/ddp_buckets.h"

namespace rankbox {

namespace {

class Bucket {
 public:
  explicit Bucket(Comm& dist) : dist_(dist) {}
  Bucket(const Bucket&) = delete;
  Bucket& operator=(const Bucket&) = delete;
  ~Bucket() noexcept(false) {
    Tensor flat(count_elements(all_));
    for_each([&](Slice gradient, std::int64_t at) {
      copy(Slice(flat).sub(at, at + gradient.size()), gradient);
    });
    dist_.wait(dist_.all_reduce_async(flat, ReduceOp::AVG));
    for_each([&](Slice gradient, std::int64_t at) {
      copy(gradient, Slice(flat).sub(at, at + gradient.size()));
    });
  }

  bool has_room(const Parameter& next, std::int64_t most) const {
    return count_elements(all_) * 4 + next.value.bytes() <= most;
  }
  void add(Parameter* next) { all_.push_back(next); }

 private:
  template <class Use>
  void for_each(Use use) {
    std::int64_t at = 0;
    for (Parameter* parameter : all_) {
      use(Slice(gradient_of(*parameter)), at);
      at += parameter->value.size();
    }
  }

  Comm& dist_;
  std::vector<Parameter*> all_;
};

}  // namespace

void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes) {
  std::unique_ptr<Bucket> bucket;
  for (std::size_t i = parameters.size(); i-- > 0;) {
    if (!bucket || !bucket->has_room(*parameters[i], bucket_bytes)) {
      bucket.reset();
      bucket = std::make_unique<Bucket>(dist);
    }
    bucket->add(parameters[i]);
  }
}

}  // namespace rankbox
