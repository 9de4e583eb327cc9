#include <cstddef>

#include "comm/run_ranks.h"
#include "judge/race/variants.h"

namespace rankbox {
namespace {

constexpr int kOwner = 0;

// Half of the other ranks send +1, the other half -1.
void send_updates(Comm& dist, std::int64_t repeats) {
  const TensorOf<std::int64_t> amount = full<std::int64_t>(1, dist.rank() % 2 == 1 ? 1 : -1);
  for (std::int64_t i = 0; i < repeats; ++i) dist.send(amount, kOwner);
}

// Only the owner can access `value`, so no other rank can interfere between its load and its store.
std::int64_t apply_updates(Comm& dist, std::int64_t repeats) {
  TensorOf<std::int64_t> value = zeros<std::int64_t>(1);
  TensorOf<std::int64_t> amount = empty_like(value);
  for (std::int64_t i = 0; i < repeats; ++i) {
    for (int src = kOwner + 1; src < dist.world_size(); ++src) {
      dist.recv(amount, src);
      value += amount;
    }
  }
  return to_host(value)[0];
}

}  // namespace

RaceOutcome race_with_messages(int threads, std::int64_t repeats) {
  // Without a trace: it would grow by two events with every message.
  const RunOptions options = {.world_size = threads + 1, .trace = false};
  const auto [results, report] = run_ranks(options, [repeats](Comm& dist) -> std::int64_t {
    if (dist.rank() == kOwner) return apply_updates(dist, repeats);
    send_updates(dist, repeats);
    return 0;
  });
  return {results[static_cast<std::size_t>(kOwner)], report.wall_seconds};
}

}  // namespace rankbox
