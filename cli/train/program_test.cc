// The program as run by a user: exit codes, output, and remaining files.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/train/program_runs.h"
#include "files/temporary_folder.h"
#include "tests/support/run_tests.h"

namespace rankbox::train {
namespace {

TEST_CASE("ranks train together, and rank 0 alone prints") {
  const Result result = run(with_ranks({"--epochs", "2", "--no-timeline"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(count(result.output, "ddp on 3 ranks") == 1);
  for (const char* line :
       {"epoch 1/2  step 4/20 ", "epoch 1/2  step 20/20 ", "epoch 2/2  step 8/20 ",
        "epoch 1/2: loss ", "epoch 2/2: loss ", "\ntest accuracy ", " of 2000;"}) {
    CAPTURE(line);
    CHECK(count(result.output, line) == (std::string(line) == " of 2000;" ? 2 : 1));
  }
  CHECK(count(result.output, "/20  loss ") == 10);
  CHECK(count(result.output, "step 40\n") == 1);  // under the curve
  CHECK(result.output.find('\r') == std::string::npos);
  CHECK(result.output.find('\033') == std::string::npos);
}

TEST_CASE("--json is one object, the same twice, and the loss falls; --log has a line a step") {
  const TemporaryFolder folder;
  const std::string log = folder.path("log");
  const Result result = run(with_ranks({"--epochs", "4", "--json", "--log", log}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(count(result.output, "\n") == 1);
  const Json json = object_in(result.output);
  CHECK(json.at("ranks") == 3);
  CHECK(json.at("strategy") == "ddp");
  CHECK(json.at("status") == "complete");
  CHECK(json.at("steps") == 80);
  CHECK(json.at("epochs").size() == 4);
  CHECK(json.at("test").at("samples") == 2000);
  CHECK(json.at("f1") > 0);
  std::ifstream lines(log);
  CHECK(std::count(std::istreambuf_iterator<char>(lines), {}, '\n') == 80);
  const auto losses = json.at("losses").get<std::vector<double>>();
  REQUIRE(losses.size() == 80);
  CHECK(losses.back() < 0.7 * losses.front());
  const Json again = object_in(run(with_ranks({"--epochs", "4", "--json"})).output);
  CHECK(again.at("parameters_digest") == json.at("parameters_digest"));
  CHECK(again.at("losses") == json.at("losses"));
}

TEST_CASE("a learner's library replaces the reference's function, and the loss shows it") {
  const Words options = {"--epochs", "1", "--json"};
  const Json reference = object_in(run(with_ranks(options)).output);
  // LD_PRELOAD would split this path into three.
  const TemporaryFolder folder;
  const std::string library = folder.path("a b:c.so");
  fs::copy_file(variable("RANKBOX_SUMMING"), library);
  Words mine = options;
  for (const std::string& word :
       {std::string("--mine-library"), "ddp_average_gradients=" + library})
    mine.push_back(word);
  const Json sums = object_in(run(with_ranks(mine)).output);
  CHECK(reference.at("yours").empty());
  CHECK(sums.at("yours") == Json::array({"ddp_average_gradients"}));
  CHECK(sums.at("losses")[0] == reference.at("losses")[0]);
  CHECK(sums.at("losses") != reference.at("losses"));
}

TEST_CASE("a library that is none is one line, and nothing is trained") {
  const std::pair<const char*, int> table[] = {{"zero1=/no/such.so", 1}, {"zero1", 2}, {"=x", 2}};
  for (const auto& [value, exit_code] : table) {
    const Result result = run(with_ranks({"--mine-library", value}));
    CAPTURE(result.output);
    CHECK(result.exit_code == exit_code);
    CHECK(count(result.output, "rankbox train: ") == 1);
    CHECK(result.output.find("step ") == std::string::npos);
  }
}

TEST_CASE("the loads of experts are in the result: two rows for each test sample") {
  const Words options = {"--model", "moe", "--epochs", "1"};
  Words quiet = options, json = options;
  quiet.emplace_back("--quiet");
  json.emplace_back("--json");
  const auto loads = object_in(run(with_ranks(json)).output).at("expert_loads");
  REQUIRE(loads.size() == 8);
  std::int64_t rows = 0;
  for (const auto& load : loads) rows += load.get<std::int64_t>();
  CHECK(rows == 2 * 2001);  // three equal shares of 2000 samples
  const std::string text = run(with_ranks(quiet)).output;
  CAPTURE(text);
  CHECK(count(text, "experts 0 to 7 have ") == 1);
  CHECK(count(text, " %, ") == 8);  // accuracy, and seven of eight loads
  CHECK(
      object_in(run(with_ranks({"--epochs", "1", "--json"})).output).at("expert_loads").is_null());
}

TEST_CASE("--quiet prints the result alone") {
  const Result result = run(with_ranks({"--epochs", "1", "--quiet"}));
  CAPTURE(result.output);
  CHECK(result.output.find("test accuracy ") == 0);
  CHECK(count(result.output, "\n") == 2);
}

TEST_CASE("a mistake is one line and exit code 2, before anything is trained") {
  const Words table[] = {{"--batch", "2"},
                         {"--batch", "10"},
                         {"--samples", "2"},
                         {"--strategy", "zero9"},
                         {"--strategy", "single"},
                         {"--strategy", "expert", "--model", "moe"},  // 8 experts
                         {"--strategy", "expert", "--model", "mlp"},
                         {"--node-rank", "0"},
                         {"--data", "/no/such"},
                         {"--save", "/no/such/folder/run.ckpt"},
                         {"--learning-rate", "-1"},
                         {"--resume"},
                         {"--resume", "--save", "/no-such.ckpt"}};
  for (const Words& mistake : table) {
    CAPTURE(mistake[0]);
    CAPTURE(mistake.back());
    // mpirun is slow to end. Some of these are rejected before the rendezvous, some after.
    if (is_on_mpi() && mistake[0] != "--strategy" && mistake[0] != "--data" &&
        mistake[0] != "--resume") {
      continue;
    }
    const Result result = run(with_ranks(mistake));
    CAPTURE(result.output);
    CHECK(result.exit_code == 2);
    CHECK(count(result.output, "rankbox train: ") == 1);
    CHECK(result.output.find("step ") == std::string::npos);
    // mpirun prints lines, too.
    if (!is_on_mpi()) CHECK(count(result.output, "\n") == 1);
  }
}

TEST_CASE("what MPI leaves to mpirun is refused with the mpirun line") {
  if (!is_on_mpi()) return testing::pass_over("one process");
  const Result nodes = run(with_ranks({"--nodes", "2"}));
  CHECK(nodes.exit_code == 2);
  CHECK(nodes.output.find("mpirun --host") != std::string::npos);
  CHECK(run(with_ranks({"--ranks", "2"})).output.find("--ranks 2") != std::string::npos);
  CHECK(run(with_ranks({"--timeline"})).output.find("--timeline") != std::string::npos);
}

TEST_CASE("on GPUs ranks may share one, and what cannot run there is one line") {
  if (!is_on_gpus()) return testing::pass_over("no GPUs");
  const Words program = with_ranks({"--epochs", "1", "--no-timeline"});
  const auto with = [&](const Words& before, const Words& after) {
    Words command = {"env"};
    for (const Words& part : {before, program, after})
      command.insert(command.end(), part.begin(), part.end());
    return run(command);
  };
  const Result shared = with({"RANKBOX_GPU_MODE=shared", "RANKBOX_EMULATED_GPUS=1"}, {});
  CAPTURE(shared.output);
  CHECK(shared.exit_code == 0);
  CHECK(shared.output.find("threads that share ") != std::string::npos);
  CHECK(shared.output.find("test accuracy ") != std::string::npos);

  const struct {
    Words before, after;
    const char* part;
    int exit_code;
  } table[] = {{{"RANKBOX_EMULATED_GPUS=0", "CUDA_VISIBLE_DEVICES="}, {}, "nvidia-smi", 1},
               {{}, {"--nodes", "2"}, "torchrun ", 2},
               {{}, {"--cluster", "laptop"}, "--cluster laptop", 2},
               {{}, {"--timeline"}, "--timeline", 2}};
  for (const auto& row : table) {
    const Result result = with(row.before, row.after);
    CAPTURE(result.output);
    CHECK(result.exit_code == row.exit_code);
    CHECK(result.output.find(row.part) != std::string::npos);
    CHECK(result.output.find("rankbox train: ") == 0);
    CHECK(count(result.output, "\n") == 1);
  }
}

TEST_CASE("--resume says what is different, also where nothing else is printed") {
  const TemporaryFolder folder;
  const Words save = {"--save", folder.path("run.ckpt"), "--json"};
  CHECK(run(with_ranks({"--epochs", "1", save[0], save[1]})).exit_code == 0);
  const Result result = run(with_ranks(
      {"--epochs", "2", "--resume", "--learning-rate", "0.0125", save[0], save[1], save[2]}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(count(result.output, "learning rate 0.0125") == 1);
  CHECK(object_in(result.output).at("steps") == 40);
}

TEST_CASE("a full disk is a failure") {
  if (is_on_mpi()) return testing::pass_over("mpirun does the writing");
  for (const char* last : {"--timeline", "--no-timeline", "--quiet"}) {
    if (is_on_gpus() && std::string(last) == "--timeline") continue;
    CAPTURE(last);
    std::string line;
    for (const std::string& word : with_ranks({"--epochs", "1", last})) line += word + " ";
    const Result result = run({"sh", "-c", line + ">/dev/full"});
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    CHECK(count(result.output, "standard output") == 1);
  }
}

}  // namespace
}  // namespace rankbox::train
