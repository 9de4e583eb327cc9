#include "cli/train/mine_faults.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/memory_meter.h"
#include "judge/faults.h"

namespace rankbox::train {
namespace {

// Filled before threads start, and only read afterwards: a function for each of
// learners_libraries().
std::vector<MineFunction>& functions() {
  static std::vector<MineFunction> all;
  return all;
}

const MineFunction& function_of(const Callers& callers) {
  return functions()[static_cast<std::size_t>(callers.library)];
}

using PlaceText = std::array<char, 4096>;

/// Moves the first place outside the system's headers to the front: the learner's call that failed.
void keep_first_own(PlaceText& text) {
  char* line = text.data();
  while (*line != '\0' && (std::strncmp(line, "/usr/", 5) == 0 || *line == '?')) {
    line += std::strcspn(line, "\n");
    if (*line == '\n') ++line;
  }
  // Relative to the project's root if it is inside.
  const char* root = std::getenv("RANKBOX_ROOT");
  const std::size_t length = root == nullptr ? 0 : std::strlen(root);
  if (length > 0 && std::strncmp(line, root, length) == 0 && line[length] == '/')
    line += length + 1;
  const std::size_t size = std::strcspn(line, " \n");
  std::memmove(text.data(), line, size);
  text[size] = '\0';
}

/// Returns "exercises/09_sharding/zero1.cc:14", by addr2line; empty without it. Allocates nothing:
/// a handler may run with a corrupt heap.
PlaceText place_of(const Callers& found) {
  PlaceText text = {};
  std::array<std::array<char, 24>, std::tuple_size_v<decltype(Callers::offsets)>> addresses;
  char program[] = "addr2line", inlined[] = "-i", of[] = "-e";
  std::array<char*, 5 + addresses.size()> words = {
      program, inlined, of, const_cast<char*>(function_of(found).library.c_str())};
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

/// Returns the length of the file's name in "mine.cc:14" if it is not the exercise's file; else 0.
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
  const Callers found = find_callers();
  if (found.library < 0) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  alarm(10);  // if the report itself hangs
  const PlaceText place = place_of(found);
  const char* name = function_of(found).name.c_str();
  const int rank = rank_of_this_thread();
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

/// A learner's function must return: a process that it ends would look complete.
void on_exit_called(int code, void* /*unused*/) {
  const Callers found = find_callers();
  if (found.library < 0) return;  // not the learner's
  const PlaceText place = place_of(found);
  const char* name = function_of(found).name.c_str();
  std::fprintf(stderr,
               "rankbox train: %s (yours) called exit(%d) on rank %d%s%s; ./rankbox check %s "
               "explains it\n",
               name, code, rank_of_this_thread(), place[0] == '\0' ? "" : " at ", place.data(),
               name);
  _exit(1);
}

}  // namespace

void report_faults_in(const MineFunction& function) {
  const bool is_first = functions().empty();
  functions().push_back(function);
  learners_libraries().push_back(library_at(function.address));
  // Registered after the list was constructed: exit() then calls on_exit before it destroys it.
  if (is_first) handle_faults(on_signal, on_exit_called);
}

std::vector<std::string> functions_of_yours() {
  std::vector<std::string> names;
  for (const MineFunction& function : functions()) names.push_back(function.name);
  return names;
}

ThrowPlace last_throw_of(int rank) {
  const Callers found = callers_of_last_throw(rank);
  if (found.library < 0) return {};
  const std::string place = place_of(found).data();
  const std::string& name = function_of(found).name;
  const std::string file = place.substr(0, length_of_other_file(place.c_str()));
  return {name, place,
          "./rankbox check " + name + (file.empty() ? std::string() : " --file " + file)};
}

}  // namespace rankbox::train
