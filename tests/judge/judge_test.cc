// The judge on functions in this process.
//
// tests/cli has the programs that only a separate process survives.
#include "judge/judge.h"

#include <atomic>
#include <map>
#include <stdexcept>

#include <doctest/doctest.h>

#include "judge/checks.h"
#include "judge/families.h"
#include "judge/verdict_text.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

void right(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    dist.recv(tensor, src);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

void wrong_only_on_seven_ranks(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  if (dist.world_size() == 7 && dist.rank() == 4 && tensor.size() > 2) tensor *= 2.0f;
}

void twice(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  right(dist, tensor, src);
}

void unwritten(Comm&, Tensor&, int) { throw NotImplemented("broadcast_naive"); }
void throws(Comm&, Tensor&, int) { throw std::out_of_range("far out"); }
void throws_a_number(Comm&, Tensor&, int) { throw 42; }
void to_nobody(Comm& dist, Tensor& tensor, int) { dist.send(tensor, 99); }
void replaces(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  tensor = zeros(tensor.size() + 1);
}

void send_first(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }
  dist.send(mine, partner);
  dist.recv(theirs, partner);
}

void with_barriers(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  dist.barrier();
}
void native(Comm& dist, Tensor& tensor, int src) {
  dist.barrier();
  dist.broadcast(tensor, src);
}
void native_started_and_awaited(Comm& dist, Tensor& tensor, int src) {
  dist.wait(dist.broadcast_async(tensor, src));
}
void with_a_split(Comm& dist, Tensor& tensor, int src) {
  dist.split(0, dist.rank());
  right(dist, tensor, src);
}
void with_a_late_split(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  dist.split(0, dist.rank());
}
void keeps_its_first_size(Comm& dist, Tensor& tensor, int src) {
  thread_local const std::int64_t size = tensor.size();
  if (size == tensor.size()) right(dist, tensor, src);
}
void barrier_by_split(Comm& dist) { dist.split(0, dist.rank()); }
void with_a_barrier_and_wrong(Comm& dist, Tensor& tensor, int src) {
  with_barriers(dist, tensor, src);
  if (dist.rank() != src) tensor += full({tensor.size()}, 1.0f);
}
void with_an_empty_message(Comm& dist, Tensor& tensor, int src) {
  const Tensor nothing;
  Tensor none;
  const int next = (src + 1) % dist.world_size();
  if (next != src && dist.rank() == src) dist.send(nothing, next);
  if (next != src && dist.rank() == next) dist.recv(none, src);
  right(dist, tensor, src);
}
void with_one_more_message(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  const int next = (src + 1) % dist.world_size();
  if (next != src && dist.rank() == src) dist.send(tensor, next);
  if (next != src && dist.rank() == next) dist.recv(tensor, src);
}
void all_send_first(Comm& dist, Tensor& tensor, int src) {
  for (int rank = 0; rank < dist.world_size(); ++rank) dist.send(tensor, rank == src ? rank : src);
}
void native_barrier(Comm& dist) { dist.barrier(); }
void barrier_by_rank_0(Comm& dist) {
  Tensor nothing;
  for (int rank = 1; rank < dist.world_size(); ++rank) {
    if (dist.rank() == rank) dist.send(nothing, 0);
    if (dist.rank() == 0) dist.recv(nothing, rank);
  }
  for (int rank = 1; rank < dist.world_size(); ++rank) {
    if (dist.rank() == 0) dist.send(nothing, rank);
    if (dist.rank() == rank) dist.recv(nothing, 0);
  }
}

// After this many runs, results are wrong.
std::atomic<int> runs_left = 0;
void wrong_from_then_on(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  if (runs_left < 0) tensor += full({tensor.size()}, 1.0f);
}
void dear_and_wrong_from_then_on(Comm& dist, Tensor& tensor, int src) {
  right(dist, tensor, src);
  wrong_from_then_on(dist, tensor, src);
}

