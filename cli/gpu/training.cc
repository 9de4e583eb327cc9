// `train` on 1 to all GPUs, against two cores of the host.
#include <fmt/format.h>
#include <sched.h>

#include "cli/gpu/sections.h"

namespace rankbox::cli {
namespace {

constexpr double kLeastSpeedup = 10;

/// Returns "0,1": the first two cores that this process may use.
std::string two_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::string cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    if (!cores.empty()) return fmt::format("{},{}", cores, core);
    cores = std::to_string(core);
  }
  throw NotMeasured{"this process may use one core only"};
}

/// Returns the samples per second of the last epoch: the first one includes what happens once.
double speed_of_training(Session& session, const std::string& backend, int ranks,
                         const std::vector<std::string>& under = {}) {
  const Figures figures = session.figures(
      fmt::format("train_{}_{}", backend, ranks),
      {.program = "rankbox-train-" + backend,
       .arguments = {"--model", "mlp", "--ranks", std::to_string(ranks), "--epochs", "3", "--json"},
       .environment = {"RANKBOX_GPU_NOTICE=0"},
       .under = under});
  return figures.get().at("epochs").at(2).at("samples_per_second").get<double>();
}

}  // namespace

void measure_training(Session& session) {
  double host = 0;
  session.measure("mlp, 2 ranks on two cores of the host", "", [&] {
    host = speed_of_training(session, "sim", 2, {"taskset", "-c", two_cores()});
    return Value{fmt::format("{:.0f} samples/s", host), host};
  });
  double one = 0;
  session.measure("mlp, 1 GPU", "at least 10 times the two cores", [&] {
    one = speed_of_training(session, "nccl", 1);
    const std::string text = fmt::format("{:.0f} samples/s", one);
    if (host == 0) throw NotMeasured{text + ", but the two cores are not measured"};
    return Value{fmt::format("{}, {:.1f} times the two cores", text, one / host), one,
                 one >= kLeastSpeedup * host};
  });
  for (int ranks = 2; ranks <= session.gpus(); ++ranks) {
    if ((ranks & (ranks - 1)) != 0 && ranks != session.gpus()) continue;  // 2, 4, 8, … and all
    session.measure(fmt::format("mlp, {} GPUs", ranks), "", [&] {
      const double speed = speed_of_training(session, "nccl", ranks);
      std::string text = fmt::format("{:.0f} samples/s", speed);
      if (one > 0) text += fmt::format(", {:.2f} times one GPU", speed / one);
      return Value{text, speed};
    });
  }
}

}  // namespace rankbox::cli
