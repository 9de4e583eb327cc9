// Programs that pass here and hang on NCCL: a warning, or a failure where that is asked for.
#include <doctest/doctest.h>

#include "judge/families.h"
#include "judge/judge.h"
#include "judge/verdict_text.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

void starts_both(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }
  const Comm::Request received = dist.irecv(theirs, partner);
  const Comm::Request sent = dist.isend(mine, partner);
  dist.wait(received);
  dist.wait(sent);
}

void groups_both(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }
  dist.wait_all({dist.irecv(theirs, partner), dist.isend(mine, partner)});
}

TEST_CASE("what hangs only in the order of NCCL's stream has a warning, and fails in that order") {
  for (const bool is_grouped : {false, true}) {
    const Subject subject =
        subject_in("exchange", is_grouped ? groups_both : starts_both, "exchange");
    const Verdict usual = judge("exchange", subject);
    INFO(to_text(usual));
    CHECK(usual.passed());
    CHECK(usual.warnings.size() == (is_grouped ? 0 : 1));
    JudgeOptions in_stream_order;
    in_stream_order.order = MessageOrder::kStream;
    const Verdict ordered = judge("exchange", subject, in_stream_order);
    CHECK(ordered.passed() == is_grouped);
    if (is_grouped) continue;
    CHECK(ordered.failure->kind == FailureKind::kDeadlock);
    CHECK(ordered.failure->op == "isend");
    CHECK(ordered.failure->line > 0);
    CHECK(testing::contains(to_text(usual), "warning"));
  }
}

}  // namespace
}  // namespace rankbox
