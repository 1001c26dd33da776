#pragma once

#include <string>

#include "cli/common/command.h"
#include "cli/common/print.h"

namespace gemmtune::cli {

// A command that computes a value, `compute(context)`, and prints it as text or JSON.
template <class Compute, class Value>
Action print_result(Compute compute, std::string (*text)(const Value&),
                    std::string (*json)(const Value&)) {
  return [=](const Context& context) -> Expected<void> {
    auto value = compute(context);
    if (!value) return tl::unexpected(value.error());
    print(context.json ? json(*value) : text(*value));
    return {};
  };
}

}  // namespace gemmtune::cli
