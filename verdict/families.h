// The families of judgement by name: exercises with the same arguments and the same result.
//
// //verdict:families has those of the chapters about collectives; //verdict:training_families adds
// the others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/registry.h"
#include "verdict/subject.h"

namespace rankbox {

struct Family {
  std::string_view name;
  const char* parameters;  // "(Comm& dist, Tensor& tensor, int src)"
  /// The subject of a function. With a null function it knows its cases and their cost, and must
  /// not be run. `cost` is one of `costs`; without one, the subject has no closed form.
  std::function<Subject(AnyFunction function, std::string_view cost)> subject;
  /// What Exercise::cost may be; empty: nothing, since the family knows the cost itself.
  std::vector<std::string> costs = {};
  /// Whether the cost may also be that of the reference solution.
  bool takes_solution = false;
};

/// Prepares a rank's arguments, calls the function and compares.
template <class Function>
using RunFunction = std::optional<Difference> (*)(Function function, Comm& dist,
                                                  const Case& example);

template <class Function>
Subject with_function(Subject subject, RunFunction<Function> run, AnyFunction function) {
  subject.run = [=](Comm& dist, const Case& example) {
    return run(reinterpret_cast<Function>(function), dist, example);
  };
  return subject;
}

/// A family whose subjects are all like this one, which knows the cost.
template <class Function>
Family make_family(std::string_view name, const char* parameters, const Subject& subject,
                   RunFunction<Function> run) {
  return {name, parameters, [=](AnyFunction function, std::string_view /*cost*/) {
            return with_function(subject, run, function);
          }};
}

/// Returns null if there is none.
const Family* find_family(std::string_view name);

/// In no particular order.
const std::vector<Family>& families();

/// Adds rows. Libraries call it before main() starts. Returns true.
bool add_families(const std::vector<Family>& rows);

/// The subject of a function of this family. REQUIRES: the family exists.
template <class... Parameters>
Subject subject_in(std::string_view family, void (*function)(Parameters...),
                   std::string_view cost = "") {
  return find_family(family)->subject(reinterpret_cast<AnyFunction>(function), cost);
}

}  // namespace rankbox
