#include "cli/train/mine.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/plugin/plugin.h"
#include "cli/support/exec.h"
#include "cli/train/mine_faults.h"
#include "comm/errors.h"

namespace rankbox::train {
namespace {

// The earlier value of LD_PRELOAD; set while the program executes itself.
constexpr const char* kBefore = "RANKBOX_LD_PRELOAD_BEFORE";

[[noreturn]] void execute_again(const std::vector<NamedFile>& libraries,
                                const std::vector<std::string>& arguments) {
  const char* before = std::getenv("LD_PRELOAD");
  std::string list;
  for (const NamedFile& library : libraries) {
    // The loader would fail, too, with a message that is harder to read.
    const cli::LoadedFunction loaded = cli::load_function(library.file, library.name);
    if (loaded.function == nullptr)
      throw Error(fmt::format("{} from {}: {}", library.name, library.file, loaded.problem));
    // The loader splits the list at colons and spaces, which a path may hold, so it names open
    // descriptors.
    const int fd = open(library.file.c_str(), O_RDONLY);
    if (fd < 0) throw Error(fmt::format("{}: {}", library.file, std::strerror(errno)));
    list += fmt::format("/proc/self/fd/{}:", fd);
  }
  setenv(kBefore, before == nullptr ? "" : before, 1);
  setenv("LD_PRELOAD", (list + (before == nullptr ? "" : before)).c_str(), 1);
  execv("/proc/self/exe", cli::pointers_to(arguments).data());
  throw Error(fmt::format("cannot execute {} again: {}", arguments.front(), std::strerror(errno)));
}

/// Returns handles of the libraries in LD_PRELOAD: one per learner's library, in order.
std::vector<void*> preloaded(std::size_t count) {
  std::vector<void*> handles;
  const char* value = std::getenv("LD_PRELOAD");
  std::string_view rest = value == nullptr ? "" : value;
  constexpr std::string_view kFolder = "/proc/self/fd/";
  while (handles.size() < count && rest.starts_with(kFolder)) {
    const std::string path(rest.substr(0, rest.find(':')));
    rest.remove_prefix(path.size() + 1);
    handles.push_back(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD));
    close(std::atoi(path.c_str() + kFolder.size()));
  }
  handles.resize(count);
  return handles;
}

/// Throws Error unless the program calls the library's function.
void check_is_called(const NamedFile& library, void* handle) {
  using Function = void (*)();
  const auto entry = handle == nullptr
                         ? nullptr
                         : reinterpret_cast<Function (*)()>(dlsym(handle, "rankbox_exercise"));
  if (entry == nullptr)
    throw Error(fmt::format("{}: the loader left out {}", library.name, library.file));
  void* const function = reinterpret_cast<void*>(entry());
  Dl_info info = {};
  if (dladdr(function, &info) == 0 || info.dli_sname == nullptr ||
      dlsym(RTLD_DEFAULT, info.dli_sname) != function) {
    throw Error(fmt::format("{}: this program does not call the function of {}", library.name,
                            library.file));
  }
  report_faults_in({library.name, library.file, function});
}

}  // namespace

std::vector<NamedFile> take_libraries(std::vector<std::string>& arguments) {
  constexpr std::string_view kOption = "--mine-library";
  constexpr std::string_view kFix = "give NAME=FILE.so";
  std::vector<NamedFile> libraries;
  for (const std::string& value : cli::take_values(kOption, kFix, arguments))
    libraries.push_back(cli::named_file(kOption, value, kFix));
  return libraries;
}

void preload(const std::vector<NamedFile>& libraries, const std::vector<std::string>& arguments) {
  if (libraries.empty()) return;
  const char* before = std::getenv(kBefore);
  if (before == nullptr) execute_again(libraries, arguments);

  const std::vector<void*> handles = preloaded(libraries.size());
  if (*before == '\0')
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", before, 1);
  unsetenv(kBefore);
  for (std::size_t i = 0; i < libraries.size(); ++i) check_is_called(libraries[i], handles[i]);
}

}  // namespace rankbox::train
