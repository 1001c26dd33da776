#pragma once

#include <string>

#include "app/verify/verify.h"
#include "app/verify/verify_many.h"

namespace gemmtune::cli {

std::string verify_text(const app::VerifyReport& report);
std::string verify_many_text(const app::VerifyManyReport& report);

}  // namespace gemmtune::cli
