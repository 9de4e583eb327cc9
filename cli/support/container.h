// What a program sees and may do in a container, and the command line that starts it there.
//
// Bubblewrap (bwrap) makes the container: namespaces of its own for users, mounts, processes, the
// network, IPC and the host's name, no capabilities, no terminal, and an empty root to which the
// programs and libraries of this machine are added, read-only. There is no /proc and no /sys. When
// the container's first process ends, the kernel ends all of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "files/fd.h"

namespace rankbox::cli {

/// A file or folder of this machine, and its path in the container.
struct Mount {
  std::string from;
  std::string at;
};

/// A file with this content.
struct MadeFile {
  std::string at;
  std::string content;
};

struct Container {
  std::vector<std::string> hidden = {};    // folders of which only what is listed here is visible
  std::vector<Mount> readable = {};        // none inside another one
  std::vector<MadeFile> made = {};         // read-only
  std::vector<std::string> writable = {};  // folders; all other writes go to /tmp and are lost
  std::int64_t tmp_bytes = std::int64_t{64} << 20;  // the size of /tmp

  /// False: it may start threads but no processes, trace nothing and open no sockets.
  bool may_start_processes = false;
};

/// A command that runs another one in a container. The descriptors must stay open, and be inherited
/// by the command under the same numbers.
struct ContainerCommand {
  std::vector<std::string> words;
  std::vector<Fd> inherited;  // close-on-exec until the fork
  Fd info;                    // for first_process_of()
};

/// Returns the command that runs `command` in `container`. Mounting takes about 10 ms. It passes on
/// its standard descriptors and the report's, and ends as `command` does: with 128 plus the number
/// of a signal that ended it. Throws std::system_error.
ContainerCommand in_container(const Container& container, const std::vector<std::string>& command);

/// Returns the first process of a container, as other processes number it, from a command's `info`.
/// Returns -1 as long as there is none. When it has ended, so have all others of the container.
pid_t first_process_of(const Fd& info);

/// Returns in one line why no container can be made on this machine; empty if one can. The first
/// call makes one, which takes about 10 ms. Thread safety: any thread may call it.
std::string container_problem();

/// Notes that a program has run in a container, which saves container_problem() its test.
void container_has_worked();

/// Returns whether containers may work: container_problem() has found no problem so far.
bool may_have_containers();

/// Returns the environment of every container: a fixed PATH and TMPDIR, and of this process's
/// variables those that select the course and the number of threads.
std::vector<std::string> container_variables();

/// Returns whether every container shows this path: a program or library of this machine.
bool is_of_system(const std::string& path);

/// Returns the mounts of this process's own program and of the libraries that it had loaded when
/// this was first called.
std::vector<Mount> own_program();

/// Returns the path of this process's own program.
std::string own_path();

}  // namespace rankbox::cli
