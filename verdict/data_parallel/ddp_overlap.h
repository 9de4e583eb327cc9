// Judging ddp_overlap: gradients become those of the whole batch, in the right buckets, and as much of
// the communication is hidden behind backward as can be.
//
// Layers of the judged model take virtual time on their way back, so the clock shows what was hidden:
// it has to stop at max(backward, finish_last) to the digit. No stopwatch is involved.
#pragma once

#include "training/sequential.h"
#include "verdict/subject.h"

namespace rankbox {

class DdpOverlap : public Subject {
 public:
  using Function = void (*)(Comm& dist, Sequential& model, Tensor dy, Saved& saved,
                            std::int64_t bucket_bytes);
  static constexpr const char* kParameters =
      "(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::int64_t bucket_bytes)";

  explicit DdpOverlap(Function function) : function_(function) {}

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
