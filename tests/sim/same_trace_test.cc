// The same seed gives the same trace, byte for byte.
//
// It does not depend on thread timing, executor, compiler or optimization. The number below was the
// same for g++ and clang, at -O0 and at -O2; all test configurations must reproduce it.
#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/clock/clock.h"
#include "tests/sim/on_executor.h"
#include "tests/sim/program_walker.h"
#include "tests/sim/random_program.h"

namespace rankbox::testing {
namespace {

constexpr std::uint64_t kPrograms = 300;
constexpr std::uint64_t kDigest = 8992906561335027398u;

/// Returns all of a trace but the wall clock and the places in the source, with the virtual time of
/// every event, to the last bit.
std::string text_of(const RunReport& report, const Cluster& cluster) {
  const Replay replay = replay_trace(report.trace, cluster);
  std::string text;
  for (const std::vector<int>& group : report.trace.groups) {
    for (const int rank : group) text += fmt::format("{} ", rank);
    text += '\n';
  }
  for (std::size_t rank = 0; rank < report.trace.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < report.trace.ranks[rank].size(); ++i) {
      const Event& event = report.trace.ranks[rank][i];
      const Span& span = replay.spans[rank][i];
      text += fmt::format("{} {} {} {} {}{}{}{} {} {} {} {:a} {} {:a} {:a} {:a}\n", rank,
                          name_of(event), name_of(event.op), name_of(event.dtype), event.async,
                          event.paired, event.buffered, event.done, event.peer, event.group,
                          event.request, event.memory, event.bytes, event.seconds, span.begin,
                          span.end);
    }
    const Clock& clock = report.clocks[rank];
    text += fmt::format("{:a} {:a} {:a} {:a}\n", clock.seconds, clock.cost.steps, clock.cost.bytes,
                        clock.cost.reduced);
  }
  return text;
}

/// FNV-1a.
std::uint64_t digest_of(const std::string& text) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return digest;
}

TEST_CASE("the same seed leaves the same trace, whatever ran it") {
  const Cluster cluster;
  std::string all;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = matched_program(seed);
    const RunOptions options = {.world_size = program.world_size,
                                .buffering = program.buffering,
                                .cluster = cluster,
                                .seed = program.schedule};
    const auto run = [&] {
      return text_of(run_world(options, [&](Comm& dist) { walk(program, dist); }), cluster);
    };
    const std::string text = run();
    CAPTURE(seed);
    REQUIRE(run() == text);
    all += text;
  }
  CHECK(digest_of(all) == kDigest);
}

}  // namespace
}  // namespace rankbox::testing
