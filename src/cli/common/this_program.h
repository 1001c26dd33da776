#pragma once

namespace gemmtune::cli {

// The path of this program, for processes of it. Of the system: also where the file was replaced
// since this process began.
inline constexpr char kThisProgram[] = "/proc/self/exe";

}  // namespace gemmtune::cli