void there_and_back(Comm& dist, Tensor& tensor, int partner) {
  if (dist.rank() < partner) {
    dist.send(tensor, partner);
    dist.recv(tensor, partner);
  } else if (dist.rank() > partner) {
    dist.recv(tensor, partner);
    dist.send(tensor, partner);
  }
}

using Broadcast = void (*)(Comm& dist, Tensor& tensor, int src);

Subject broadcast(Broadcast function) {
  return subject_in("broadcast", function, "broadcast_naive");
}

Verdict judged(Broadcast function, const JudgeOptions& options = {}) {
  return judge("broadcast_naive", broadcast(function), options);
}

std::string kind_of(const Verdict& verdict) {
  return verdict.failure ? name_of(verdict.failure->kind) : "none";
}

}  // namespace

TEST_CASE("what is right passes all four checks") {
  const Verdict verdict = judged(right);
  INFO(to_text(verdict));
  CHECK(verdict.passed());
  REQUIRE(verdict.checks.size() == 4);
  for (const Check& check : verdict.checks) CHECK(check.status == CheckStatus::kPass);
}

TEST_CASE("the first wrong element of the smallest wrong case is named") {
  const Verdict verdict = judged(wrong_only_on_seven_ranks);
  INFO(to_text(verdict));
  CHECK(kind_of(verdict) == "values");
  CHECK(verdict.failure->rank == 4);
  CHECK(verdict.failure->replay == "./rankbox check --replay world_size=7,root=0,count=6");
  CHECK(verdict.find("values")->expected == "1");
  CHECK(verdict.find("values")->actual == "2");
}

TEST_CASE("right values at the wrong price fail the cost, and pass the rest") {
  const Verdict verdict = judged(twice);
  INFO(to_text(verdict));
  CHECK(kind_of(verdict) == "cost");
  CHECK(verdict.find("values")->status == CheckStatus::kPass);
  CHECK(verdict.find("cost")->status == CheckStatus::kFail);
  CHECK(verdict.find("safety")->status == CheckStatus::kPass);
}

TEST_CASE("each way to fail has its kind") {
  CHECK(kind_of(judged(unwritten)) == "not_implemented");
  CHECK(judged(unwritten).status == Status::kNotImplemented);
  CHECK(kind_of(judged(throws)) == "crash");
  CHECK(kind_of(judged(throws_a_number)) == "crash");
  CHECK(kind_of(judged(to_nobody)) == "crash");
  CHECK(kind_of(judged(replaces)) == "values");
}

TEST_CASE("a check that was not made did not pass") {
  const Verdict stub = judged(unwritten);
  REQUIRE(stub.checks.size() == 4);
  for (const Check& check : stub.checks) CHECK(check.status == CheckStatus::kSkipped);

  const Verdict wrong = judged(wrong_only_on_seven_ranks);
  for (const Check& check : wrong.checks) {
    CHECK(check.status == (check.name == "values" ? CheckStatus::kFail : CheckStatus::kSkipped));
  }
}

TEST_CASE("a hang that buffers would cure is called so") {
  const Verdict verdict = judge("exchange", subject_in("exchange", send_first, "exchange"));
  CHECK(kind_of(verdict) == "deadlock");
  CHECK(verdict.failure->hint.id == "needs-buffers");
  CHECK(verdict.find("safety")->status == CheckStatus::kFail);
}

TEST_CASE("a native collective does not pass for messages, whatever it costs") {
  for (Broadcast function : {native, native_started_and_awaited}) {
    const Verdict verdict = judged(function);
    INFO(to_text(verdict));
    CHECK(kind_of(verdict) == "messages");
    CHECK(verdict.failure->rank == 0);
    CHECK(verdict.failure->line > 0);
    CHECK(verdict.failure->op == "broadcast");
    CHECK(verdict.find("messages")->status == CheckStatus::kFail);
  }
  const Verdict barrier =
      judge("barrier", subject_in("barrier", native_barrier, "barrier_dissemination"));
  CHECK(kind_of(barrier) == "messages");
  CHECK(barrier.failure->op == "barrier");
}

