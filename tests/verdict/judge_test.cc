// The judge on functions of this very process. What only a process of its own survives is in
// tests/cli.
#include "verdict/judge.h"

#include <stdexcept>

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "collectives/cost_ranks.h"
#include "verdict/broadcast.h"
#include "verdict/exchange.h"
#include "verdict/verdict_text.h"

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

Verdict judged(Broadcast::Function function, const JudgeOptions& options = {}) {
  return judge("broadcast_naive", Broadcast(function, cost::broadcast_naive), options);
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
  const Verdict verdict = judge("exchange", Exchange(send_first, cost::exchange));
  CHECK(kind_of(verdict) == "deadlock");
  CHECK(verdict.failure->message.find("works only when sends are buffered") == 0);
  CHECK(verdict.find("safety")->status == CheckStatus::kFail);
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

}  // namespace rankbox
