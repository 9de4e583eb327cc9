// All exercises: what they are called, where they live, and how they are judged.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "verdict/attempt.h"
#include "verdict/judge.h"
#include "verdict/message_graph.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// A pointer to some exercise's function; its judge knows the real type.
using AnyFunction = void (*)();

struct Chapter {
  int number = 0;
  const char* folder = "";  // in exercises/, solutions/ and tests/
  const char* title = "";
  const char* contracts = "collectives";  // the folder of their headers
};

struct Exercise {
  const char* name = "";
  int chapter = 0;
  int difficulty = 0;  // 1 to 5
  int importance = 0;  // 1 to 5
  const char* summary = "";
  const MessageGraph* graph = nullptr;  // which messages this algorithm has
  const char* parameters = "";          // "(Comm& dist, Tensor& tensor, int src)"
  // How a function is called and compared, and what it should cost. Without a function (null) it
  // knows its cases and their cost, and can not be run.
  std::unique_ptr<Subject> (*subject)(AnyFunction function) = nullptr;
};

/// In the order in which they are best read.
const std::vector<Chapter>& chapters();
const std::vector<Exercise>& exercises();

/// Null if there is none.
const Exercise* find_exercise(std::string_view name);

/// Throws InvalidArgument if there is none.
const Chapter& chapter_of(const Exercise& exercise);

/// "collectives/broadcast_ring.h"
std::string contract_path(const Exercise& exercise);
/// Paths from the project's root: "exercises/02_broadcast/broadcast_ring.cc", "solutions/…".
std::string stub_path(const Exercise& exercise);
std::string solution_path(const Exercise& exercise);
/// The stub as it was before anybody wrote to it: "exercises/stubs/02_broadcast/broadcast_ring.cc".
std::string pristine_path(const Exercise& exercise);

/// The smallest case that is judged.
Case first_case_of(const Exercise& exercise);

/// Of those that are judged, one of middling size: 8 ranks, if it can have as many.
Case typical_case_of(const Exercise& exercise);

/// Of elements, where nobody says how many.
std::int64_t count_to_show(const Exercise& exercise);

/// Whether there are messages to count, and to draw.
bool sends_messages(const Exercise& exercise);

/// Whether what it costs is a formula.
bool has_cost_form(const Exercise& exercise);

/// Of exercises whose ranks say what they compute: see Subject::idle_share.
std::optional<IdleShare> idle_share_of(const Exercise& exercise, const Case& example);

/// What the contract promises. REQUIRES: has_cost_form().
Cost cost_of(const Exercise& exercise, const Case& example);

/// Throws InvalidArgument unless `text` is a case of this exercise; see case.h.
void check_replay(const Exercise& exercise, const std::string& text);

/// Runs one case of a function as this exercise, once. See attempt.h.
/// REQUIRES: the function has the exercise's parameters and returns nothing.
Attempt attempt_exercise(const Exercise& exercise, AnyFunction function, const Case& example,
                         const RunOptions& how, const std::function<void()>& entering);

/// Judges a function as this exercise. See judge.h for what is checked.
/// REQUIRES: the function has the exercise's parameters and returns nothing.
Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options = {});

}  // namespace rankbox
