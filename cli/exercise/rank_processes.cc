#include "cli/exercise/rank_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/support/container.h"
#include "cli/support/exec.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "judge/seal/referee/referee.h"

namespace rankbox::cli {

namespace {

namespace fs = std::filesystem;

/// Beside this program where it is installed; in the next folder where Bazel built it.
std::string rank_program() {
  const fs::path own = fs::path(own_path()).parent_path();
  for (const fs::path& candidate :
       {own / "rankbox-rank", own.parent_path() / "judge/seal/rankbox-rank"}) {
    if (fs::exists(candidate)) return candidate.string();
  }
  throw Error(fmt::format("{} is missing: run ./rankbox, which builds it",
                          (own / "rankbox-rank").string()));
}

}  // namespace

RankProcesses::RankProcesses(const std::string& family, int ranks,
                             const std::vector<std::string>& libraries) {
  const std::vector<int> sockets = seal::connect_ranks(ranks);
  const std::string program = rank_program();
  std::vector<std::string> words = {program, family, fmt::format("{}", fmt::join(sockets, ","))};
  words.insert(words.end(), libraries.begin(), libraries.end());

  Container container;
  container.may_start_processes = true;  // the ranks; each forbids itself more
  container.hidden = {project_root()};
  container.readable.push_back({program, program});
  for (const std::string& library : libraries) container.readable.push_back({library, library});
  ContainerCommand command = in_container(container, words);
  info_ = std::move(command.info);

  const std::vector<char*> arguments = pointers_to(command.words);
  std::vector<std::string> variables = container_variables();
  // The stack of a thread that has ended is no memory of the learner's.
  std::erase_if(variables, [](const std::string& each) { return each.starts_with("GLIBC_TUN"); });
  variables.emplace_back("GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0");
  // A function has one thread, unless it starts others.
  variables.emplace_back("OPENBLAS_NUM_THREADS=1");
  const std::vector<char*> environment = pointers_to(variables);

  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // This process's limit on memory is that of all ranks together.
    rlimit memory = {};
    // Libraries, 128 MiB that OpenBLAS maps for products, and some to work with.
    constexpr rlim_t kLeastBytes = rlim_t{384} << 20;
    if (getrlimit(RLIMIT_DATA, &memory) == 0 && memory.rlim_max != RLIM_INFINITY) {
      const rlim_t each = std::max(kLeastBytes, memory.rlim_max / static_cast<rlim_t>(ranks));
      memory.rlim_cur = memory.rlim_max = std::min(memory.rlim_max, each);
      setrlimit(RLIMIT_DATA, &memory);
    }
    for (const int socket : sockets) fcntl(socket, F_SETFD, 0);
    for (const Fd& fd : command.inherited) fcntl(fd.get(), F_SETFD, 0);
    // No learner's code gets the descriptor of the report. What it prints goes with the referee's.
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, kReportFd}) dup2(nothing, fd);
    execvpe(arguments.front(), arguments.data(), environment.data());
    _exit(127);
  }
  for (const int socket : sockets) close(socket);
}

RankProcesses::~RankProcesses() {
  // With it the kernel ends all others of the container.
  if (const pid_t first = first_process_of(info_); first > 0) kill(first, SIGKILL);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace rankbox::cli
