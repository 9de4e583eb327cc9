// Judging ddp_buckets: gradients become their means, in the buckets that the contract asks for.
#pragma once

#include "training/parameter.h"
#include "verdict/subject.h"

namespace rankbox {

class DdpBuckets : public Subject {
 public:
  using Function = void (*)(Comm& dist, const std::vector<Parameter*>& parameters,
                            std::int64_t bucket_bytes);
  static constexpr const char* kParameters =
      "(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes)";

  explicit DdpBuckets(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }
  std::optional<Difference> compare_schedule(const RunReport& report,
                                             const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
