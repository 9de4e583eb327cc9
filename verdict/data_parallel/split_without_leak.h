// Judging split_without_leak: all ranks hold back the same samples.
#pragma once

#include <vector>

#include "verdict/subject.h"

namespace rankbox {

class SplitWithoutLeak : public Subject {
 public:
  using Function = void (*)(Comm& dist, std::int64_t samples, std::int64_t held_out,
                            std::int64_t seed, std::vector<std::int64_t>& train,
                            std::vector<std::int64_t>& validation);
  static constexpr const char* kParameters =
      "(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed, "
      "std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation)";

  explicit SplitWithoutLeak(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;
  bool may_call_collectives() const override { return true; }

 private:
  Function function_;
};

}  // namespace rankbox
