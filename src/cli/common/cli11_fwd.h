#pragma once

// What headers name of CLI11, which has no such header of its own and takes seconds to include.
namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}
