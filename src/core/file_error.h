#pragma once

#include <string_view>

#include "core/error.h"

namespace gemmtune {

// Why a system call on a file that the user named failed: "<what>: <the system's reason>", with the
// `errno` it left. The device's or the machine's failures (a full disk, an input/output error, too
// many open files) are of kind io; all else means that the name has to be another one, or its
// permissions, and is of kind usage.
Error file_error(std::string_view what, int code);

}  // namespace gemmtune
