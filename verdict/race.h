// Judging the race: threads that update one shared value, and no update may get lost.
//
// The race has no ranks and costs nothing in virtual time: only the values are judged, and several
// times, since one good run proves nothing about the next.
#pragma once

#include "collectives/shared_value.h"
#include "verdict/subject.h"

namespace rankbox {

class Race : public Subject {
 public:
  using Function = void (*)(SharedValue& value, int threads, std::int64_t repeats);
  static constexpr const char* kParameters =
      "(SharedValue& value, int threads, std::int64_t repeats)";

  explicit Race(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& /*example*/) const override { return {}; }
  bool sends_messages() const override { return false; }

 private:
  Function function_;
};

}  // namespace rankbox
