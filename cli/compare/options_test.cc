// The command line: meanings of options, and rejected options.
#include "cli/compare/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"

namespace rankbox::cli {
namespace {

using Words = std::vector<std::string>;

struct Parsed {
  CompareArguments typed;
  Plan plan;
  Words again;  // the options passed to another process
};

Parsed parse(Words options) {
  Parsed parsed;
  CLI::App app;
  add_compare_options(app, parsed.typed);
  add_program_options(app, parsed.typed);
  std::ranges::reverse(options);
  app.parse(options);
  parsed.plan = plan_of(parsed.typed, {2, 4});
  parsed.again = typed_options(app, {"--json"});
  return parsed;
}

std::string complaint(const Words& options) {
  try {
    parse(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("the help begins with the common options") {
  CompareArguments typed;
  CLI::App app;
  add_compare_options(app, typed);
  group_compare_options(app);
  const std::string help = app.help();
  const std::size_t common = help.find("Common options:");
  const std::size_t advanced = help.find("Advanced options:");
  REQUIRE(common < advanced);
  REQUIRE(advanced != std::string::npos);
  for (const char* option : {"--help", "--collective", "--sizes", "--cluster"})
    CHECK(help.find(option) < advanced);
  for (const char* option : {"--agg_iters", "--datatype", "--stepfactor"})
    CHECK(help.find(option) > advanced);
}

TEST_CASE("defaults") {
  const Plan plan = parse({}).plan;
  CHECK(plan.ranks == std::vector{2, 4});
  CHECK(plan.sizes == std::vector<std::int64_t>{64, 1024, 16384, 262144, 4194304});
  CHECK_FALSE(plan.iterations.has_value());
  CHECK_FALSE(plan.calls.has_value());
  CHECK(plan.warmup == 3);
  CHECK(plan.checks == 1);
  CHECK(plan.average == Average::kMax);
  CHECK(plan.ops == std::vector{ReduceOp::SUM});
  CHECK(plan.collectives == std::vector{CollectiveKind::kAllReduce});
  CHECK(plan.algorithms.empty());
  CHECK(plan.has_reference);
  CHECK(plan.takes_times);
  CHECK(plan.deadline_seconds == 30);
  CHECK(plan.cluster.name == "laptop");
}

TEST_CASE("nccl-tests' options, short and long, mean what they mean there") {
  const Words lines[] = {
      {"-b", "8", "-e", "128", "-f", "4",     "-g", "4", "-t", "2", "-n", "30", "-w", "3",
       "-c", "2", "-o", "avg", "-d", "float", "-r", "1", "-m", "5", "-a", "1",  "-T", "10"},
      {"--minbytes",
       "8",
       "--maxbytes=128",
       "--stepfactor",
       "4",
       "--ngpus",
       "4",
       "--nthreads",
       "2",
       "--iters",
       "30",
       "--warmup_iters",
       "3",
       "--check",
       "2",
       "--op",
       "avg",
       "--datatype",
       "float",
       "--root",
       "1",
       "--agg_iters",
       "5",
       "--average",
       "1",
       "--timeout",
       "10"}};
  for (const Words& line : lines) {
    CAPTURE(fmt::format("{}", fmt::join(line, " ")));
    const Plan plan = parse(line).plan;
    CHECK(plan.sizes == std::vector<std::int64_t>{8, 32, 128});
    CHECK(plan.ranks == std::vector{8});
    CHECK(plan.iterations == 30);
    CHECK(plan.calls == 5);
    CHECK(plan.checks == 2);
    CHECK(plan.ops == std::vector{ReduceOp::AVG});
    CHECK(plan.root == 1);
    CHECK(plan.average == Average::kMean);
    CHECK(plan.deadline_seconds == 10);
  }
}

TEST_CASE("one end of a sweep is one size") {
  CHECK(parse({"-b", "1K"}).plan.sizes == std::vector<std::int64_t>{1024});
  CHECK(parse({"-e", "2K"}).plan.sizes == std::vector<std::int64_t>{2048});
}

TEST_CASE("operations in any case, of both worlds, without repetitions") {
  CHECK(parse({"--op", "SUM,prod,product"}).plan.ops ==
        std::vector{ReduceOp::SUM, ReduceOp::PRODUCT});
  CHECK(parse({"--op", "all"}).plan.ops.size() == 5);
}

TEST_CASE("libraries of yours, and nothing but yours") {
  const Plan plan = parse({"--mine", "only", "--mine-library", "allreduce_ring=a=b.so"}).plan;
  CHECK_FALSE(plan.has_reference);
  REQUIRE(plan.mine.size() == 1);
  CHECK(plan.mine[0].name == "allreduce_ring");
  CHECK(plan.mine[0].file == "a=b.so");
}

TEST_CASE("baselines") {
  const std::vector<Baseline> baselines =
      parse({"--baseline", "ring:NCCL_ALGO=RING", "--baseline", "x:A=B=C"}).plan.baselines;
  REQUIRE(baselines.size() == 2);
  CHECK(baselines[0].label == "ring");
  CHECK(baselines[0].environment == Words{"NCCL_ALGO=RING"});
  CHECK(baselines[1].environment == Words{"A=B=C"});
  CHECK(parse({"--baseline", "none"}).plan.baselines.empty());
}

TEST_CASE("what was typed can be typed again, without what is left out") {
  const Words typed = {"--sizes", "4,8", "--algorithms", "ring", "--json", "f", "--is-baseline"};
  Words again = parse(typed).again;
  CHECK(std::ranges::find(again, "f") == again.end());
  const Plan plan = parse(again).plan;
  CHECK(plan.sizes == std::vector<std::int64_t>{4, 8});
  CHECK(plan.algorithms == Words{"ring"});
}

TEST_CASE("default worlds need not fit on the cluster yet") {
  CompareArguments typed;
  typed.cluster = "h100-nvlink";  // one node of 8
  const Plan plan = plan_of(typed, {208});
  CHECK(plan.ranks == std::vector{208});
  CHECK_THROWS_AS(check_worlds(plan), InvalidArgument);
}

TEST_CASE("mistakes are one line that names the value") {
  const struct {
    Words options;
    const char* named;
  } table[] = {
      {{"-b", "2M", "-e", "1M"}, "-b 2097152"},
      {{"--sizes", "4", "-b", "8"}, "--sizes"},
      {{"--ranks", "2", "-g", "2"}, "--ranks"},
      {{"--ranks", "0"}, "\"0\""},
      {{"--collective", "allreduce"}, "\"allreduce\""},
      {{"--algorithms", "star"}, "\"star\""},
      {{"--op", "mulsum"}, "\"mulsum\""},
      {{"-d", "half"}, "-d half"},
      {{"--iters", "few"}, "few"},
      {{"--buffering", "eager:8,16"}, "8,16"},
      {{"--executor", "gpu"}, "\"gpu\""},
      {{"--baseline", "RING"}, "--baseline RING"},
      {{"--mine-library", "ring"}, "--mine-library ring"},
      {{"--cluster", "moon"}, "moon"},
      {{"--cluster", "h100-nvlink", "--ranks", "8,16"}, "1 node of 8 ranks"},
  };
  for (const auto& row : table) {
    const std::string message = complaint(row.options);
    CAPTURE(message);
    CHECK(message.find(row.named) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::cli
