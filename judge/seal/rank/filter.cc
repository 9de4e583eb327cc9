#include "judge/seal/rank/filter.h"

#include <cerrno>
#include <initializer_list>
#include <memory>

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comm/errors.h"

namespace rankbox::seal {

namespace {

constexpr std::initializer_list<int> kAllowed = {
    // Memory.
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
    // Open descriptors: the socket, and libraries that are loaded.
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(sendto),
    SCMP_SYS(recvfrom), SCMP_SYS(pread64), SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat),
    SCMP_SYS(newfstatat), SCMP_SYS(stat), SCMP_SYS(access), SCMP_SYS(readlink),
    // Threads of this process. clone() below.
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(gettid), SCMP_SYS(getpid),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(exit), SCMP_SYS(exit_group),
    // Signals to itself: handlers, and how a crash ends it.
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    // Time and numbers.
    SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom), SCMP_SYS(uname),
    SCMP_SYS(getrusage),
    SCMP_SYS(restart_syscall),  // of a sleep that a stop interrupted
};

void require(int result) {
  if (result < 0)
    throw Error("this system cannot restrict the system calls of a process (seccomp)");
}

}  // namespace

void forbid_system_calls() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)),
                                                                seccomp_release);
  if (filter == nullptr) require(-1);
  for (const int call : kAllowed) require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0));
  // No memory that processes could share: no limit counts it.
  for (const int flag : {MAP_SHARED, MAP_ANONYMOUS})
    require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A3(SCMP_CMP_MASKED_EQ, static_cast<scmp_datum_t>(flag), 0)));
  // Files only to read them, and only those of the container.
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                           SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY)));
  // Its own limits, only to read them: another process could read what this one sets.
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2,
                           SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0)));
  // Private futexes, and waiting for the end of a thread. On a page of a file that several ranks
  // map, a shared one would wake another rank.
  constexpr int kPrivate = 128, kWait = 0, kWaitBitset = 9, kRealTime = 256;
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(futex), 1,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, kPrivate, kPrivate)));
  for (const int wait : {kWait, kWaitBitset, kWaitBitset | kRealTime})
    require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(futex), 1,
                             SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(wait))));
  // Clocks of the system and of this process. Negative numbers are those of other processes, whose
  // processor time would tell what other ranks compute.
  constexpr scmp_datum_t kLastClock = 11;  // CLOCK_TAI
  for (const int call : {SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep)})
    require(
        seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_LE, kLastClock)));
  // Signals to its own threads: abort() is one.
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                           SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()))));
  // Threads, but no processes. glibc falls back to clone() where clone3() is unknown.
  require(seccomp_rule_add(
      filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)));
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  require(seccomp_load(filter.get()));
}

}  // namespace rankbox::seal
