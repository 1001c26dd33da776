#pragma once

#include <string>

#include "app/verify/random_verify.h"
#include "app/verify/verify.h"

namespace gemmtune::cli {

std::string verify_text(const app::VerifyReport& report);
std::string random_verify_text(const app::RandomVerifyReport& report);

}  // namespace gemmtune::cli
