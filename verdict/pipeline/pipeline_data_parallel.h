// Judging pipeline_data_parallel: pipelines side by side, whose gradients become their mean.
#pragma once

#include "verdict/pipeline/pipeline_subject.h"

namespace rankbox {

class PipelineDataParallel : public PipelineSubject {
 public:
  using Function = void (*)(Comm& dist, Stage& stage, int stages);
  static constexpr const char* kParameters = "(Comm& dist, Stage& stage, int stages)";

  explicit PipelineDataParallel(Function function)
      : PipelineSubject(schedule::k1F1B), function_(function) {}

  bool may_call_collectives() const override { return true; }
  std::optional<Difference> compare_schedule(const RunReport& report,
                                             const Case& example) const override;

 private:
  void call(Comm& dist, std::vector<Stage>& chunks, const Case& example) const override {
    function_(dist, chunks.front(), example.world_size / *example.replicas);
  }
  std::vector<Case> cases_of(int world_size) const override;

  Function function_;
};

}  // namespace rankbox
