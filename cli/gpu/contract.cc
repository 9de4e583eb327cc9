// The tests of the contract, tests/backends, in one way to assign ranks to GPUs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/gpu/sections.h"

namespace rankbox::cli {

constexpr std::size_t kMostOutput = 4000;  // of a failed program, in the details

void check_contract(Session& session, Command mode) {
  session.measure("test programs that pass", "all", [&] {
    if (mode.processes == 1 && mode.environment.empty()) throw NotMeasured{"there is one GPU"};
    // Without a GPU tests pass otherwise.
    mode.environment.insert(mode.environment.end(),
                            {"RANKBOX_REQUIRE_GPU=1", "RANKBOX_GPU_NOTICE=0"});
    mode.seconds = session.seconds() / 3;  // one that hangs leaves time for others
    std::vector<std::string> passed, failed, unfinished;
    for (const std::string& program : session.programs_in("contract")) {
      mode.program = program;
      Ended ended;
      try {
        ended = session.run(mode);
      } catch (const NotMeasured&) {
        ended.timed_out = true;
      }
      (ended.timed_out ? unfinished : ended.code == 0 ? passed : failed).push_back(program);
      if (ended.timed_out || ended.code == 0) continue;
      session.report().details[session.section()][program] =
          (ended.output + ended.errors).substr(0, kMostOutput);
    }
    const std::size_t all = passed.size() + failed.size() + unfinished.size();
    std::string text = fmt::format("{} of {}", passed.size(), all);
    const std::string no_time =
        fmt::format("there was no time for {}", fmt::join(unfinished, ", "));
    if (failed.empty() && !unfinished.empty())
      throw NotMeasured{fmt::format("{} pass, and {}", text, no_time)};
    if (!failed.empty()) text += fmt::format("; failed: {}", fmt::join(failed, ", "));
    if (!unfinished.empty()) text += "; " + no_time;
    return Value{text, static_cast<double>(passed.size()), failed.empty()};
  });
}

}  // namespace rankbox::cli
