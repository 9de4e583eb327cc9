// The tests of the contract, tests/backends, in one way to assign ranks to GPUs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/gpu/sections.h"

namespace rankbox::cli {

void check_contract(Session& session, Command mode) {
  session.measure("test programs that pass", "all", [&] {
    if (mode.processes == 1 && mode.environment.empty()) throw NotMeasured{"there is one GPU"};
    // Without the first, tests pass where there is no GPU. Their tensors are small: every rank of
    // every world would otherwise allocate up to 8 GiB.
    mode.environment.insert(
        mode.environment.end(),
        {"RANKBOX_REQUIRE_GPU=1", "RANKBOX_GPU_NOTICE=0", "RANKBOX_GPU_ARENA_MIB=64"});
    mode.seconds = session.seconds() / 3;  // one that hangs leaves time for others
    std::vector<std::string> passed, failed, stuck, unfinished;
    for (const std::string& program : session.programs_in("contract")) {
      mode.program = program;
      try {
        const Ended ended = session.run(mode);
        (ended.timed_out ? stuck : ended.code == 0 ? passed : failed).push_back(program);
        if (ended.timed_out || ended.code != 0)
          session.report().details[session.section()][program] = ended.messages();
      } catch (const NotMeasured&) {
        unfinished.push_back(program);
      }
    }
    const std::size_t all = passed.size() + failed.size() + stuck.size() + unfinished.size();
    std::string text = fmt::format("{} of {}", passed.size(), all);
    const std::string no_time =
        fmt::format("there was no time for {}", fmt::join(unfinished, ", "));
    const bool is_met = failed.empty() && stuck.empty();
    if (is_met && !unfinished.empty())
      throw NotMeasured{fmt::format("{} pass, and {}", text, no_time)};
    if (!failed.empty()) text += fmt::format("; failed: {}", fmt::join(failed, ", "));
    if (!stuck.empty())
      text += fmt::format("; not ended after {:.3g} s: {}", mode.seconds, fmt::join(stuck, ", "));
    if (!unfinished.empty()) text += "; " + no_time;
    return Value{text, static_cast<double>(passed.size()), is_met};
  });
}

}  // namespace rankbox::cli
