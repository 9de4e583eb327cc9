#include <cstddef>

#include "comm/run_ranks.h"
#include "judge/race/run_threads.h"
#include "judge/race/variants.h"

namespace rankbox {
namespace {

constexpr int kOwner = 0;

// Half of the other ranks send the amount, the other half its negative.
void send_updates(Comm& dist, const RaceProgram& program) {
  const auto amount = full<std::int64_t>(1, amount_of(program, dist.rank() - 1));
  for (std::int64_t i = 0; i < program.repeats; ++i) dist.send(amount, kOwner);
}

// Only the owner can access `value`, so no other rank can interfere between its load and its store.
std::int64_t apply_updates(Comm& dist, const RaceProgram& program) {
  TensorOf<std::int64_t> value = zeros<std::int64_t>(1);
  TensorOf<std::int64_t> amount = empty_like(value);
  for (std::int64_t i = 0; i < program.repeats; ++i) {
    for (int src = kOwner + 1; src < dist.world_size(); ++src) {
      dist.recv(amount, src);
      spin(program.delay);
      value += amount;
    }
  }
  return to_host(value)[0];
}

}  // namespace

RaceOutcome race_with_messages(const RaceProgram& program) {
  // Without a trace: it would grow by two events with every message.
  const RunOptions options = {.world_size = program.threads + 1, .trace = false};
  const auto [results, report] = run_ranks(options, [&](Comm& dist) -> std::int64_t {
    if (dist.rank() == kOwner) return apply_updates(dist, program);
    send_updates(dist, program);
    return 0;
  });
  return {results[static_cast<std::size_t>(kOwner)], report.wall_seconds};
}

}  // namespace rankbox
