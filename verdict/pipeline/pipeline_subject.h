// What judging all schedules has in common: every rank gets its chunks of a deep model, the function
// runs, and then gradients, the order of the passes, messages, time and memory are compared with
// what the schedule promises.
//
// Every pass takes virtual time and leaves a label in the trace, so order and idle time are read off
// that. Messages are free on the judge's machine: what remains is the bubble, to the digit.
#pragma once

#include <vector>

#include "parallel/stage.h"
#include "verdict/pipeline/schedule.h"
#include "verdict/subject.h"

namespace rankbox {

class PipelineSubject : public Subject {
 public:
  explicit PipelineSubject(const Schedule& schedule) : schedule_(schedule) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;

  Cost cost(const Case& /*example*/) const override { return {}; }
  bool has_cost_form() const override { return false; }
  Cluster cluster(const Case& example) const override;
  std::optional<Difference> compare_schedule(const RunReport& report,
                                             const Case& example) const override;
  bool limits_memory() const override { return true; }
  std::optional<Difference> compare_memory(const RunReport& report,
                                           const Case& example) const override;
  std::optional<IdleShare> idle_share(const Case& example) const override;

 protected:
  /// The function under judgement.
  virtual void call(Comm& dist, std::vector<Stage>& chunks, const Case& example) const = 0;
  /// What a world of this size is tried with; steps are added.
  virtual std::vector<Case> cases_of(int world_size) const;

 private:
  std::optional<Difference> compare_gradients(std::vector<Stage>& chunks, int rank,
                                              const std::vector<StagePass>& passes,
                                              const Case& example) const;

  const Schedule& schedule_;
};

}  // namespace rankbox
