#include "cli/train/mine_faults.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/plugin/signal_stack.h"

namespace rankbox::train {
namespace {

struct Library {
  MineFunction function;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// Filled before threads start, and only read afterwards.
std::vector<Library>& libraries() {
  static std::vector<Library> all;
  return all;
}

/// Callers that lie in a learner's library, innermost first, as addr2line wants them.
struct Found {
  const Library* library = nullptr;
  std::array<std::uintptr_t, 6> offsets = {};
  std::size_t count = 0;
};

/// The innermost library among the callers of this function, and its callers in a row.
Found find_callers() {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  Found found;
  for (int i = 0; i < count && found.count < found.offsets.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    for (const Library& library : libraries()) {
      if (address < library.begin || address >= library.end) continue;
      if (found.library == nullptr) found.library = &library;
      // A return address is that of the next instruction, perhaps of the next line.
      if (found.library == &library) found.offsets[found.count++] = address - library.begin - 1;
      break;
    }
  }
  return found;
}

using PlaceText = std::array<char, 4096>;

/// Puts the first place outside of the system's headers to the front: where the learner's code called
/// what broke.
void keep_first_own(PlaceText& text) {
  char* line = text.data();
  while (*line != '\0' && (std::strncmp(line, "/usr/", 5) == 0 || *line == '?')) {
    line += std::strcspn(line, "\n");
    if (*line == '\n') ++line;
  }
  // As seen from the project, where it is inside.
  const char* root = std::getenv("RANKBOX_ROOT");
  const std::size_t length = root == nullptr ? 0 : std::strlen(root);
  if (length > 0 && std::strncmp(line, root, length) == 0 && line[length] == '/')
    line += length + 1;
  const std::size_t size = std::strcspn(line, " \n");
  std::memmove(text.data(), line, size);
  text[size] = '\0';
}

/// "exercises/09_sharding/zero1.cc:14", by addr2line; empty without it. Allocates nothing: a handler
/// may run where the heap is broken.
PlaceText place_of(const Found& found) {
  PlaceText text = {};
  std::array<std::array<char, 24>, std::tuple_size_v<decltype(Found::offsets)>> addresses;
  char program[] = "addr2line", inlined[] = "-i", of[] = "-e";
  std::array<char*, 5 + addresses.size()> words = {
      program, inlined, of, const_cast<char*>(found.library->function.library.c_str())};
  for (std::size_t i = 0; i < found.count; ++i) {
    std::snprintf(addresses[i].data(), addresses[i].size(), "%zx",
                  static_cast<std::size_t>(found.offsets[i]));
    words[4 + i] = addresses[i].data();
  }
  int ends[2];
  if (pipe(ends) != 0) return text;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, program, &actions, nullptr, words.data(), environ);
  close(ends[1]);
  std::size_t size = 0;
  for (ssize_t got = 1; failure == 0 && got > 0 && size + 1 < text.size();) {
    got = read(ends[0], text.data() + size, text.size() - 1 - size);
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  close(ends[0]);
  if (failure == 0) waitpid(pid, nullptr, 0);
  keep_first_own(text);
  return text;
}

/// Of "mine.cc:14" the length of the file's name, where it is not the exercise's own; else 0.
std::size_t length_of_other_file(const char* place) {
  const char* const colon = std::strrchr(place, ':');
  if (colon == nullptr || std::strncmp(place, "exercises/", 10) == 0) return 0;
  return static_cast<std::size_t>(colon - place);
}

const char* in_words(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "division by zero, or another arithmetic error";
    case SIGABRT:
      return "aborted";
    default:
      return "illegal instruction";
  }
}

void on_signal(int signal) {
  static std::atomic_flag is_reporting;
  if (is_reporting.test_and_set()) {
    for (;;) pause();  // another thread was first, and ends the process
  }
  const Found found = find_callers();
  if (found.library == nullptr) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  alarm(10);  // should the report itself hang
  const PlaceText place = place_of(found);
  const char* name = found.library->function.name.c_str();
  const int rank = cli::rank_of_this_thread();
  const std::size_t file = length_of_other_file(place.data());
  std::array<char, 3 * std::tuple_size_v<PlaceText>> line;
  const int size =
      std::snprintf(line.data(), line.size(),
                    "rankbox train: %s (yours) crashed on rank %d: %s%s%s; ./rankbox check "
                    "%s%s%.*s explains it\n",
                    name, rank, in_words(signal), place[0] == '\0' ? "" : " at ", place.data(),
                    name, file == 0 ? "" : " --file ", static_cast<int>(file), place.data());
  (void)!write(STDERR_FILENO, line.data(), static_cast<std::size_t>(size));
  _exit(1);
}

/// A learner's function must return: a process that it ends would look like one that is done.
void on_exit_called(int code, void* /*unused*/) {
  const Found found = find_callers();
  if (found.library == nullptr) return;  // our own
  const PlaceText place = place_of(found);
  const char* name = found.library->function.name.c_str();
  std::fprintf(stderr,
               "rankbox train: %s (yours) called exit(%d) on rank %d%s%s; ./rankbox check %s "
               "explains it\n",
               name, code, cli::rank_of_this_thread(), place[0] == '\0' ? "" : " at ", place.data(),
               name);
  _exit(1);
}

void install_handlers() {
  on_exit(on_exit_called, nullptr);

  // The first backtrace loads a library, which a signal handler must not do.
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

std::mutex throws_mutex;
std::map<int, Found>& throws() {
  static std::map<int, Found> by_rank;
  return by_rank;
}

}  // namespace

void report_faults_in(const MineFunction& function) {
  if (libraries().empty()) install_handlers();
  Library library{function};
  Dl_info info = {};
  if (dladdr(function.address, &info) == 0) return;
  library.begin = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        Library& found = *static_cast<Library*>(result);
        if (object->dlpi_addr != found.begin) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
          if (segment.p_type == PT_LOAD && end > found.end) found.end = end;
        }
        return 1;
      },
      &library);
  libraries().push_back(library);
}

void use_signal_stack() {
  if (libraries().empty()) return;
  thread_local const cli::SignalStack stack;
}

std::vector<std::string> functions_of_yours() {
  std::vector<std::string> names;
  for (const Library& library : libraries()) names.push_back(library.function.name);
  return names;
}

ThrowPlace last_throw_of(int rank) {
  Found found;
  {
    const std::lock_guard lock(throws_mutex);
    const auto entry = rank == kAnyRank ? throws().begin() : throws().find(rank);
    if (entry == throws().end()) return {};
    found = entry->second;
  }
  const std::string place = place_of(found).data();
  const std::string& name = found.library->function.name;
  const std::string file = place.substr(0, length_of_other_file(place.c_str()));
  return {name, place,
          "./rankbox check " + name + (file.empty() ? std::string() : " --file " + file)};
}

/// Called by __cxa_throw below.
void remember_throw() {
  if (libraries().empty()) return;
  const Found found = find_callers();
  if (found.library == nullptr) return;
  const std::lock_guard lock(throws_mutex);
  throws()[cli::rank_of_this_thread()] = found;
}

}  // namespace rankbox::train

// Every throw in the process passes here on its way to the C++ runtime.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): its name is given
[[noreturn]] __attribute__((visibility("default"))) void __cxa_throw(void* exception, void* type,
                                                                     void (*destroy)(void*)) {
  rankbox::train::remember_throw();
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto runtime_throw = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  runtime_throw(exception, type, destroy);
  std::abort();  // not reached
}
}
