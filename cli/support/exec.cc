#include "cli/support/exec.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"

namespace rankbox::cli {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  // exec changes none of them: it is older than const.
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void replace_process(const std::vector<std::string>& command) {
  std::fflush(stdout);
  execvp(command.front().c_str(), pointers_to(command).data());
  throw Error(fmt::format("cannot run {}: {}", command.front(), std::strerror(errno)));
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace rankbox::cli
