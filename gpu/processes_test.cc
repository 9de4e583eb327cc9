// Ranks as processes: started by the launcher, on the emulated GPU. The emulated NCCL connects the ranks
// of one process alone, so worlds that get to run have one rank here, and the processes left over
// take part in all the rest: meeting, results, failures.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>

namespace {

struct Run {
  int exit_code = 0;
  std::string output;
  double seconds = 0;
};

std::string path(const char* variable) {
  const char* const found = std::getenv(variable);
  REQUIRE_MESSAGE(found != nullptr, variable);
  return found;
}

/// @param variables "NAME=value " for the processes
Run launch(int processes, const std::string& arguments, const std::string& variables = "") {
  const std::string command = "env " + variables + " " + path("RANKBOX_LAUNCH") + " -n " +
                              std::to_string(processes) + " " + path("PROCESS_PROGRAM") + " " +
                              arguments + " 2>&1";
  const auto start = std::chrono::steady_clock::now();
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Run run;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    run.output.append(buffer.data(), got);
  run.exit_code = WEXITSTATUS(pclose(pipe));
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++times;
  return times;
}

TEST_CASE("every process gets the results and the report, also those left over") {
  for (int processes : {2, 3, 5}) {
    const Run run = launch(processes, "results 1");
    CAPTURE(run.output);
    CHECK(run.exit_code == 0);
    CHECK(count(run.output, ": returned 1+7; 1 messages, 8 bytes, peaks 1\n") == processes);
    for (int process = 0; process < processes; ++process)
      CHECK(count(run.output, "process " + std::to_string(process) + ": ") == 1);
  }
}

TEST_CASE("a single process that a launcher started has its ranks as threads") {
  const Run run = launch(1, "results 3", "RANKBOX_EMULATED_GPUS=3");
  CAPTURE(run.output);
  CHECK(run.output == "process 0: returned 6+7 6+7 6+7; 3 messages, 24 bytes, peaks 3\n");
}

TEST_CASE("what a rank throws is thrown in all processes, and the next run works") {
  const Run run = launch(3, "fail 1");
  CAPTURE(run.output);
  CHECK(run.exit_code == 0);
  CHECK(count(run.output, ": threw NotImplemented of rank 0: reduce_tree is not implemented yet") ==
        3);
  CHECK(count(run.output, "process_program.cc:") == 3);
  CHECK(count(run.output, ": returned 1+7;") == 3);
}

TEST_CASE("after a failed run, processes can still tell each other things") {
  const Run run = launch(3, "gather 1");
  CAPTURE(run.output);
  CHECK(count(run.output, ": <0><1><2>\n") == 3);
}

TEST_CASE("a process that is killed ends the others' run at once, by name") {
  const Run run = launch(3, "die 1");
  CAPTURE(run.output);
  CHECK(run.exit_code == 137);
  CHECK(count(run.output, ": threw RankFailed of rank 0: ") == 2);
  CHECK(run.seconds < 10);
}

TEST_CASE("processes that would share a GPU are told both ways out") {
  const Run run = launch(3, "results 2");
  CAPTURE(run.output);
  CHECK(count(run.output,
              ": threw InvalidArgument of rank -1: ranks 0 and 1 are processes that "
              "would share GPU ") == 3);
  CHECK(count(run.output, "start a single process without a launcher") == 3);
  CHECK(count(run.output, "RANKBOX_NCCL_SHARE_GPU=1") == 3);
}

TEST_CASE("unless they are told to: then NCCL is prepared, and gets as far as the deadline here") {
  // Emulated GPUs are the process's own, and so the other one never comes.
  const Run run = launch(2, "hostid 2", "RANKBOX_NCCL_SHARE_GPU=1");
  CAPTURE(run.output);
  CHECK(count(run.output, ": threw TimedOut of rank ") == 2);
  CHECK(count(run.output, "-0 net Socket\n") == 1);
  CHECK(count(run.output, "-1 net Socket\n") == 1);
  CHECK(run.seconds < 30);
}

TEST_CASE("a world larger than what was launched is refused by each process") {
  const Run run = launch(2, "results 3");
  CAPTURE(run.output);
  CHECK(count(run.output,
              ": threw InvalidArgument of rank -1: a world of 3 ranks needs as many "
              "processes, and torchrun started 2: have it start 3") == 2);
}

TEST_CASE("processes that do not agree on the world are told so, and may go on") {
  const Run run = launch(3, "disagree");
  CAPTURE(run.output);
  CHECK(count(run.output,
              "threw InvalidArgument of rank -1: process 0 runs a world of 1 ranks, but "
              "process 1 one of 2: ") == 3);
  CHECK(count(run.output, ": returned 1+7;") == 3);
}

TEST_CASE("without a GPU all processes say whose is missing") {
  const Run run = launch(2, "results 1", "RANKBOX_EMULATED_GPUS=0");
  CAPTURE(run.output);
  CHECK(count(run.output, ": threw Error of rank 0: ") == 2);
  CHECK(count(run.output, "cudaErrorNoDevice") == 2);
}

TEST_CASE("modes that processes cannot have are refused") {
  const Run run = launch(2, "results 1", "RANKBOX_GPU_MODE=shared");
  CAPTURE(run.output);
  CHECK(count(run.output, "threw InvalidArgument of rank -1: RANKBOX_GPU_MODE=shared, but ") == 2);
}

TEST_CASE("wrong variables are one clear line") {
  const std::string command =
      "env RANK=5 WORLD_SIZE=2 " + path("PROCESS_PROGRAM") + " results 1 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  const std::string output(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), pipe));
  CHECK(WEXITSTATUS(pclose(pipe)) != 0);
  CAPTURE(output);
  CHECK(count(output, "RANK=5 of WORLD_SIZE=2") == 1);
}

TEST_CASE("a master that nobody is at ends the wait in time, and is named") {
  const std::string command =
      "env RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "
      "RANKBOX_PORT=1 " +
      path("PROCESS_PROGRAM") + " results 1 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  const std::string output(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), pipe));
  static_cast<void>(pclose(pipe));
  CAPTURE(output);
  CHECK(count(output, "process 1: threw Error") == 1);
  CHECK(count(output, "127.0.0.1:1") >= 1);
}

}  // namespace
