// The command line: what it means, and what it refuses.
#include "cli/compare/options.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare/backend.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

Request parse(std::vector<std::string> options) {
  options.insert(options.begin(), "rankbox-compare");
  return parse_options(options);
}

std::string complaint(const std::vector<std::string>& options) {
  try {
    parse(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("defaults are those of nccl-tests") {
  const Request request = parse({});
  CHECK(request.task == Request::Task::kMeasure);
  const Plan& plan = request.plan;
  CHECK(plan.min_bytes == 32 << 20);
  CHECK(plan.max_bytes == 32 << 20);
  CHECK(plan.step_bytes == 1 << 20);
  CHECK(plan.step_factor == 0);
  CHECK(plan.iterations == 20);
  CHECK(plan.warmup == 5);
  CHECK(plan.aggregated == 1);
  CHECK(plan.checks == 1);
  CHECK(plan.threads == 1);
  CHECK(plan.gpus_per_thread == 1);
  CHECK(plan.root == 0);
  CHECK(plan.average == Average::kMean);
  CHECK(plan.ops == std::vector{ReduceOp::SUM});
  CHECK(plan.collectives == std::vector{CollectiveKind::kAllReduce});
  CHECK(plan.algorithms.empty());
  CHECK(plan.deadline_seconds == 30);
  CHECK(plan.cluster.name == "laptop");
  CHECK(request.json.empty());
  CHECK(request.has_default_baselines);
  CHECK(plan.baselines.empty());
  CHECK_FALSE(parse({"--baseline", "none"}).has_default_baselines);
  CHECK(request.processes == 0);
}

TEST_CASE("short and long options of nccl-tests mean the same") {
  const std::vector<std::vector<std::string>> lines = {
      {"-b", "8",  "-e", "128M", "-f", "2", "-g", "4",   "-t", "2",
       "-n", "30", "-w", "3",    "-c", "2", "-o", "avg", "-d", "float",
       "-r", "1",  "-m", "5",    "-a", "3", "-T", "10",  "-J", "out.json"},
      {"--minbytes",
       "8",
       "--maxbytes=128M",
       "--stepfactor",
       "2",
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
       "3",
       "--timeout",
       "10",
       "--output_file",
       "out.json"}};
  for (const std::vector<std::string>& line : lines) {
    CAPTURE(fmt::format("{}", fmt::join(line, " ")));
    const Request request = parse(line);
    const Plan& plan = request.plan;
    CHECK(plan.min_bytes == 8);
    CHECK(plan.max_bytes == 128 << 20);
    CHECK(plan.step_factor == 2);
    CHECK(plan.gpus_per_thread == 4);
    CHECK(plan.threads == 2);
    CHECK(plan.iterations == 30);
    CHECK(plan.warmup == 3);
    CHECK(plan.checks == 2);
    CHECK(plan.ops == std::vector{ReduceOp::AVG});
    CHECK(plan.root == 1);
    CHECK(plan.aggregated == 5);
    CHECK(plan.average == Average::kMax);
    CHECK(plan.deadline_seconds == 10);
    CHECK(request.json == "out.json");
  }
}

TEST_CASE("of an option given twice, the last counts, as with getopt") {
  CHECK(parse({"-n", "3", "-b", "4", "-n", "5", "--iters", "7"}).plan.iterations == 7);
}

TEST_CASE("baselines add up, and are refused where a process cannot run itself") {
  const std::vector<std::string> two = {"--baseline", "a:B=1", "--baseline", "c:D=2"};
  if (!can_run_itself()) {
    CHECK(complaint(two).find("cannot run themselves again; set B ") != std::string::npos);
    return;
  }
  const Request request = parse(two);
  REQUIRE(request.plan.baselines.size() == 2);
  CHECK(request.plan.baselines[1].label == "c");
}

TEST_CASE("options of our own") {
  const Request request = parse({"--collective", "broadcast,reduce", "--algorithms", "tree,ring",
                                 "--cluster", "h100-efa", "--json", "-", "--deadline", "2.5",
                                 "--segments", "9", "--processes", "3"});
  CHECK(request.plan.collectives ==
        std::vector{CollectiveKind::kBroadcast, CollectiveKind::kReduce});
  CHECK(request.plan.algorithms == std::vector<std::string>{"tree", "ring"});
  CHECK(request.plan.cluster.name == "h100-efa");
  CHECK(request.plan.deadline_seconds == 2.5);
  CHECK(request.plan.segments == 9);
  CHECK(request.json == "-");
  CHECK(request.processes == 3);
  CHECK(parse({"--help"}).task == Request::Task::kShowHelp);
  CHECK(parse({"--backend"}).task == Request::Task::kShowBackend);
  CHECK(parse({"--list-clusters"}).task == Request::Task::kListClusters);
}

TEST_CASE("the help has an example for every backend, and every option") {
  const std::string help = parse({"-h"}).help;
  for (const char* part :
       {"rankbox-compare-sim -b", "mpirun -n 8 rankbox-compare-mpi", "rankbox-compare-nccl -b",
        "torchrun", "--minbytes", "--stepfactor", "--output_file", "--baseline", "N/A"}) {
    CAPTURE(part);
    CHECK(help.find(part) != std::string::npos);
  }
  CHECK(help.find("--is-baseline") == std::string::npos);
}

TEST_CASE("operations: one, some, or all of them") {
  CHECK(parse({"-o", "prod,min"}).plan.ops == std::vector{ReduceOp::PRODUCT, ReduceOp::MIN});
  CHECK(parse({"-o", "all"}).plan.ops ==
        std::vector{ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MAX, ReduceOp::MIN, ReduceOp::AVG});
}

TEST_CASE("a mistake is one line that names what is wrong") {
  const struct {
    std::vector<std::string> options;
    const char* named;
  } table[] = {
      {{"-b", "2M", "-e", "1M"}, "-b 2097152 is more than -e 1048576"},
      {{"-f", "1"}, "-f 1"},
      {{"-f", "0"}, "--stepfactor"},
      {{"-i", "0"}, "-i 0"},
      {{"-b", "x"}, "-b: \"X\" is not a size"},
      {{"-e", "100G"}, "-e: size 100G is too large"},
      {{"-n", "0"}, "--iters"},
      {{"-n", "many"}, "--iters"},
      {{"-g", "0"}, "--ngpus"},
      {{"-w", "-1"}, "--warmup_iters"},
      {{"-o", "mulsum"}, "-o mulsum"},
      {{"-o", ""}, "-o"},
      {{"-d", "half"}, "-d half: only float"},
      {{"-r", "-1"}, "--root"},
      {{"-a", "4"}, "--average"},
      {{"-T", "0"}, "--timeout"},
      {{"-J"}, "--output_file"},
      {{"--collective", "allreduce"}, "unknown collective \"allreduce\""},
      {{"--algorithms", "ringo"}, "unknown algorithm \"ringo\""},
      {{"--cluster", "abacus"}, "unknown cluster \"abacus\""},
      {{"--cluster", "no/such.toml"}, "no/such.toml"},
      {{"--baseline", "native-ring"}, "--baseline native-ring: write LABEL:VARIABLE=VALUE"},
      {{"-z", "1"}, "-z"},
      {{"8"}, "8"},
  };
  for (const auto& row : table) {
    CAPTURE(fmt::format("{}", fmt::join(row.options, " ")));
    const std::string message = complaint(row.options);
    CAPTURE(message);
    CHECK(message.find(row.named) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a baseline is a label, a variable and a value, which may be anything") {
  const Baseline baseline = parse_baseline("native-ring:NCCL_ALGO=RING");
  CHECK(baseline.label == "native-ring");
  CHECK(baseline.variable == "NCCL_ALGO");
  CHECK(baseline.value == "RING");
  CHECK(parse_baseline("x:A=b=c:d").value == "b=c:d");
  CHECK(parse_baseline("x:A=").value.empty());
  for (const char* bad : {"", "x", "x:", "x:A", ":A=1", "x:=1", "A=1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_baseline(bad), InvalidArgument);
  }
}

TEST_CASE("the options for a baseline make the same plan, of the native algorithm alone") {
  const Plan plan = parse({"-b",           "8",   "-e",           "1K",
                           "-f",           "2",   "-g",           "3",
                           "-t",           "2",   "-n",           "7",
                           "-m",           "2",   "-w",           "1",
                           "-c",           "3",   "-o",           "min,sum",
                           "-r",           "1",   "-a",           "2",
                           "-T",           "0.5", "--collective", "reduce,all_reduce",
                           "--algorithms", "tree"})
                        .plan;
  std::vector<std::string> options = options_for_baseline(plan);
  const Request again = parse(options);
  CHECK(again.is_baseline);
  CHECK(again.plan.baselines.empty());
  CHECK_FALSE(again.has_default_baselines);
  CHECK(again.plan.algorithms == std::vector<std::string>{"native"});
  CHECK(again.plan.min_bytes == 8);
  CHECK(again.plan.max_bytes == 1024);
  CHECK(again.plan.step_factor == 2);
  CHECK(again.plan.gpus_per_thread == 3);
  CHECK(again.plan.threads == 2);
  CHECK(again.plan.iterations == 7);
  CHECK(again.plan.aggregated == 2);
  CHECK(again.plan.warmup == 1);
  CHECK(again.plan.checks == 3);
  CHECK(again.plan.ops == std::vector{ReduceOp::SUM, ReduceOp::MIN});
  CHECK(again.plan.root == 1);
  CHECK(again.plan.average == Average::kMin);
  CHECK(again.plan.deadline_seconds == 0.5);
  CHECK(again.plan.collectives == plan.collectives);

  const Plan adding = parse({"-b", "8", "-e", "1K", "-i", "100"}).plan;
  CHECK(parse(options_for_baseline(adding)).plan.step_bytes == 100);
  CHECK(parse(options_for_baseline(adding)).plan.step_factor == 0);
}

}  // namespace
}  // namespace rankbox::cli
