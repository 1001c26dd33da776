#include "tuner/session/recorder.h"

namespace gemmtune::tuner {

store::Record Recorder::begin(const Candidate& candidate) const {
  store::Record record;
  record.job = job_;
  record.key = candidate.key;
  record.smem_bytes = candidate.spec.strategy->smem_bytes(candidate.spec);
  return record;
}

Expected<store::Record> Recorder::write(store::Record record) {
  record.run_id = run_id_;
  record.provenance =
      is_modelled(job_.device_uuid) ? store::Provenance::predicted : store::Provenance::measured;
  auto id = store_->record(record);
  if (!id) return tl::unexpected(id.error());
  record.id = *id;
  return record;
}

Expected<store::Record> Recorder::failed(const Candidate& candidate, store::Outcome outcome,
                                         std::string reason) {
  store::Record record = begin(candidate);
  record.outcome = outcome;
  record.reason = std::move(reason);
  return write(std::move(record));
}

Expected<store::Record> Recorder::evaluated(const Candidate& candidate,
                                            const jit::CompiledKernel& kernel,
                                            const Evaluation& evaluation) {
  store::Record record = begin(candidate);
  record.spill_bytes = jit::spill_bytes(kernel.entries);
  record.registers = jit::most_registers(kernel.entries);
  for (const jit::EntryUsage& entry : kernel.entries)
    record.smem_bytes += entry.usage.static_smem_bytes;
  record.outcome = evaluation.outcome;
  record.reason = evaluation.reason;
  record.measurement = evaluation.measurement;
  record.predicted_us = evaluation.predicted_us;
  record.max_error = evaluation.max_error;
  record.vendor_max_error = evaluation.vendor_max_error;
  return write(std::move(record));
}

Expected<void> Recorder::vendors(std::span<const VendorResult> results, VendorRecords& records) {
  records = {};
  for (const VendorResult& result : results) {
    store::Record record;
    record.job = job_;
    record.key = {"cublaslt", result.config, "", result.library_version};
    record.outcome = store::Outcome::vendor;
    record.measurement = result.measurement;
    auto written = write(std::move(record));
    if (!written) return tl::unexpected(written.error());
    if (result.rank == 0) records.first = *written;
    if (!records.best || result.measurement.median_us < records.best->measurement->median_us)
      records.best = std::move(*written);
  }
  return {};
}

}  // namespace gemmtune::tuner
