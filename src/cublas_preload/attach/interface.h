#pragma once

#include <stddef.h>  // NOLINT(modernize-deprecated-headers): C includes it too
#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

/* How a running process puts this library in front of cuBLAS, where it was not preloaded: C, for
 * who opens it by dlopen. The library stays loaded from then on. All functions are thread-safe.
 *
 * In each loaded object the places that hold the addresses of cuBLAS's functions get those of
 * ours. What calls them otherwise (addresses that the program keeps itself, dlsym, a cuBLAS that is
 * linked statically) is not seen. Objects that are loaded later are found by attaching again. */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming) */

typedef enum gemmtune_cublas_status {
  GEMMTUNE_CUBLAS_DONE = 0,
  GEMMTUNE_CUBLAS_NOT_FOUND = 1, /* no loaded object calls cuBLAS */
  GEMMTUNE_CUBLAS_REFUSED = 2,   /* it cannot be done with these settings, or now */
  GEMMTUNE_CUBLAS_FAILED = 3     /* an address could not be changed */
} gemmtune_cublas_status;

/* How much leads to this library. */
typedef struct gemmtune_cublas_attached {
  uint32_t attached; /* 1 or 0 */
  uint32_t slots;    /* addresses of functions */
  uint32_t objects;  /* that hold them: libraries and the program */
} gemmtune_cublas_attached;

/* Attaches. `settings` are texts NAME=VALUE with a null behind the last one, of the variables that
 * `gemm-tune run` or `gemm-tune capture` sets; the environment is not read for them. With
 * GEMM_TUNE_RUN_DIR own kernels compute what they can, with GEMM_TUNE_CAPTURE_DIR products are
 * counted only. Attaching again with the same settings finds what was loaded since; with others it
 * is refused until detached. Calls that were counted with the same settings before are kept.
 * What it says of failures goes to `message`, cut off at `capacity` bytes with its zero. Where the
 * status is not DONE, nothing was changed. */
gemmtune_cublas_status gemmtune_cublas_attach(const char* const* settings, char* message,
                                              size_t capacity);

/* Takes all of it back. DONE also where nothing is attached. */
gemmtune_cublas_status gemmtune_cublas_detach(char* message, size_t capacity);

gemmtune_cublas_attached gemmtune_cublas_state(void);

/* Stores times of calls that the GPU has finished, for who reads the counts next. Of the context
 * that is current. */
void gemmtune_cublas_collect(void);

/* NOLINTEND(modernize-use-using,readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
