#include "verdict/solution_cost.h"

#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "verdict/attempt.h"

namespace rankbox {

namespace {

class WithCostOfSolution : public Subject {
 public:
  WithCostOfSolution(std::unique_ptr<Subject> solution, std::unique_ptr<Subject> subject)
      : solution_(std::move(solution)), subject_(std::move(subject)) {}

  Cost cost(const Case& example) const override {
    const Attempt run = attempt(*solution_, example, {.cluster = cluster(example)}, {});
    if (run.failure) {
      throw Error(fmt::format("the reference solution fails where {}: {}", to_string(example),
                              run.failure->message));
    }
    return run.report.cost;
  }
  bool has_cost_form() const override { return solution_ != nullptr; }

  // Everything else is the subject's.
  std::vector<Case> cases() const override { return subject_->cases(); }
  std::optional<Difference> run(Comm& dist, const Case& example) const override {
    return subject_->run(dist, example);
  }
  Cluster cluster(const Case& example) const override { return subject_->cluster(example); }
  bool sends_messages() const override { return subject_->sends_messages(); }
  bool is_a_barrier() const override { return subject_->is_a_barrier(); }
  bool may_call_collectives() const override { return subject_->may_call_collectives(); }
  bool may_call_barrier() const override { return subject_->may_call_barrier(); }
  std::optional<Difference> compare_schedule(const RunReport& report,
                                             const Case& example) const override {
    return subject_->compare_schedule(report, example);
  }
  bool limits_memory() const override { return subject_->limits_memory(); }
  std::optional<Difference> compare_memory(const RunReport& report,
                                           const Case& example) const override {
    return subject_->compare_memory(report, example);
  }
  std::optional<Difference> after(const RunReport& report, const Case& example) const override {
    return subject_->after(report, example);
  }
  std::optional<IdleShare> idle_share(const Case& example) const override {
    return subject_->idle_share(example);
  }
  std::int64_t count_to_show() const override { return subject_->count_to_show(); }
  std::string remark(const std::function<double(const Case&)>& seconds_of) const override {
    return subject_->remark(seconds_of);
  }

 private:
  std::unique_ptr<Subject> solution_;
  std::unique_ptr<Subject> subject_;
};

}  // namespace

std::unique_ptr<Subject> with_cost_of(std::unique_ptr<Subject> solution,
                                      std::unique_ptr<Subject> subject) {
  return std::make_unique<WithCostOfSolution>(std::move(solution), std::move(subject));
}

}  // namespace rankbox
