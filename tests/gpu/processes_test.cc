// Ranks as processes, on the emulated GPU. The emulated NCCL connects only the ranks of one
// process, so worlds that run have one rank here. The other processes take part in everything else:
// the rendezvous, results and failures.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "gpu/launch/test_processes.h"

namespace {

/// Returns a shell script's output; a process that fails adds "exit code N".
std::string output_of(const std::string& script) {
  std::FILE* const pipe = popen(fmt::format("exec 2>&1; {}", script).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  static_cast<void>(pclose(pipe));
  return output;
}

std::string program() {
  const char* const path = std::getenv("PROCESS_PROGRAM");
  REQUIRE(path != nullptr);
  return path;
}

/// @param variables "NAME=value " for the processes
std::string launch(int processes, const std::string& arguments, const std::string& variables = "") {
  const rankbox::launcher::ReservedPort port;
  std::string script;
  for (int rank = 0; rank < processes; ++rank) {
    script += fmt::format(
        "(env RANK={0} WORLD_SIZE={1} LOCAL_RANK={0} MASTER_ADDR=127.0.0.1 RANKBOX_PORT={2} {3} "
        "{4} {5} || echo exit code $?) & ",
        rank, processes, port.number(), variables, program(), arguments);
  }
  return output_of(script + "wait");
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++times;
  return times;
}

TEST_CASE("every process gets the results and the report, also those without a rank") {
  for (int processes : {2, 3, 5}) {
    const std::string output = launch(processes, "results 1");
    CAPTURE(output);
    CHECK(count(output, "exit code") == 0);
    CHECK(count(output, ": returned 1+7; 1 messages, 8 bytes, peaks 1\n") == processes);
    for (int process = 0; process < processes; ++process)
      CHECK(count(output, "process " + std::to_string(process) + ": ") == 1);
  }
}

TEST_CASE("a single process that a launcher started has its ranks as threads") {
  const std::string output = launch(1, "results 3", "RANKBOX_EMULATED_GPUS=3");
  CAPTURE(output);
  CHECK(output == "process 0: returned 6+7 6+7 6+7; 3 messages, 24 bytes, peaks 3\n");
}

TEST_CASE("without a local rank, processes of a host count, and threads without a rank follow") {
  const rankbox::launcher::ReservedPort port;
  std::string script;
  for (int rank = 0; rank < 2; ++rank) {
    script += fmt::format(
        "env PMI_RANK={} PMI_SIZE=2 MASTER_ADDR=127.0.0.1 RANKBOX_PORT={} RANKBOX_EMULATED_GPUS=2 "
        "{} outside 1 & ",
        rank, port.number(), program());
  }
  const std::string output = output_of(script + "wait");
  CAPTURE(output);
  for (int rank = 0; rank < 2; ++rank)
    CHECK(count(output, fmt::format("process {0}: outside: GPU {0}\n", rank)) == 1);
}

TEST_CASE("what a rank throws is thrown in all processes, and the next run works") {
  const std::string output = launch(3, "fail 1");
  CAPTURE(output);
  CHECK(count(output, "exit code") == 0);
  CHECK(count(output, ": threw NotImplemented of rank 0: ") == 3);
  CHECK(count(output, "process_program.cc:") == 3);
  CHECK(count(output, ": returned 1+7;") == 3);
}

TEST_CASE("after a failed run, processes can still gather") {
  const std::string output = launch(3, "gather 1");
  CAPTURE(output);
  CHECK(count(output, ": <0><1><2>\n") == 3);
}

TEST_CASE("an abort that does not return ends the process, with the failure and the operations") {
  const std::string output =
      output_of("env RANKBOX_EMULATED_GPUS=2 " + program() + " abort 2 3 3 || echo exit code $?");
  CAPTURE(output);
  CHECK(count(output, "exit code 1\n") == 1);
  CHECK(count(output, "ncclCommAbort has not returned") >= 1);
  CHECK(count(output, "reduce_tree") == 1);
  CHECK(count(output, "process_program.cc") == 1);
}

TEST_CASE("a rank whose process is killed is the failure of all others") {
  const std::string output = launch(3, "die 1");
  CAPTURE(output);
  CHECK(count(output, "exit code 137\n") == 1);
  CHECK(count(output, ": threw RankFailed of rank 0: ") == 2);
}

TEST_CASE("a process that is gone before a run is named by all others") {
  const std::string output = launch(3, "leave 1");
  CAPTURE(output);
  CHECK(count(output, ": returned 1+7;") == 3);
  CHECK(count(output, "exit code 137\n") == 1);
  CHECK(count(output, ": threw RankFailed of rank 1: ") == 2);
}

TEST_CASE("processes that would share a GPU: the error names both fixes") {
  const std::string output = launch(3, "results 2");
  CAPTURE(output);
  CHECK(count(output, ": threw InvalidArgument of rank -1: ranks 0 and 1 ") == 3);
  CHECK(count(output, "RANKBOX_NCCL_SHARE_GPU=1") == 3);
}

TEST_CASE(
    "RANKBOX_NCCL_SHARE_GPU=1 gives each process that shares a GPU a host of its own in NCCL") {
  const std::string output = launch(2, "hostid 1", "RANKBOX_NCCL_SHARE_GPU=1");
  CAPTURE(output);
  CHECK(count(output, ": returned 1+7;") == 2);
  CHECK(count(output, "-0 net Socket\n") == 1);
  CHECK(count(output, "-1 net Socket\n") == 1);
}

TEST_CASE("a world larger than what was launched is refused by each process") {
  const std::string output = launch(2, "results 3");
  CAPTURE(output);
  CHECK(count(output, ": threw InvalidArgument of rank -1: a world of 3 ranks ") == 2);
}

TEST_CASE("processes that disagree on the world size fail with both sizes, and may go on") {
  const std::string output = launch(3, "disagree");
  CAPTURE(output);
  CHECK(count(output, "threw InvalidArgument of rank -1: process 0 ") == 3);
  CHECK(count(output, ": returned 1+7;") == 3);
}

TEST_CASE("without a GPU all processes report the rank that has none") {
  const std::string output = launch(2, "results 1", "RANKBOX_EMULATED_GPUS=0");
  CAPTURE(output);
  CHECK(count(output, ": threw Error of rank 0: ") == 2);
  CHECK(count(output, "cudaErrorNoDevice") == 2);
}

TEST_CASE("processes refuse to share GPUs as threads do") {
  const std::string output = launch(2, "results 1", "RANKBOX_GPU_MODE=shared");
  CAPTURE(output);
  CHECK(count(output, "threw InvalidArgument of rank -1: RANKBOX_GPU_MODE=shared, but ") == 2);
}

TEST_CASE("wrong variables are one clear line") {
  const std::string output = output_of("env RANK=5 WORLD_SIZE=2 " + program() + " results 1");
  CAPTURE(output);
  CHECK(count(output, "RANK=5") == 1);
  CHECK(count(output, "WORLD_SIZE=2") == 1);
}

TEST_CASE("processes may start further apart than an operation's deadline") {
  const rankbox::launcher::ReservedPort port;
  const std::string rest =
      fmt::format("WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 RANKBOX_PORT={} {} results 1 2",
                  port.number(), program());
  const std::string output =
      output_of(fmt::format("env RANK=1 {0} & sleep 4; env RANK=0 {0}; wait", rest));
  CAPTURE(output);
  CHECK(count(output, ": returned 1+7; ") == 2);
}

TEST_CASE("an endpoint without a rank 0 is named in time") {
  const std::string output =
      output_of("env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 RANKBOX_PORT=1 " + program() +
                " results 1 30 0.5");
  CAPTURE(output);
  CHECK(count(output, "process 1: threw Error of rank 1: ") == 1);
  CHECK(count(output, "127.0.0.1:1 ") == 1);
}

}  // namespace
