// Judges a function and returns a verdict.
//
// The judge applies these checks to all of the subject's cases, smallest first, so that it reports
// the smallest failure:
//   values    every element is right, and inputs are unchanged
//   messages  every message sent is received, in its size and type; no native collective replaces
//             them; and the messages are those of the algorithm (message_graph.h)
//   cost      steps, bytes and additions along the critical path equal the closed form, and the
//             schedule is the promised one
//   safety    the same holds whether sends are buffered or not, and under random delays; and no
//             barrier hides a wrong order of messages
//   memory    no rank held more than the contract allows (exercises about memory only)
//
// Every case runs in rendezvous mode. In a few worlds all ranks also call the function several
// times, with different cases. For safety, the smallest cases of every world size (the
// first, and the first with elements) run again with unbounded buffers and once more with random
// delays. One in four of the other cases runs again, alternately with buffers and with delays. A
// program that hangs without buffers is run again with unbounded ones; the verdict says if that
// helps. After a failure, some other cases run, too: the message says what failing cases have in
// common (judge/pattern.h). If one rank hangs or has an error, and more fail likewise, those are
// reported in its place.
//
// The last four checks need a trace or a deadlock proof, which only the sandbox provides. Other
// backends skip them and check values, in worlds of up to 8 ranks. Under a launcher they check only
// worlds of min(processes, 8) ranks.
//
// A function that hangs or crashes ends the judge too: untrusted code is judged in a separate
// process (cli/exercise/judge.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "judge/run_case.h"
#include "judge/subject.h"
#include "judge/verdict.h"

namespace rankbox {

struct JudgeOptions {
  /// The start of a replay line; --replay and the case follow.
  std::string command = "./rankbox check";
  /// Judges only this case, in the format of case.h. Empty: all cases.
  std::string replay;
  /// Called before each run, so that a supervisor can name a case that never ends. Of several cases
  /// in one world it gets the command alone, which no case replays.
  std::function<void(const std::string& replay_line)> starting = {};
  /// After a failure, run some other cases to find what those that fail have in common.
  bool explains = true;
  /// Called with a verdict that will fail, before other cases run to find what failing ones have in
  /// common: one of them may end the process.
  std::function<void(const Verdict& verdict)> failing = {};
  /// The order of started messages in all runs, as in RunOptions. With kStream a program that hangs
  /// in that order fails; otherwise its verdict has a warning.
  MessageOrder order = MessageOrder::kAny;
  /// How ranks are executed, as in RunOptions. With one thread for fibers, ranks run in the same
  /// order in every run.
  ExecutorKind executor = ExecutorKind::kThreads;
  int fiber_threads = 0;
  /// Called on each rank before the function, and after it, also when it threw.
  RankHooks hooks = {};
};

/// Returns whether this build's backend keeps no trace, so that only values are judged.
bool judges_only_values();

/// Returns whether this backend runs the case when all cases are judged.
bool is_judged(const Case& example);

/// Returns all cases that a replay may name, also those that only a sealed run has.
std::vector<Case> cases_to_replay(const Subject& subject);

/// Blocks until all cases are judged or the first one fails. Never throws for errors of the
/// subject. Throws InvalidArgument for a replay that is no case of the subject.
Verdict judge(const std::string& name, const Subject& subject, const JudgeOptions& options = {});

}  // namespace rankbox
