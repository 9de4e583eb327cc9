// Judging model_parallel, pipeline_gpipe and pipeline_1f1b: which of them it is, says the schedule.
#pragma once

#include "verdict/pipeline/pipeline_subject.h"

namespace rankbox {

class Pipeline : public PipelineSubject {
 public:
  using Function = void (*)(Comm& dist, Stage& stage);
  static constexpr const char* kParameters = "(Comm& dist, Stage& stage)";

  Pipeline(Function function, const Schedule& schedule)
      : PipelineSubject(schedule), function_(function) {}

 private:
  void call(Comm& dist, std::vector<Stage>& chunks, const Case& /*example*/) const override {
    function_(dist, chunks.front());
  }

  Function function_;
};

}  // namespace rankbox
