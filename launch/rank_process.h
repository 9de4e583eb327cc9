// One process of a world, as its launcher holds it.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rankbox::launcher {

class RankProcess {
 public:
  /// Starts it, as the leader of a process group, with the signals of `mask` blocked. It dies with
  /// the calling thread. Returns once the program runs. Throws Error if it cannot be started.
  /// @param environment "NAME=value", all there is to be
  RankProcess(const std::vector<std::string>& command, const std::vector<std::string>& environment,
              const sigset_t& mask);
  RankProcess(RankProcess&& other) noexcept;
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess() { end(); }

  pid_t pid() const { return pid_; }
  bool is_running() const { return running_; }

  /// To its whole group.
  void send(int signal) const;
  /// True: it has ended since the last call. What is left of its group is killed.
  bool has_ended();
  /// Of a process that has ended, as waitpid has it.
  int status() const { return status_; }

 private:
  void end();

  pid_t pid_ = -1;
  bool running_ = false;
  int status_ = 1 << 8;  // exit code 1: if somebody else reaps it, we cannot say that all was well
};

}  // namespace rankbox::launcher
