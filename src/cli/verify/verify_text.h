#pragma once

#include <string>

#include "app/verify/verify.h"

namespace gemmtune::cli {

std::string verify_text(const app::VerifyReport& report);

}  // namespace gemmtune::cli
