// From a function to a verdict.
//
// These checks are made over all of the subject's cases, smallest first, so that the first failure
// is the smallest:
//   values    every element is right, and inputs are unchanged
//   messages  what is sent is received, in its size and type; no native collective does the work;
//             and the messages are those of the algorithm (message_graph.h)
//   cost      steps, bytes and additions along the critical path equal the closed form, and the
//             schedule is the promised one
//   safety    the same holds whether sends are buffered or not, and under random delays; and no
//             barrier hides a wrong order of messages
//   memory    no rank held more than the contract allows (of exercises about memory)
//
// Every case runs in rendezvous mode. For safety, the smallest cases of every world size (the
// first, and the first with elements) run again with unbounded buffers and once more with random
// delays. Of the other cases one in four runs again, alternately with buffers and with delays. A
// program that hangs without buffers is run again with unbounded ones; the verdict says if that
// helps.
//
// The last four checks need a trace or a deadlock proof, which only the sandbox provides. Other
// backends make the check of values, in worlds of up to 8 ranks, or of as many ranks as processes
// were launched, and skip the others.
//
// A function that never returns or that breaks the process takes the judge with it: untrusted code
// is judged in a process of its own (cli/exercise/judge.h).
#pragma once

#include <functional>
#include <string>

#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

struct JudgeOptions {
  /// What a replay line starts with; --replay and the case follow.
  std::string command = "./rankbox check";
  /// Only this case, written as case.h says; empty: all of them.
  std::string replay;
  /// Called before each run, so that a supervisor knows the case that never ends.
  std::function<void(const std::string& replay_line)> starting = {};
  /// Called on each rank's thread before the function is.
  std::function<void()> entering = {};
};

/// Whether this build's backend keeps no trace, so that values alone are judged.
bool judges_only_values();

/// Blocks until judged or until the first failure. Never throws for what the subject does.
/// Throws InvalidArgument for a replay that is no case of the subject.
Verdict judge(const std::string& name, const Subject& subject, const JudgeOptions& options = {});

}  // namespace rankbox
