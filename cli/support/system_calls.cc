#include "cli/support/system_calls.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace rankbox::cli {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kProcessor = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kOtherNumbers = 0x40000000;  // of the x32 calls: the same, renumbered
#elif defined(__aarch64__)
constexpr std::uint32_t kProcessor = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kOtherNumbers = 0;
#else
constexpr std::uint32_t kProcessor = 0;
constexpr std::uint32_t kOtherNumbers = 0;
#endif

constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

// Younger than some C libraries. Its number is the same on all processors.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

// clang-format off
constexpr long kRefused[] = {
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_unshare, SYS_setns, SYS_mount, SYS_pivot_root,
    // A network namespace hides the network, but neither other kinds of sockets nor their bugs.
    SYS_socket, SYS_socketpair,
    // Descriptors and memory of another process: the container's first one is its parent.
    SYS_pidfd_getfd, SYS_process_madvise, SYS_kcmp,
    // Memory that no limit counts.
    SYS_memfd_create, SYS_memfd_secret, SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open,
    // Work that the kernel does on a program's behalf, past this filter, and rare calls with bugs.
    SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
    SYS_request_key,
    // Limited per machine or user; what other processes open; and the kernel's log.
    SYS_io_setup, SYS_inotify_init1, SYS_fanotify_init, SYS_syslog,
#ifdef SYS_inotify_init
    SYS_inotify_init,
#endif
};
// clang-format on

void add(std::vector<sock_filter>& program, std::uint32_t code, std::uint32_t operand,
         std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
  program.push_back({static_cast<std::uint16_t>(code), if_true, if_false, operand});
}

void load(std::vector<sock_filter>& program, std::size_t offset) {
  add(program, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

/// Skips the next instruction unless the loaded word equals `value`.
void if_equal(std::vector<sock_filter>& program, std::uint32_t value) {
  add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

void give(std::vector<sock_filter>& program, std::uint32_t answer) {
  add(program, BPF_RET | BPF_K, answer);
}

}  // namespace

std::string system_call_filter() {
  if (kProcessor == 0) return "";
  std::vector<sock_filter> program;
  load(program, offsetof(seccomp_data, arch));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, kProcessor, 1, 0);
  give(program, SECCOMP_RET_KILL_PROCESS);

  load(program, offsetof(seccomp_data, nr));
  if (kOtherNumbers != 0) {
    add(program, BPF_JMP | BPF_JGE | BPF_K, kOtherNumbers, 0, 1);
    give(program, kRefuse);
  }
  for (const long call : kRefused) {
    if_equal(program, static_cast<std::uint32_t>(call));
    give(program, kRefuse);
  }
  // Its flags are in memory, which a filter cannot read; the C library then calls clone.
  if_equal(program, SYS_clone3);
  give(program, SECCOMP_RET_ERRNO | ENOSYS);
  // Arguments follow, of which the lower half matters: both processors are little-endian.
  add(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
  load(program, offsetof(seccomp_data, args));
  add(program, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
  give(program, kRefuse);
  give(program, SECCOMP_RET_ALLOW);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4);
  load(program, offsetof(seccomp_data, args) + 3 * sizeof(std::uint64_t));
  add(program, BPF_ALU | BPF_AND | BPF_K, MAP_SHARED | MAP_ANONYMOUS);
  if_equal(program, MAP_SHARED | MAP_ANONYMOUS);
  give(program, kRefuse);
  give(program, SECCOMP_RET_ALLOW);
  return {reinterpret_cast<const char*>(program.data()), program.size() * sizeof(sock_filter)};
}

}  // namespace rankbox::cli
