// From a function to a verdict.
//
// These checks over all of the subject's cases, smallest first, so that the first failure is the
// smallest there is:
//   values    every element is right, and inputs are unchanged
//   messages  whatever is sent is received, in the size and type it has; no native collective does
//             the work; and who talks to whom is as the algorithm has it (message_graph.h)
//   cost      steps, bytes and additions along the critical path equal the closed form (and what the
//             subject's compare_schedule adds to that)
//   safety    the same holds when sends are buffered and when they are not, and when the ranks are
//             delayed at random; and no barrier is used as a crutch
//   memory    no rank held more than the contract allows (where the exercise is about that)
//
// Every case runs in rendezvous mode. For safety the smallest cases of every world size (the first,
// and the first with elements) run again with unbounded buffers and once more with random delays; of
// the others, one in four runs again, in turn with the one and with the other.
//
// A program that hangs without buffers is tried again with unbounded ones, and if that helps, the
// verdict says so. On other backends than the sandbox only the values are judged, for worlds of up to
// 8 ranks or of just as many as processes were launched; the other three checks are skipped. A function that computes forever or breaks the process takes the judge with it:
// untrusted code is judged in a process of its own (cli/judge.h).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "verdict/message_graph.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

struct JudgeOptions {
  /// What a replay line starts with; --replay and the case follow.
  std::string command = "./rankbox check";
  /// Only this case, written as case.h says; empty: all of them.
  std::string replay;
  /// Told each case before it runs, so that somebody knows when it never ends.
  std::function<void(const std::string& replay_line)> starting = {};
  /// Called on each rank's thread before the function is.
  std::function<void()> entering = {};
};

/// Whether this build's backend is judged by its values alone.
bool judges_only_values();

/// Blocks until judged or until the first failure. Never throws for what the subject does.
/// Throws InvalidArgument for a replay that is no case of the subject.
Verdict judge(const std::string& name, const Subject& subject, const JudgeOptions& options = {},
              const MessageGraph& graph = graph::kAny);

}  // namespace rankbox
