#pragma once

#include "core/error.h"
#include "store/exchange.h"
#include "store/record.h"
#include "store/record_store.h"

namespace gemmtune::store {

// The rules of RecordStore that need no database; errors are of kind usage and name the field.
Expected<void> check_device(const Device& device);
Expected<void> check_job(const Job& job);
Expected<void> check_measurement(const Measurement& measurement);
Expected<void> check_record(const Record& record);
Expected<void> check_entry(const Entry& entry);
Expected<void> check_claim(const ClaimRequest& request);

}  // namespace gemmtune::store
