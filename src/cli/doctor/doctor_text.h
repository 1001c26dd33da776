#pragma once

#include <string>

#include "app/doctor/doctor.h"

namespace gemmtune::cli {

std::string doctor_text(const app::Diagnosis& diagnosis);

}  // namespace gemmtune::cli
