#include "judge/seal/referee/referee.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "comm/result_bytes.h"
#include "exercises/registry.h"
#include "judge/catalog.h"
#include "judge/run_case.h"
#include "judge/seal/wire.h"
#include "tests/fuzz/targets.h"

namespace rankbox::fuzz {
namespace {

constexpr int kRanks = 2;
constexpr const char* kExercises[] = {
    "broadcast_naive", "exchange",         "ddp_overlap", "zero3",
    "pipeline_1f1b",   "checkpoint_rank0", "race",        "exact_metrics"};

using Scripts = std::array<std::string, kRanks>;

/// Returns what each rank's process sends.
Scripts scripts_of(const std::uint8_t* data, std::size_t size) {
  Scripts scripts;
  for (std::size_t at = 0; at + 3 <= size;) {
    const std::uint8_t flags = data[at];
    const auto kind =
        static_cast<seal::Kind>(data[at + 1] % (static_cast<int>(seal::Kind::kStopped) + 2));
    const std::size_t length = std::min<std::size_t>(data[at + 2], size - at - 3);
    ByteWriter payload;
    if ((flags & 2) != 0) {
      payload.put(std::string("learner.cc"));
      payload.put(std::uint32_t{12});
      payload.put(std::uint32_t{static_cast<std::uint32_t>(flags >> 6)});
    }
    payload.bytes.append(reinterpret_cast<const char*>(data + at + 3), length);
    at += 3 + length;
    const seal::Head head = {kind, static_cast<std::uint32_t>(payload.bytes.size())};
    std::string& script = scripts[flags & 1];
    script.append(reinterpret_cast<const char*>(&head), sizeof(head)).append(payload.bytes);
  }
  return scripts;
}

/// The process of a rank: sends its script and ends, and reads what it gets until the referee ends.
void play(int socket, const std::string& script) {
  std::jthread reading([socket] {
    std::array<char, 4096> buffer;
    while (recv(socket, buffer.data(), buffer.size(), 0) > 0) {
    }
  });
  for (std::size_t sent = 0; sent < script.size();) {
    const ssize_t wrote = send(socket, script.data() + sent, script.size() - sent, MSG_NOSIGNAL);
    if (wrote <= 0) break;
    sent += static_cast<std::size_t>(wrote);
  }
  shutdown(socket, SHUT_WR);
}

const Case& case_of(const std::vector<Case>& cases) {
  const auto fits = [](const Case& each) {
    return (each.world_size == kRanks || each.threads) && each.count.value_or(1) > 0;
  };
  const auto found = std::ranges::find_if(cases, fits);
  return found == cases.end() ? cases.front() : *found;
}

}  // namespace

void talk_to_referee(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const Exercise& exercise = *find_exercise(kExercises[data[0] % std::size(kExercises)]);
  const Subject subject = subject_of(exercise, seal::sealed_function(exercise.family));
  const std::vector<Case> cases = subject.cases();
  const Case& example = case_of(cases);
  if (example.world_size > kRanks) std::abort();  // its ranks would have no process

  const Scripts scripts = scripts_of(data + 1, size - 1);
  const std::vector<int> sockets = seal::connect_ranks(kRanks);
  {
    std::vector<std::jthread> processes;
    for (std::size_t rank = 0; rank < kRanks; ++rank)
      processes.emplace_back(play, sockets[rank], scripts[rank]);
    const RunOptions how = {.executor = ExecutorKind::kFibers, .fiber_threads = 1};
    const CaseRun run = run_case(subject, example, how, {.leaving = seal::end_case});
    if (!run.failure) std::abort();  // no script computes anything
    seal::disconnect_ranks();
  }
  for (const int socket : sockets) close(socket);
}

}  // namespace rankbox::fuzz
