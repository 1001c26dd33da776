#pragma once

#include <string>

#include "app/capture/capture.h"

namespace gemmtune::cli {

std::string capture_text(const app::CaptureReport& report);

}  // namespace gemmtune::cli
