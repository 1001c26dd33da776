#pragma once

#include <vector>

#include "core/error.h"
#include "store/exchange.h"
#include "store/record_store.h"

// The results that come with the program (db/tuned/): for each GPU model and problem the best own
// kernel and the vendor's best algorithm, measured on one such GPU. The build makes a database of
// them (make_shipped_results.cc) and puts it into the program.
namespace gemmtune::shipped {

store::ShippedResults results();

// The same, one by one. An error is a defect of the program's build.
Expected<std::vector<store::Entry>> entries();

}  // namespace gemmtune::shipped
