// Judging distributed_sampler: which samples a rank takes, in which order, and how many are padding.
#pragma once

#include "training/data/sampler.h"
#include "verdict/subject.h"

namespace rankbox {

class DistributedSampler : public Subject {
 public:
  using Function = void (*)(std::int64_t samples, const SamplerOptions& options, Share& share);
  static constexpr const char* kParameters =
      "(std::int64_t samples, const SamplerOptions& options, Share& share)";

  explicit DistributedSampler(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& /*example*/) const override { return {}; }
  bool sends_messages() const override { return false; }

 private:
  Function function_;
};

}  // namespace rankbox
