#include "verdict/race.h"

#include "race/judge_race.h"

namespace rankbox {

namespace {

constexpr std::int64_t kBefore = 1000;  // not 0: the program has to start from what is there

}  // namespace

std::vector<Case> Race::cases() const {
  std::vector<Case> cases;
  for (std::int64_t repeats : {0, 1, 1000, 30'000}) {
    for (int threads : {2, 4, 8}) {
      Case example;
      example.threads = threads;
      example.repeats = repeats;
      // The longer the threads run side by side, the surer a race is to show.
      const int times = repeats >= 1000 ? 3 : 1;
      cases.insert(cases.end(), static_cast<std::size_t>(times), example);
    }
  }
  return cases;
}

std::optional<Difference> Race::run(Comm& /*dist*/, const Case& example) const {
  SharedValue value(kBefore);
  function_(value, *example.threads, *example.repeats);

  const auto wrong = what_is_wrong(value, kBefore, *example.threads, *example.repeats);
  if (!wrong) return std::nullopt;
  return Difference{"the shared value", -1, "no update is lost", *wrong, ""};
}

}  // namespace rankbox
