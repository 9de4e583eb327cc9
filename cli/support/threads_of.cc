#include "cli/support/threads_of.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rankbox::cli {

namespace {

struct ThreadState {
  char state = '?';
  long ticks = 0;            // of processor time
  long childrens_ticks = 0;  // of a process: of its children that have ended
};

// The line reads "TID (name) state ppid …". The name may hold any text, so the search for its end
// starts from the right. Fields 14 and 15 are the user and system time, 16 and 17 the children's.
ThreadState state_of(const std::filesystem::path& task) {
  std::ifstream file(task / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream fields(line.substr(end_of_name + 1));
  ThreadState thread;
  fields >> thread.state;
  std::string skipped;
  for (int field = 4; field < 14; ++field) fields >> skipped;
  long user = 0, system = 0, childrens_user = 0, childrens_system = 0;
  fields >> user >> system >> childrens_user >> childrens_system;
  thread.ticks = user + system;
  thread.childrens_ticks = childrens_user + childrens_system;
  return thread;
}

int number_of_threads(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Threads:")) return std::atoi(line.c_str() + 8);
  }
  return 0;
}

struct Threads {
  long busiest = -1;  // of the running ones, the one with the most processor time; -1: none runs
  std::vector<long> asleep;
};

Threads threads_of(pid_t process) {
  Threads threads;
  long most_ticks = -1;
  std::error_code ignored;  // threads may start and end meanwhile
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process), ignored),
       end;
       !ignored && task != end; task.increment(ignored)) {
    const std::string name = task->path().filename().string();
    long id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec != std::errc()) continue;
    const ThreadState thread = state_of(task->path());
    if (thread.state != 'R') {
      threads.asleep.push_back(id);
    } else if (thread.ticks > most_ticks) {
      most_ticks = thread.ticks;
      threads.busiest = id;
    }
  }
  return threads;
}

/// Returns the process, and all that it has started, directly or not.
std::vector<pid_t> all_below(pid_t process) {
  std::vector<pid_t> all = {process};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<pid_t> children = children_of(all[i]);
    all.insert(all.end(), children.begin(), children.end());
  }
  return all;
}

}  // namespace

bool poke_threads_below(pid_t process, int signal) {
  for (const pid_t each : all_below(process)) {
    const long busiest = threads_of(each).busiest;
    if (busiest >= 0) return syscall(SYS_tgkill, each, busiest, signal) == 0;
  }
  for (const long id : threads_of(process).asleep) syscall(SYS_tgkill, process, id, signal);
  return false;
}

ProcessTree tree_of(pid_t process) {
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  ProcessTree tree;
  for (const pid_t each : all_below(process)) {
    std::ifstream pages(fmt::format("/proc/{}/statm", each));
    std::int64_t size = 0, resident = 0, shared = 0;
    if (pages >> size >> resident >> shared) tree.private_bytes += (resident - shared) * page;
    tree.threads += number_of_threads(each);
  }
  return tree;
}

CpuUse cpu_use_of(pid_t process) {
  static const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  CpuUse use;
  for (const pid_t each : all_below(process)) {
    const ThreadState whole = state_of(fmt::format("/proc/{}", each));
    use.seconds += static_cast<double>(whole.ticks + whole.childrens_ticks) / ticks_a_second;
    use.is_running = use.is_running || threads_of(each).busiest >= 0;
  }
  return use;
}

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", process));
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

}  // namespace rankbox::cli
