// NCCL on a machine without a GPU: it is present, recent enough, and creates ids. A world without a
// GPU reports that.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <nccl.h>

#include "gpu/device/devices.h"
#include "gpu/launch/process_group.h"
#include "gpu/launch/test_processes.h"
#include "gpu/nccl/error.h"
#include "tests/gpu/nccl_test_world.h"
#include "tests/support/run_tests.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("the library is there, and knows splits and non-blocking communicators: 2.19 or newer") {
  int version = 0;
  REQUIRE(ncclGetVersion(&version) == ncclSuccess);
  CHECK(version >= NCCL_VERSION(2, 19, 0));
  MESSAGE("NCCL ", version);
}

TEST_CASE("ids need no GPU, and differ") {
  const ncclUniqueId a = NcclWorld::make_id();
  const ncclUniqueId b = NcclWorld::make_id();
  CHECK(!std::equal(std::begin(a.internal), std::end(a.internal), std::begin(b.internal)));
  CHECK(NcclWorld({.world_size = 2, .local_ranks = {1}, .id = a}).settings().local_ranks ==
        std::vector<int>{1});
}

TEST_CASE("NCCL connects when it starts, unless the environment decides otherwise") {
  unsetenv("NCCL_RUNTIME_CONNECT");
  NcclWorld({.world_size = 1});
  CHECK(std::string(std::getenv("NCCL_RUNTIME_CONNECT")) == "0");
  setenv("NCCL_RUNTIME_CONNECT", "1", /*overwrite=*/1);
  NcclWorld({.world_size = 1});
  CHECK(std::string(std::getenv("NCCL_RUNTIME_CONNECT")) == "1");
  setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/1);
}

TEST_CASE("processes get one id over TCP, and without a GPU all of them end with the reason") {
  const launcher::ReservedPort port;
  const auto outcomes = launcher::run_processes(3, [&](int rank) -> std::string {
    launcher::RankVariables who;
    who.rank = rank;
    who.world_size = 3;
    launcher::ProcessGroup group(who, port.endpoint(), /*seconds=*/30);
    std::string mine;
    if (rank == 0) {
      const ncclUniqueId made = NcclWorld::make_id();
      mine.assign(made.internal, sizeof(made.internal));
    }
    const auto all = group.all_gather(mine, /*seconds=*/30);
    if (all.problem) std::rethrow_exception(all.problem);
    ncclUniqueId id;
    all.bytes[0]->copy(id.internal, sizeof(id.internal));
    NcclWorld world({.world_size = 3, .local_ranks = {rank}, .id = id, .start_seconds = 20});
    std::string end = "no GPU needed";
    if (!why_no_device().empty()) {
      const NcclOutcome outcome = run_on_nccl(world, {0}, [](Communicator&) {});
      end = NcclRun::words(outcome.ends.front().failure);
    }
    return *all.bytes[0] + end;
  });
  const std::string id = outcomes[0].text.substr(0, sizeof(ncclUniqueId));
  CHECK(id.size() == sizeof(ncclUniqueId));
  CHECK(id.find_first_not_of('\0') != std::string::npos);
  for (const launcher::Outcome& outcome : outcomes) {
    CHECK(outcome.status == 0);
    CHECK(outcome.text.substr(0, id.size()) == id);
    if (!why_no_device().empty()) CHECK(outcome.text.find("hint: ") != std::string::npos);
  }
}

TEST_CASE("without a GPU every rank ends, and the cause says what is missing") {
  if (why_no_device().empty()) return testing::pass_over("there is a GPU");
  const NcclRun run = run_on_nccl({.world_size = 2}, [](Communicator&) {});
  CHECK(run.is_cause<CudaError>());
  CHECK(run.what().find("hint: ") != std::string::npos);
}

TEST_CASE("errors name the call, the code, the library's words, and a way out") {
  struct Row {
    ncclResult_t code;
    const char* says;
    const char* hint;
  };
  const Row rows[] = {
      {ncclUnhandledCudaError, "ncclUnhandledCudaError (unhandled cuda error", "nvidia-smi"},
      {ncclSystemError, "ncclSystemError (unhandled system error", "NCCL_SOCKET_IFNAME"},
      {ncclInternalError, "ncclInternalError (internal error", "NCCL_DEBUG=WARN"},
      {ncclInvalidArgument, "ncclInvalidArgument (invalid argument", "NCCL_DEBUG=WARN"},
      {ncclInvalidUsage, "ncclInvalidUsage (invalid usage", "NCCL_DEBUG=WARN"},
      {ncclRemoteError, "ncclRemoteError (remote process exited", "the other ranks"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    const NcclError error =
        nccl_error(row.code, "ncclSend", {.op = "send", .peer = 3, .bytes = 8, .rank = 2}, nullptr);
    const std::string what = error.what();
    CHECK(what.find("rank 2, send, peer 3, 8 bytes: ncclSend failed: ") == 0);
    CHECK(what.find(row.says) != std::string::npos);
    CHECK(what.find(row.hint) != std::string::npos);
    CHECK(error.code() == row.code);
    CHECK(error.rank() == 2);
    CHECK(error.peer() == 3);
    CHECK(error.op() == "send");
  }
  CHECK_NOTHROW(check_nccl(ncclSuccess, "ncclSend"));
  CHECK_THROWS_AS(check_nccl(ncclInvalidUsage, "ncclSend"), NcclError);
  const Row by_words[] = {
      // what NCCL says, and what the hint names
      {ncclInvalidUsage, "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1",
       "CUDA_VISIBLE_DEVICES"},
      {ncclUnhandledCudaError,
       "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401",
       "NCCL_NVLS_ENABLE=0"},
      {ncclSystemError,
       "Error while creating shared memory segment /dev/shm/nccl-cjY8K5 (size 10617216), error: No "
       "space left on device (28)",
       "--shm-size"},
  };
  for (const Row& row : by_words) {
    CAPTURE(row.says);
    CHECK(hint_for(row.code, row.says).find(row.hint) != std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::gpu
