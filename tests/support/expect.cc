#include "tests/support/expect.h"

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "verdict/judge.h"
#include "verdict/verdict_text.h"

namespace rankbox {

void expect_pass(const Verdict& verdict, const std::string& check) {
  const Check* found = verdict.find(check);
  REQUIRE_MESSAGE(found != nullptr, "no check is called ", check);
  if (judges_only_values() && check != "values")
    return testing::pass_over("only the sandbox judges " + check);
  CHECK_MESSAGE(found->status == CheckStatus::kPass, check, ": ",
                std::string(name_of(found->status)), "\n", to_text(verdict));
}

void expect_cost(const Subject& subject, const std::string& example_text, const Cost& expected) {
  if (judges_only_values()) return testing::pass_over("only the sandbox counts costs");
  const Case example = parse_case(example_text, subject.cases().front());
  RunOptions options;
  options.world_size = example.world_size;
  options.nodes = example.nodes.value_or(1);
  const Cost cost = run_ranks(options, [&](Comm& dist) {
                      return subject.run(dist, example).has_value();
                    }).report.cost;
  INFO(example_text);
  CHECK(cost.steps == expected.steps);
  CHECK(cost.bytes == expected.bytes);
  CHECK(cost.reduced == expected.reduced);
}

}  // namespace rankbox