TEST_CASE("a barrier is a crutch, and a split is not") {
  const Verdict crutch = judged(with_barriers);
  CHECK(kind_of(crutch) == "safety");
  CHECK(crutch.failure->op == "barrier");
  const Verdict split = judged(with_a_split);
  CHECK(kind_of(split) == "cost");
}

TEST_CASE("a split after the first message is a barrier, and in the barrier no answer") {
  const Verdict late = judged(with_a_late_split);
  CHECK(kind_of(late) == "safety");
  CHECK(late.failure->op == "split");
  const Verdict barrier =
      judge("barrier", subject_in("barrier", barrier_by_split, "barrier_dissemination"));
  CHECK(kind_of(barrier) == "messages");
}

TEST_CASE("what is kept from one call to the next fails, and the replay is the whole check") {
  const Verdict verdict = judged(keeps_its_first_size);
  CHECK(kind_of(verdict) == "values");
  CHECK(verdict.failure->hint.id == "kept-between-calls");
  CHECK(testing::contains(verdict.failure->message, "3 times"));
  CHECK(verdict.failure->replay == "./rankbox check");
}

TEST_CASE("a barrier does not hide wrong values, and both are said") {
  const Verdict verdict = judged(with_a_barrier_and_wrong);
  INFO(to_text(verdict));
  CHECK(kind_of(verdict) == "values");
  CHECK(verdict.failure->rank == 1);
  CHECK(testing::lacks(verdict.failure->message, {"tensor[0]", "native barrier"}) == "");
}

TEST_CASE("what is superfluous is named: a split, an empty message, one message more") {
  const std::pair<Broadcast, const char*> table[] = {{with_a_split, "needless-split"},
                                                     {with_an_empty_message, "empty-message"},
                                                     {with_one_more_message, "one-message-more"}};
  for (const auto& [function, hint] : table) {
    const Verdict verdict = judged(function);
    INFO(to_text(verdict));
    CHECK(kind_of(verdict) == "cost");
    CHECK(verdict.failure->hint.id == hint);
    CHECK(testing::contains(verdict.failure->message, "n = 16 bytes"));
  }
}

TEST_CASE("a case with elements explains a failure that an empty tensor has, too") {
  const Verdict verdict = judged(all_send_first);
  INFO(to_text(verdict));
  CHECK(kind_of(verdict) == "deadlock");
  CHECK(testing::contains(verdict.failure->replay, "world_size=2,root=1,count=1"));
  JudgeOptions options;
  options.replay = "world_size=1,root=0,count=0";
  CHECK(testing::contains(judged(all_send_first, options).failure->replay, options.replay));
}

TEST_CASE("every world size runs at least once more with buffers, and once more with delays") {
  const Subject barrier = subject_in("barrier", barrier_by_rank_0, "barrier_dissemination");
  for (Subject subject : {broadcast(right), barrier}) {
    subject.far_cases = nullptr;     // these run once
    std::map<int, int> runs_beyond;  // by world size: runs minus cases
    for (const Case& example : subject.cases()) --runs_beyond[example.world_size];
    JudgeOptions options;
    const Case any = subject.cases().front();
    options.starting = [&](const std::string& line) {
      if (!testing::contains(line, "--replay")) return;  // several cases in one world
      ++runs_beyond[parse_case(line.substr(line.rfind(' ') + 1), any).world_size];
    };
    judge("any", subject, options);
    for (const auto& [world_size, runs] : runs_beyond) {
      CAPTURE(world_size);
      CHECK(runs >= 2);
    }
  }
}

