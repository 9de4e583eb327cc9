#include "cli/gpu/session.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/support/now.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

// Standard output goes to the report's descriptor (cli/support/child.h), apart from errors. $1 is
// the number of processes, and the rest is the command of each. The exit code is 0 if all of them
// succeed. When one fails, the others have 5 s to report the same. What would change how ranks
// start, or what is measured, is not inherited.
constexpr const char* kScript = R"sh(
exec >&3 3>&-
unset RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE \
  PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID SLURM_NTASKS RANKBOX_GPU_MODE \
  RANKBOX_NCCL_SHARE_GPU NCCL_ALGO NCCL_DEBUG
processes=$1
shift
[ "$processes" -gt 1 ] || exec "$@"
rank=0
pids=
trap 'sleep 5; exit 1' USR1
while [ "$rank" -lt "$processes" ]; do
  { env RANK=$rank LOCAL_RANK=$rank WORLD_SIZE="$processes" LOCAL_WORLD_SIZE="$processes" \
    MASTER_ADDR=127.0.0.1 "$@" || kill -USR1 $$; } &
  pids="$pids $!"
  rank=$((rank + 1))
done
for pid in $pids; do wait "$pid"; done
)sh";

}  // namespace

Session::Session(Report& report, std::vector<std::string> folders,
                 std::function<void(const Line&)> on_line, std::function<void()> on_tick)
    : report_(report),
      folders_(std::move(folders)),
      on_line_(std::move(on_line)),
      on_tick_(std::move(on_tick)) {}

void Session::begin(const std::string& section, double seconds) {
  section_ = section;
  seconds_ = seconds;
  deadline_ = now() + seconds;
}

std::string Session::path_of(const std::string& program) const {
  for (const std::string& folder : folders_) {
    std::string path = fmt::format("{}/{}", folder, program);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  throw NotMeasured{program + " is not among the programs"};
}

Ended Session::run(const Command& command) {
  const double left = deadline_ - now();
  const NotMeasured out_of_time{fmt::format("the section's {:.3g} s ran out", seconds_)};
  ChildOptions child;
  child.command = {"sh", "-c", kScript, "sh", std::to_string(command.processes), "env"};
  for (const std::vector<std::string>& words :
       {command.environment, command.under, {path_of(command.program)}, command.arguments}) {
    child.command.insert(child.command.end(), words.begin(), words.end());
  }
  if (left <= 0) throw out_of_time;
  child.seconds = std::min(left, command.seconds);
  child.file_bytes = std::numeric_limits<std::int64_t>::max();  // shared memory counts as files
  child.grace_seconds = 2;
  child.keep_running = [this] { return on_tick_(), true; };
  const ChildResult result = run_child(child);
  if (result.timed_out && left <= command.seconds) throw out_of_time;
  const int code =
      WIFEXITED(result.status) ? WEXITSTATUS(result.status) : 128 + WTERMSIG(result.status);
  return {code, result.timed_out, result.report, result.output};
}

std::string Ended::messages() const {
  constexpr std::size_t kMost = 2000;  // of each: errors come last
  const auto end_of = [](const std::string& text) {
    return text.size() <= kMost ? text : text.substr(text.size() - kMost);
  };
  return end_of(output) + end_of(errors);
}

Figures Session::figures(const std::string& name, const Command& command) {
  const auto failed = [](const std::string& because) {
    return NotMeasured{because, /*is_failure=*/true};
  };
  try {
    const Ended ended = run(command);
    if (ended.code > 128)
      throw failed(fmt::format("{} was ended by signal {}", command.program, ended.code - 128));
    const Json json = Json::parse(ended.output, nullptr, /*allow_exceptions=*/false);
    const bool may_fail = ended.code == 1 && command.reports_failures && json.is_object();
    // 2 is a program's code for options that it does not take.
    if (ended.code == 2) throw NotMeasured{last_line(ended.errors)};
    if (ended.code != 0 && !may_fail) throw failed(last_line(ended.errors));
    if (!json.is_object()) throw failed(command.program + " did not print JSON");
    report_.details[name] = json;
    if (may_fail) report_.details[name + "_errors"] = ended.messages();
    return {json, {}};
  } catch (const NotMeasured& missing) {
    return {{}, missing};
  }
}

void Session::measure(const std::string& what, const std::string& target,
                      const std::function<Value()>& value) {
  Line line;
  line.section = section_;
  line.what = what;
  line.target = target;
  try {
    const Value measured = value();
    line.value = measured.text;
    line.number = measured.number;
    line.state = !measured.is_met   ? State::kMeasured
                 : *measured.is_met ? State::kMet
                                    : State::kNotMet;
  } catch (const NotMeasured& missing) {
    line.because = missing.because;
    line.is_failure = missing.is_failure;
  } catch (const Json::exception& error) {
    line.because = fmt::format("the figures are incomplete: {}", error.what());
    line.is_failure = true;
  }
  report_.lines.push_back(line);
  on_line_(line);
}

std::vector<std::string> Session::programs_in(const std::string& subfolder) const {
  std::set<std::string> names;
  for (const std::string& folder : folders_) {
    std::error_code missing;
    const std::filesystem::path path = std::filesystem::path(folder) / subfolder;
    for (const auto& entry : std::filesystem::directory_iterator(path, missing))
      names.insert(fmt::format("{}/{}", subfolder, entry.path().filename().string()));
  }
  if (names.empty()) throw NotMeasured{subfolder + "/ is not among the programs"};
  return {names.begin(), names.end()};
}

}  // namespace rankbox::cli
