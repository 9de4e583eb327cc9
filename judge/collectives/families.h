// The families of the chapters about messages and collectives.
#pragma once

#include <optional>
#include <vector>

#include "collectives/cost_forms.h"
#include "judge/families.h"

namespace rankbox {

/// Returns the families of all these chapters.
std::vector<Family> collective_families();

namespace family {

Family race();
Family ping_pong();
Family exchange();
Family barrier();
Family segmented_allreduce();
Family double_tree();

}  // namespace family

/// Returns a family whose cost is a closed form, or the reference solution's cost.
/// @param parts the field that the form takes besides world size and count; null: none
template <class Function>
Family family_with_form(std::string_view name, const char* parameters, const Subject& subject,
                        RunFunction<Function> run, std::optional<int> Case::*parts = nullptr) {
  const auto make = [=](AnyFunction function, std::string_view cost) {
    Subject made = with_function(subject, run, function);
    if (const auto form = cost::find_form<cost::Form>(cost)) {
      made.cost = [=](const Case& example) {
        return form(example.world_size, example.count.value_or(0), kElementBytes);
      };
    } else if (const auto form_of_parts = cost::find_form<cost::FormOfParts>(cost)) {
      made.cost = [=](const Case& example) {
        return form_of_parts(example.world_size, *example.count, kElementBytes, *(example.*parts));
      };
    }
    return made;
  };
  return {name, parameters, make,
          parts == nullptr ? cost::form_names<cost::Form>() : cost::form_names<cost::FormOfParts>(),
          /*takes_solution=*/true};
}

}  // namespace rankbox