TEST_CASE("what goes wrong only when run otherwise fails safety alone, and cost where it should") {
  for (const bool dear : {false, true}) {
    JudgeOptions options;
    runs_left = static_cast<int>(cases_to_replay(broadcast(right)).size());
    options.starting = [](const std::string&) { --runs_left; };
    const Verdict verdict =
        judged(dear ? dear_and_wrong_from_then_on : wrong_from_then_on, options);
    INFO(to_text(verdict));
    CHECK(kind_of(verdict) == "safety");
    CHECK(verdict.find("values")->status == CheckStatus::kPass);
    CHECK(verdict.find("messages")->status == CheckStatus::kPass);
    CHECK(verdict.find("cost")->status == (dear ? CheckStatus::kFail : CheckStatus::kPass));
    CHECK(verdict.find("safety")->status == CheckStatus::kFail);
  }
}

TEST_CASE("who passes ping_pong sees three times, and the alpha and beta that they give") {
  const Verdict verdict = judge("ping_pong", subject_in("ping_pong", there_and_back, "ping_pong"));
  INFO(to_text(verdict));
  REQUIRE(verdict.passed());
  CHECK(testing::lacks(verdict.find("cost")->detail,
                       {"4 B", "0.6008 µs", "3000 B", "1.2000 µs", "16384 B", "3.8768 µs",
                        "α = 0.3 µs", "β = 0.1 ns"}) == "");
}

TEST_CASE("a replay runs one case alone") {
  JudgeOptions options;
  options.replay = "world_size=7,root=0,count=6";
  int started = 0;
  options.starting = [&](const std::string&) { ++started; };
  CHECK(kind_of(judged(wrong_only_on_seven_ranks, options)) == "values");
  CHECK(started == 1);

  options.replay = "world_size=6";
  CHECK(judged(wrong_only_on_seven_ranks, options).passed());
}

namespace {

// A place in a file of the judge's.
#line 1 "judge/pretended.cc"
Place place_in_the_judge() { return Place::current(); }
#line 330 "tests/judge/judge_test.cc"

/// Both ranks hold this many elements; the contract allows 1000 bytes.
Subject frugal(std::int64_t elements) {
  const auto run = [=](Comm& dist, const Case&) -> std::optional<Difference> {
    Tensor held = zeros(elements);
    if (dist.rank() == 0) dist.send(held, 1);
    if (dist.rank() == 1) dist.recv(held, 0);
    dist.compute(1e-6, place_in_the_judge());
    return std::nullopt;
  };
  const auto compare = [](const RunReport& report, const Case&) -> std::optional<Difference> {
    if (report.peak_bytes[1] <= 1000) return std::nullopt;
    return Difference{"bytes held", -1, "at most 1000", std::to_string(report.peak_bytes[1]),
                      {},           1};
  };
  return {.cases = [] { return std::vector<Case>{{.world_size = 2}}; },
          .run = run,
          .checks = {check_of(FailureKind::kMemory, compare)},
          .limits_memory = true};
}

}  // namespace

TEST_CASE("who holds too much fails by memory, and passes the rest") {
  const Verdict verdict = judge("frugal", frugal(251));
  INFO(to_text(verdict));
  CHECK(kind_of(verdict) == "memory");
  CHECK(verdict.failure->rank == 1);
  CHECK(verdict.find("memory")->status == CheckStatus::kFail);
  CHECK(verdict.find("memory")->actual == "1004");
  CHECK(verdict.failure->op == "recv");
  CHECK(testing::contains(verdict.failure->file, "judge_test.cc"));
  CHECK(verdict.find("values")->status == CheckStatus::kPass);
  CHECK(verdict.find("cost")->status == CheckStatus::kPass);
}

TEST_CASE("memory is a check of those exercises only that are about it") {
  const Verdict verdict = judge("frugal", frugal(250));
  INFO(to_text(verdict));
  CHECK(verdict.passed());
  REQUIRE(verdict.find("memory") != nullptr);
  CHECK(verdict.find("memory")->status == CheckStatus::kPass);
  CHECK(judged(right).find("memory") == nullptr);
}

}  // namespace rankbox
