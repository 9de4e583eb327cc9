#include "cli/gpu/sections.h"

#include <cstdlib>

#include <fmt/format.h>

namespace rankbox::cli {
namespace {

void report_machine(Session& session) {
  const Machine& machine = session.report().machine;
  session.measure("GPUs, driver, versions", "", [&] { return Value{in_words(machine)}; });
  const auto of_pairs = [&](int count) {
    if (machine.pairs == 0) throw NotMeasured{"there is one GPU"};
    return Value{fmt::format("{} of {} pairs of GPUs", count, machine.pairs), count};
  };
  session.measure("peer access", "", [&] { return of_pairs(machine.peer_access); });
  session.measure("atomics over the link (NVLink)", "",
                  [&] { return of_pairs(machine.native_atomics); });
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      {"machine", "Machine", 10, report_machine},
      {"contract-shared", "Contract: ranks share a GPU", 60,
       [](Session& s) { check_contract(s, {.environment = {"RANKBOX_GPU_MODE=shared"}}); }},
      // Worlds of more ranks than GPUs share them.
      {"contract-threads", "Contract: NCCL, one process", 60,
       [](Session& s) { check_contract(s, {.environment = {"RANKBOX_GPU_MODE=auto"}}); }},
      {"contract-one-gpu", "Contract: NCCL, two processes on one GPU", 60,
       [](Session& s) {
         check_contract(
             s, {.environment = {"RANKBOX_NCCL_SHARE_GPU=1", only_first_gpu()}, .processes = 2});
       }},
      {"contract-processes", "Contract: NCCL, a process on each GPU", 60,
       [](Session& s) { check_contract(s, {.processes = s.gpus()}); }},
      {"kernels", "Kernels against device copy", 40, measure_kernels},
      {"sharing", "Ring of 4 ranks that share a GPU", 30, measure_sharing_ring},
      {"collectives", "Every collective", 110, measure_collectives},
      {"ring", "Ring against NCCL's", 60, measure_ring},
      {"train", "Training", 60, measure_training},
      {"sanitizer", "Memory accesses of the kernels", 50, check_memory_accesses},
  };
  return all;
}

std::string only_first_gpu() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string all = visible == nullptr ? "0" : visible;
  return "CUDA_VISIBLE_DEVICES=" + all.substr(0, all.find(','));
}

}  // namespace rankbox::cli
