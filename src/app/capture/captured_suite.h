#pragma once

#include <string>

#include "app/capture/captured.h"

namespace gemmtune::app {

// The problems as a suite that `tune --suite` and `bench --suite` read: a problem a line, with its
// calls as "count". `name` is the suite's and its groups'; `about` says where it is from.
std::string suite_text(const Captured& captured, const std::string& name, const std::string& about);

}  // namespace gemmtune::app
