#include "cli/support/container.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "cli/support/system_calls.h"

namespace rankbox::cli {

namespace {

namespace fs = std::filesystem;

// The programs and libraries of this machine: compilers, linkers and their files.
constexpr const char* kSystem[] = {"/usr",
                                   "/bin",
                                   "/sbin",
                                   "/lib",
                                   "/lib32",
                                   "/lib64",
                                   "/nix/store",
                                   "/etc/alternatives",
                                   "/etc/ld.so.cache"};

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Returns a descriptor with a number above those that a child uses.
Fd moved_up(int fd) {
  const Fd old(fd);
  Fd moved(old.is_open() ? fcntl(old.get(), F_DUPFD_CLOEXEC, kReportFd + 2) : -1);
  if (!moved.is_open()) fail("no file descriptor");
  return moved;
}

/// Returns a descriptor that reads `content`.
Fd readable(const std::string& content) {
  Fd file = moved_up(memfd_create("rankbox", MFD_CLOEXEC));
  if (!write_all(file.get(), content)) fail("write");
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// What container_problem() knows.
enum class Knowledge { kNone, kWorks, kFails };
std::atomic<Knowledge> knowledge = Knowledge::kNone;

std::string find_problem() {
  if (std::getenv("RANKBOX_NO_CONTAINER") != nullptr) return "RANKBOX_NO_CONTAINER is set";
  if (knowledge == Knowledge::kWorks) return "";
  const Container empty;
  ChildOptions options;
  options.command = {"true"};
  options.container = &empty;
  try {
    const ChildResult result = run_child(options);
    if (result.status == 0) return "";
    return "this machine refuses: " + last_line(result.output);
  } catch (const std::system_error& error) {
    return fmt::format("{}: install the package bubblewrap", error.what());
  }
}

}  // namespace

bool is_of_system(const std::string& path) {
  return std::ranges::any_of(kSystem, [&](const char* folder) { return is_inside(path, folder); });
}

ContainerCommand in_container(const Container& container, const std::vector<std::string>& command) {
  ContainerCommand made;
  std::vector<std::string>& words = made.words;
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  const auto descriptor = [&](const std::string& content) {
    made.inherited.push_back(readable(content));
    return std::to_string(made.inherited.back().get());
  };

  add({"bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc",
       "--unshare-uts", "--die-with-parent", "--new-session", "--cap-drop", "ALL"});
  for (const char* path : kSystem) add({"--ro-bind-try", path, path});
  add({"--size", std::to_string(container.tmp_bytes), "--tmpfs", "/tmp"});
  for (const char* device : {"/dev/null", "/dev/urandom"}) add({"--dev-bind", device, device});
  // Some images have projects inside /usr.
  std::vector<std::string> hidden = container.hidden;
  std::erase_if(hidden, [](const std::string& folder) { return !is_of_system(folder); });
  for (const std::string& folder : hidden) add({"--tmpfs", folder});
  for (const Mount& mount : container.readable) add({"--ro-bind", mount.from, mount.at});
  for (const MadeFile& file : container.made)
    add({"--ro-bind-data", descriptor(file.content), file.at});
  for (const std::string& folder : container.writable) add({"--bind", folder, folder});
  for (const std::string& folder : hidden) add({"--remount-ro", folder});
  add({"--remount-ro", "/"});
  const std::string filter = container.may_start_processes ? "" : system_call_filter();
  if (!filter.empty()) add({"--seccomp", descriptor(filter)});
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe");
  made.info.reset(ends[0]);
  made.inherited.push_back(moved_up(ends[1]));
  add({"--info-fd", std::to_string(made.inherited.back().get()), "--"});
  words.insert(words.end(), command.begin(), command.end());
  return made;
}

pid_t first_process_of(const Fd& info) {
  std::array<char, 1024> text = {};  // {"child-pid": 1234, …}
  if (read(info.get(), text.data(), text.size() - 1) <= 0) return -1;
  const char* const number = std::strstr(text.data(), "\"child-pid\":");
  return number == nullptr ? -1 : std::atoi(number + std::strlen("\"child-pid\":"));
}

std::string container_problem() {
  static const std::string problem = [] {
    std::string found = find_problem();
    knowledge = found.empty() ? Knowledge::kWorks : Knowledge::kFails;
    return found;
  }();
  return problem;
}

void container_has_worked() {
  Knowledge none = Knowledge::kNone;
  knowledge.compare_exchange_strong(none, Knowledge::kWorks);
}

bool may_have_containers() {
  return std::getenv("RANKBOX_NO_CONTAINER") == nullptr && knowledge != Knowledge::kFails;
}

std::vector<std::string> container_variables() {
  // ccache would look for its folder in the user's home.
  std::vector<std::string> variables = {"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp",
                                        "CCACHE_DISABLE=1"};
  constexpr std::string_view kKept[] = {"RANKBOX_ROOT=", "RANKBOX_COURSE=", "GLIBC_TUNABLES=",
                                        "OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS="};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(kKept, [&](std::string_view name) { return text.starts_with(name); }))
      variables.emplace_back(text);
  }
  return variables;
}

std::string own_path() { return fs::read_symlink("/proc/self/exe").string(); }

std::vector<Mount> own_program() {
  // Found once: what this process loads later, a solution for example, is no part of the program.
  static const std::vector<Mount> found = [] {
    std::vector<Mount> mounts = {{own_path(), own_path()}};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
          const std::string path = object->dlpi_name;
          if (path.starts_with('/') && !is_of_system(path) && fs::exists(path))
            static_cast<std::vector<Mount>*>(result)->push_back({path, path});
          return 0;
        },
        &mounts);
    return mounts;
  }();
  return found;
}

}  // namespace rankbox::cli
