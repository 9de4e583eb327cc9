#include "judge/interleave/operation.h"

namespace rankbox::interleave {

const char* noun_of(Action action) {
  using enum Action;
  switch (action) {
    case kRead:
    case kWrite:
      return "variable";
    case kAtomicLoad:
    case kAtomicStore:
    case kAtomicUpdate:
    case kSleep:
    case kWoken:
    case kRouse:
      return "atomic";
    case kLock:
    case kLockShared:
    case kUnlock:
    case kUnlockShared:
    case kWake:
      return "lock";
    case kWait:
    case kNotify:
      return "condition";
    case kAcquire:
    case kRelease:
      return "semaphore";
    case kArrive:
    case kLeave:
      return "barrier";
    case kStart:
    case kEnd:
    case kLoad:
    case kStore:
    case kJoin:
    case kYield:
    case kTryLock:  // of a lock or a semaphore
      break;
  }
  return "";
}

bool changes(Action action) {
  using enum Action;
  switch (action) {
    case kStart:
    case kLoad:
    case kRead:
    case kAtomicLoad:
    case kLockShared:  // in any order with others of its kind
    case kUnlockShared:
    case kYield:
      return false;
    default:
      return true;
  }
}

bool takes(Action action) {
  using enum Action;
  return action == kLock || action == kLockShared || action == kAcquire || action == kJoin ||
         action == kWake || action == kLeave || action == kWoken;
}

bool frees(Action action) {
  using enum Action;
  return action == kUnlock || action == kRelease || action == kEnd;
}

bool learns(Action action) {
  using enum Action;
  return takes(action) || action == kAtomicLoad || action == kAtomicUpdate || action == kTryLock ||
         action == kArrive || action == kSleep;
}

bool polls(Action action) {
  using enum Action;
  return action == kLoad || action == kAtomicLoad || action == kAtomicUpdate || action == kRead ||
         action == kTryLock;
}

bool depend(const Operation& a, const Operation& b) {
  if (!changes(a.action) && !changes(b.action)) return false;
  if (a.commutes && b.commutes && a.action == b.action) return false;
  const auto shares = [&](const void* place) {
    return place != nullptr && (place == b.place || place == b.second);
  };
  return shares(a.place) || shares(a.second);
}

}  // namespace rankbox::interleave
