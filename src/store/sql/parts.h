#pragma once

// Parts that several statements have. `of` is what stands in front of a column: "" or an alias as
// "c.".

// clang-format off
// Which records a filter lets through. A parameter that is NULL restricts nothing.
#define GEMMTUNE_SQL_FILTER(of)                                          \
  "(:include_vendor = 1 OR " of "outcome <> 'vendor') "                  \
  "AND (:arch IS NULL OR " of "arch = :arch) "                           \
  "AND (:device_uuid IS NULL OR " of "device_uuid = :device_uuid) "      \
  "AND (:type IS NULL OR " of "type = :type) "                           \
  "AND (:strategy IS NULL OR " of "strategy = :strategy) "               \
  "AND (:provenance IS NULL OR " of "provenance = :provenance) "         \
  "AND (:warm IS NULL OR " of "warm = :warm)"

// The rows of one job, and of those the ones of one kernel.
#define GEMMTUNE_SQL_IS_OF_JOB(of)                                       \
  of "problem_id = :problem_id AND " of "arch = :arch "                  \
  "AND coalesce(" of "device_id, 0) = coalesce(:device_id, 0) "          \
  "AND " of "warm = :warm"
#define GEMMTUNE_SQL_HAS_KEY(of)                                         \
  of "strategy = :strategy AND " of "config = :config "                  \
  "AND " of "source_hash = :source_hash "                                \
  "AND " of "compiler_version = :compiler_version"
// clang-format on

#define GEMMTUNE_SQL_DEVICE_COLUMNS \
  "uuid, name, arch, sm_count, memory_bytes, l2_bytes, driver_version, first_seen"

// Ends with an assignment, after which more may follow.
#define GEMMTUNE_SQL_UPSERT_DEVICE                                                            \
  "INSERT INTO devices "                                                                      \
  "(uuid, name, arch, sm_count, memory_bytes, l2_bytes, driver_version, first_seen) "         \
  "VALUES "                                                                                   \
  "(:uuid, :name, :arch, :sm_count, :memory_bytes, :l2_bytes, :driver_version, :first_seen) " \
  "ON CONFLICT (uuid) DO UPDATE SET "                                                         \
  "name = excluded.name, arch = excluded.arch, sm_count = excluded.sm_count, "                \
  "memory_bytes = excluded.memory_bytes, l2_bytes = excluded.l2_bytes, "                      \
  "driver_version = excluded.driver_version"

// `times`: the values of created_at and updated_at. More assignments have to follow.
#define GEMMTUNE_SQL_UPSERT_CANDIDATE(times)                                                      \
  "INSERT INTO candidates "                                                                       \
  "(problem_id, arch, device_id, warm, strategy, config, source_hash, compiler_version, "         \
  "provenance, outcome, reason, registers, spill_bytes, smem_bytes, predicted_us, max_error, "    \
  "vendor_max_error, run_id, revision, created_at, updated_at) "                                  \
  "VALUES "                                                                                       \
  "(:problem_id, :arch, :device_id, :warm, :strategy, :config, :source_hash, :compiler_version, " \
  ":provenance, :outcome, :reason, :registers, :spill_bytes, :smem_bytes, :predicted_us, "        \
  ":max_error, :vendor_max_error, :run_id, "                                                      \
  "(SELECT coalesce(max(revision), 0) + 1 FROM candidates), " times                               \
  ") "                                                                                            \
  "ON CONFLICT "                                                                                  \
  "(problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash, "              \
  "compiler_version) "                                                                            \
  "DO UPDATE SET "                                                                                \
  "provenance = excluded.provenance, outcome = excluded.outcome, reason = excluded.reason, "      \
  "registers = excluded.registers, spill_bytes = excluded.spill_bytes, "                          \
  "smem_bytes = excluded.smem_bytes, predicted_us = excluded.predicted_us, "                      \
  "max_error = excluded.max_error, vendor_max_error = excluded.vendor_max_error, "                \
  "run_id = excluded.run_id,"

#define GEMMTUNE_SQL_MEASUREMENT_COLUMNS                                                      \
  "run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count, samples_us, " \
  "sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons, baseline_median_us, "    \
  "final_round, started_early"
