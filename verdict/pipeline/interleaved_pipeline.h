// Judging pipeline_interleaved: several chunks a rank.
#pragma once

#include "verdict/pipeline/pipeline_subject.h"

namespace rankbox {

class InterleavedPipeline : public PipelineSubject {
 public:
  using Function = void (*)(Comm& dist, std::vector<Stage>& chunks);
  static constexpr const char* kParameters = "(Comm& dist, std::vector<Stage>& chunks)";

  explicit InterleavedPipeline(Function function)
      : PipelineSubject(schedule::kInterleaved), function_(function) {}

 private:
  void call(Comm& dist, std::vector<Stage>& chunks, const Case& /*example*/) const override {
    function_(dist, chunks);
  }
  std::vector<Case> cases_of(int world_size) const override;

  Function function_;
};

}  // namespace rankbox
