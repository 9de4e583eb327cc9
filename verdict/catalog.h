// How the exercises of the registry are judged.
#pragma once

#include "exercises/registry.h"
#include "verdict/judge.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// Throws InvalidArgument with one line if an entry of the registry names a family, a cost or a
/// message rule that does not exist.
void check_registry();

/// "(Comm& dist, Tensor& tensor, int src)"
const char* parameters_of(const Exercise& exercise);

/// Whether the promised cost is that of the reference solution: then judging needs the solution.
bool is_cost_of_solution(const Exercise& exercise);

/// The function as its family judges it. With a null function it knows its cases and their cost,
/// and must not be run. REQUIRES: the function has the exercise's parameters and returns nothing.
/// @param solution the reference solution. Used where is_cost_of_solution(): without it there is no
/// promised cost
Subject subject_of(const Exercise& exercise, AnyFunction function = nullptr,
                   AnyFunction solution = nullptr);

/// The smallest case that is judged.
Case first_case_of(const Exercise& exercise);

/// A case of middling size: 8 ranks, if it can have as many.
Case typical_case_of(const Exercise& exercise);

/// Whether there are messages to count, and to draw.
bool sends_messages(const Exercise& exercise);

/// Judges a function as this exercise. See judge.h for the checks, and subject_of for the
/// arguments.
Verdict judge_exercise(const Exercise& exercise, AnyFunction function,
                       const JudgeOptions& options = {}, AnyFunction solution = nullptr);

}  // namespace rankbox
