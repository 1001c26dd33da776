/* gemmtune.h: the C interface of libgemmtune, gemm-tune's runtime library.
 *
 * It computes C = activation(alpha * op(A) * op(B) + beta * C + bias) on a CUDA stream with the
 * kernel that gemm-tune found to be the fastest for the problem on this GPU, or with cuBLASLt where
 * that is faster or nothing better is known. A product with neither a bias nor an activation:
 *
 *     gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
 *     options.database = "tuned.db";
 *     gemmtune_handle handle = NULL;
 *     if (gemmtune_create(&handle, &options) != GEMMTUNE_STATUS_SUCCESS)
 *       fprintf(stderr, "%s\n", gemmtune_last_error(NULL));
 *
 *     gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;   (row-major f32, densely packed)
 *     problem.m = problem.n = problem.k = 4096;
 *     gemmtune_prewarm(handle, &problem, 1, NULL);
 *     size_t bytes = 0;
 *     gemmtune_workspace_bytes(handle, &problem, &bytes);
 *     ... allocate A, B, C and the workspace ...
 *     gemmtune_gemm(handle, &problem, &alpha, a, b, &beta, c, workspace, bytes, stream);
 *     gemmtune_destroy(handle);
 *
 * CUDA contexts. A handle belongs to one context: the one that is current on the thread that
 * creates it (the runtime API's, once that was used), else the primary context of
 * gemmtune_options.device. Calls may come from any thread with any context current, or none; the
 * calling thread's current context is the same after a call as before. Operands, workspace and
 * stream must belong to the handle's context. Destroy a handle before its context.
 *
 * Threads. All functions may be called from any thread at any time, on one handle or several,
 * except that nobody may use a handle while or after it is destroyed.
 *
 * CUDA graphs. Once a problem was prewarmed (or run), gemmtune_gemm and gemmtune_run with it only
 * enqueue kernels: they neither compile, allocate nor synchronize, and are legal while `stream` is
 * being captured. (For biases there is more to it: see gemmtune_operands.)
 *
 * Sizes, strides and leading dimensions are in elements, workspaces in bytes, times in
 * microseconds. Texts are UTF-8 and end in a zero byte.
 */
#ifndef GEMMTUNE_GEMMTUNE_H_
#define GEMMTUNE_GEMMTUNE_H_

/* C, whatever a C++ linter thinks of it:
 * NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using,readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GEMMTUNE_API __attribute__((visibility("default")))
#else
#define GEMMTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ----------------------------------------------------------------------------------
 *
 * Releases follow semantic versioning. The ABI version changes when a program must be compiled
 * again; it is also the number in the library's soname, and gemmtune_create checks it. Structures
 * may grow at their end without that: they carry their size. */

#define GEMMTUNE_VERSION_MAJOR 0
#define GEMMTUNE_VERSION_MINOR 1
#define GEMMTUNE_VERSION_PATCH 0
#define GEMMTUNE_VERSION \
  (GEMMTUNE_VERSION_MAJOR * 1000000 + GEMMTUNE_VERSION_MINOR * 1000 + GEMMTUNE_VERSION_PATCH)
#define GEMMTUNE_ABI_VERSION 0

/* GEMMTUNE_VERSION and GEMMTUNE_ABI_VERSION of the library that was loaded, which may be another
 * than the header's. Cannot fail. */
GEMMTUNE_API uint32_t gemmtune_version(void);
GEMMTUNE_API uint32_t gemmtune_abi_version(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef enum gemmtune_status {
  GEMMTUNE_STATUS_SUCCESS = 0,
  GEMMTUNE_STATUS_INVALID_ARGUMENT = 1,    /* a null pointer, an impossible problem, ... */
  GEMMTUNE_STATUS_ABI_MISMATCH = 2,        /* the program was compiled for another ABI version */
  GEMMTUNE_STATUS_NO_DEVICE = 3,           /* no NVIDIA driver, or no GPU that it can use */
  GEMMTUNE_STATUS_DATABASE = 4,            /* the database or pack is missing, damaged, of another
                                              program, or of a version this library cannot read */
  GEMMTUNE_STATUS_NO_KERNEL = 5,           /* nothing here computes this problem */
  GEMMTUNE_STATUS_NOT_PREPARED = 6,        /* the stream is being captured, and the problem was
                                              neither prewarmed nor run before */
  GEMMTUNE_STATUS_WORKSPACE_TOO_SMALL = 7, /* less than gemmtune_workspace_bytes says */
  GEMMTUNE_STATUS_CUDA = 8,                /* the driver or cuBLASLt reported an error */
  GEMMTUNE_STATUS_OUT_OF_MEMORY = 9,       /* of the host or the device */
  GEMMTUNE_STATUS_INTERNAL = 10,           /* a defect of this library; please report it */
  GEMMTUNE_STATUS_FORCE_INT32 = 0x7fffffff /* not a status: makes the type 32 bits wide */
} gemmtune_status;

/* A short text for a status, e.g. "no usable GPU". Never null, static: do not free. */
GEMMTUNE_API const char* gemmtune_status_string(gemmtune_status status);

typedef struct gemmtune_handle_struct* gemmtune_handle;

/* What went wrong in the last call with `handle` by this thread that failed, in one line that says
 * what to do; for a null handle the last failure of gemmtune_create. Empty if nothing failed. Never
 * null; valid until the same thread's next call into the library. */
GEMMTUNE_API const char* gemmtune_last_error(gemmtune_handle handle);

/* ---- Handles --------------------------------------------------------------------------------- */

/* Values of gemmtune_options.device. */
#define GEMMTUNE_CURRENT_DEVICE (-1) /* the current context's, else device 0 */

/* Bits of gemmtune_options.flags; of gemmtune_problem.flags GEMMTUNE_DETERMINISTIC only. */
#define GEMMTUNE_NO_COMPILE 1u    /* never start NVRTC: kernels from the cache or the pack only */
#define GEMMTUNE_NO_VENDOR 2u     /* never load cuBLASLt: gemm-tune's own kernels only */
#define GEMMTUNE_DETERMINISTIC 4u /* no kernel that may round differently from run to run */

/* How a handle is made. Begin with GEMMTUNE_OPTIONS_INIT. Texts are copied. */
typedef struct gemmtune_options {
  uint32_t struct_bytes; /* sizeof(gemmtune_options) */
  uint32_t abi_version;  /* GEMMTUNE_ABI_VERSION */

  /* Where the decisions come from; exactly one of the two is set. */
  const char* database; /* a file that `gemm-tune tune` wrote */
  const char* pack;     /* a file that `gemm-tune db pack` wrote: decisions and machine code */

  /* Folder of compiled kernels, shared with gemm-tune ("$XDG_CACHE_HOME/gemm-tune" is its default);
   * created when needed. Null: none, so that every process compiles anew what is in no pack. */
  const char* cache_dir;

  /* Libraries to open in place of the usual ones; null: libcuda.so.1, and NVRTC and cuBLASLt of
   * CUDA 13 or 12 as the loader (and for NVRTC /usr/local/cuda) finds them. */
  const char* driver_library;
  const char* nvrtc_library; /* or its folder */
  const char* cublaslt_library;

  int32_t device;              /* ordinal of the GPU, or GEMMTUNE_CURRENT_DEVICE */
  int32_t threads;             /* that gemmtune_prewarm compiles with; 0: one per core, up to 8 */
  uint32_t flags;              /* GEMMTUNE_NO_COMPILE | ... */
  uint32_t reserved;           /* 0 */
  int64_t max_workspace_bytes; /* nothing that needs a larger workspace is chosen */
} gemmtune_options;

/* 1 GiB: as much as any tuned kernel needs. Only products of copied or split operands (f32 by
 * 3xtf32, bf16x6 and bf16x9, leading dimensions that 16 bytes do not divide) need more than 128
 * MiB. */
#define GEMMTUNE_DEFAULT_MAX_WORKSPACE_BYTES (INT64_C(1073741824))

#define GEMMTUNE_OPTIONS_INIT                                                           \
  {                                                                                     \
    sizeof(gemmtune_options), GEMMTUNE_ABI_VERSION, NULL, NULL, NULL, NULL, NULL, NULL, \
        GEMMTUNE_CURRENT_DEVICE, 0, 0u, 0u, GEMMTUNE_DEFAULT_MAX_WORKSPACE_BYTES        \
  }

/* Makes a handle: opens the driver and takes a snapshot of the database or pack, which is not
 * touched again. NVRTC and cuBLASLt are opened when they are first needed.
 * On failure *handle is null and gemmtune_last_error(NULL) has the reason: INVALID_ARGUMENT,
 * ABI_MISMATCH, NO_DEVICE, DATABASE, CUDA, OUT_OF_MEMORY. */
GEMMTUNE_API gemmtune_status gemmtune_create(gemmtune_handle* handle,
                                             const gemmtune_options* options);

/* Frees a handle and unloads its kernels. What it enqueued must have finished, and graphs that hold
 * its launches must not be launched again. Null is ignored. */
GEMMTUNE_API void gemmtune_destroy(gemmtune_handle handle);

/* Sets *count to the number of problems of which the handle's database or pack has a result that
 * counts on its GPU. 0 means that it is of other GPUs: everything runs on cuBLASLt then, or on any
 * legal kernel with GEMMTUNE_NO_VENDOR. Fails with INVALID_ARGUMENT for null pointers. */
GEMMTUNE_API gemmtune_status gemmtune_tuned_problems(gemmtune_handle handle, size_t* count);

/* ---- Problems -------------------------------------------------------------------------------- */

typedef enum gemmtune_type {
  GEMMTUNE_F32 = 0,
  GEMMTUNE_F16 = 1,
  GEMMTUNE_BF16 = 2,
  GEMMTUNE_E4M3 = 3, /* 8 bits, on sm_90: of A and B only, with A row-major and B column-major */
  GEMMTUNE_E5M2 = 4,
  GEMMTUNE_I8 = 5, /* integers, likewise; C and the sums are I32 */
  GEMMTUNE_I32 = 6 /* of sums, which are exact modulo 2^32 */
} gemmtune_type;

/* How products are formed. The modes other than IEEE trade accuracy for speed, are for f32 operands
 * only but for FAST_ACCUM, and are never chosen unless asked for. */
typedef enum gemmtune_math {
  GEMMTUNE_MATH_IEEE = 0,
  GEMMTUNE_MATH_TF32 = 1,
  GEMMTUNE_MATH_3XTF32 = 2,
  GEMMTUNE_MATH_F16 = 3,    /* f32 operands rounded to f16; what is beyond 65504 becomes infinite */
  GEMMTUNE_MATH_BF16X6 = 4, /* f32 operands as sums of three bf16, six products of them */
  GEMMTUNE_MATH_BF16X9 = 5, /* ... all nine */
  GEMMTUNE_MATH_FAST_ACCUM = 6 /* e4m3 and e5m2: sums keep the 13 bits that tensor cores keep of
                                  them; with IEEE they are added to f32 ones every 128 of k */
} gemmtune_math;

/* Storage order of a matrix. */
typedef enum gemmtune_order { GEMMTUNE_ROW_MAJOR = 0, GEMMTUNE_COLUMN_MAJOR = 1 } gemmtune_order;

/* Where alpha and beta are. On the device they are read when the kernels run. Those of I8 products
 * are whole numbers of at most 2^24: others on the host are an INVALID_ARGUMENT, and cut off on the
 * device. */
typedef enum gemmtune_scalars {
  GEMMTUNE_SCALARS_HOST = 0,     /* f32 in host memory */
  GEMMTUNE_SCALARS_DEVICE = 1,   /* f32 in device memory */
  GEMMTUNE_SCALARS_HOST_F16 = 2, /* f16 in host memory */
  GEMMTUNE_SCALARS_HOST_F64 = 3, /* f64 in host memory; rounded to f32 */
  GEMMTUNE_SCALARS_HOST_I32 = 4  /* i32 in host memory, of at most 2^24 */
} gemmtune_scalars;

/* The type of C and of the bias, where it is not that of A and B. F32 goes with every type of A and
 * B but I8; F16 and BF16 with themselves and with E4M3 and E5M2. */
typedef enum gemmtune_result {
  GEMMTUNE_RESULT_OF_OPERANDS = 0, /* that of A and B; BF16 for E4M3 and E5M2, I32 for I8 */
  GEMMTUNE_RESULT_F32 = 1,
  GEMMTUNE_RESULT_F16 = 2,
  GEMMTUNE_RESULT_BF16 = 3
} gemmtune_result;

/* A vector that is added to the product, the same for all products of a batch. Columns and rows are
 * those of C as the problem states it, in whatever order it is stored. */
typedef enum gemmtune_bias {
  GEMMTUNE_BIAS_NONE = 0,
  GEMMTUNE_BIAS_PER_COLUMN = 1, /* n values: element j is added to all of column j of C */
  GEMMTUNE_BIAS_PER_ROW = 2     /* m values: element i is added to all of row i of C */
} gemmtune_bias;

/* Factors that the values of E4M3 and E5M2 operands are multiplied by: f32 in device memory, the
 * same for all products of a batch. Rows and columns are those of op(A) and op(B) as the problem
 * states them. */
typedef enum gemmtune_scale {
  GEMMTUNE_SCALE_NONE = 0,
  GEMMTUNE_SCALE_PER_TENSOR = 1, /* a factor of A and a factor of B */
  GEMMTUNE_SCALE_PER_ROW = 2,    /* m factors of A's rows, n factors of B's columns */
  /* For each 128 values of k, of which the last may be fewer; with GEMMTUNE_MATH_IEEE only. Factors
   * of lines (rows of A, columns of B) lie as [k / 128][lines, rounded up to 4], those of 128 lines
   * each as [lines / 128][k / 128, rounded up to 4], as cuBLASLt has them. */
  GEMMTUNE_SCALE_1X128 = 3,         /* of A's rows and of B's columns */
  GEMMTUNE_SCALE_1X128_128X128 = 4, /* of A's rows and of each 128 columns of B */
  GEMMTUNE_SCALE_128X128_1X128 = 5  /* of each 128 rows of A and of B's columns */
} gemmtune_scale;

/* What is applied to x = alpha * op(A) * op(B) + beta * C + bias before it is rounded to C's type.
 */
typedef enum gemmtune_activation {
  GEMMTUNE_ACTIVATION_NONE = 0,
  GEMMTUNE_ACTIVATION_RELU = 1,      /* max(x, 0) */
  GEMMTUNE_ACTIVATION_GELU_TANH = 2, /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
  GEMMTUNE_ACTIVATION_GELU_ERF = 3,  /* x / 2 * (1 + erf(x / sqrt(2))) */
  GEMMTUNE_ACTIVATION_SILU = 4       /* x / (1 + exp(-x)) */
} gemmtune_activation;

/* For leading dimensions and batch strides: the smallest there can be. */
#define GEMMTUNE_PACKED INT64_C(-1)

/* For gemmtune_problem.align_bytes: each call of gemmtune_gemm or gemmtune_run goes by the
 * addresses it is given. Where there are none to go by (prewarm, workspace_bytes, explain), they
 * are taken to be multiples of 256 bytes, as cudaMalloc's are: state what yours are multiples of if
 * that is less, so that the right kernel is prepared and its workspace known. The library tells
 * 256, 16, 8, 4 and 2 bytes apart. */
#define GEMMTUNE_ALIGN_OF_POINTERS 0u

/* For gemmtune_problem.max_workspace_bytes: nothing that needs a workspace. */
#define GEMMTUNE_NO_WORKSPACE INT64_C(-1)

/* C = activation(alpha * op(A) * op(B) + beta * C + bias): op(A) is m x k, op(B) is k x n, C is
 * m x n, each stored in the order given (a transposed operand is one of the other order). Begin
 * with GEMMTUNE_PROBLEM_INIT, which asks for no bias and no activation. */
typedef struct gemmtune_problem {
  uint32_t struct_bytes; /* sizeof(gemmtune_problem) */
  int32_t type;          /* of A and B: a gemmtune_type */
  int32_t accumulator;   /* of the sums: F32; also F16 where type is F16; I32 for I8 */
  int32_t math;          /* a gemmtune_math */
  int32_t order_a;       /* gemmtune_order */
  int32_t order_b;
  int32_t order_c;
  int32_t scalars;            /* a gemmtune_scalars */
  int64_t m, n, k;            /* each at least 1 */
  int64_t lda, ldb, ldc;      /* from one row (or column) to the next, or GEMMTUNE_PACKED */
  int64_t batch;              /* number of products, at least 1 */
  int64_t stride_a, stride_b; /* from one product to the next, or GEMMTUNE_PACKED; 0: all use one */
  int64_t stride_c;           /* matrices of C must not overlap */
  uint32_t align_bytes; /* what the addresses of A, B and C are multiples of: a power of two, or
                           GEMMTUNE_ALIGN_OF_POINTERS */
  uint32_t reserved;    /* 0 */
  /* A structure that ends here, as older headers have it, has neither bias nor activation. */
  int32_t result_type; /* of C and the bias: a gemmtune_result */
  int32_t bias;        /* a gemmtune_bias; a problem that has one is run by gemmtune_run */
  int32_t activation;  /* a gemmtune_activation */
  uint32_t flags;      /* GEMMTUNE_DETERMINISTIC: for this problem, also where the handle allows
                          others; 0 */
  /* A structure that ends here has the handle's limit. */
  int64_t max_workspace_bytes; /* nothing that needs a larger workspace is chosen, nor one larger
                                  than the handle's limit; 0: the handle's, GEMMTUNE_NO_WORKSPACE:
                                  none at all */
  /* A structure that ends here has no scales. */
  int32_t scale;           /* a gemmtune_scale; a scaled problem is run by gemmtune_run */
  uint32_t reserved_scale; /* 0 */
} gemmtune_problem;

#define GEMMTUNE_PROBLEM_INIT                                                                     \
  {                                                                                               \
    sizeof(gemmtune_problem), GEMMTUNE_F32, GEMMTUNE_F32, GEMMTUNE_MATH_IEEE, GEMMTUNE_ROW_MAJOR, \
        GEMMTUNE_ROW_MAJOR, GEMMTUNE_ROW_MAJOR, GEMMTUNE_SCALARS_HOST, 0, 0, 0, GEMMTUNE_PACKED,  \
        GEMMTUNE_PACKED, GEMMTUNE_PACKED, 1, GEMMTUNE_PACKED, GEMMTUNE_PACKED, GEMMTUNE_PACKED,   \
        GEMMTUNE_ALIGN_OF_POINTERS, 0u, GEMMTUNE_RESULT_OF_OPERANDS, GEMMTUNE_BIAS_NONE,          \
        GEMMTUNE_ACTIVATION_NONE, 0u, INT64_C(0), GEMMTUNE_SCALE_NONE, 0u                         \
  }

/* ---- Work ------------------------------------------------------------------------------------ */

/* Gets `count` problems ready to run: decides, compiles or loads the kernels (on several threads),
 * and asks cuBLASLt for its algorithms. Takes up to about a second for each kernel that is neither
 * in the cache nor in the pack. `problems` lie one after the other, each of
 * problems[0].struct_bytes bytes. `each`, if not null, receives a status for every problem; the
 * result is the first that is not SUCCESS, and the others are prepared all the same. Failures:
 * INVALID_ARGUMENT, NO_KERNEL, CUDA, OUT_OF_MEMORY. Of problems that were not tuned a handle keeps
 * 16384; further ones are OUT_OF_MEMORY here, and decided anew by each call that runs them. */
GEMMTUNE_API gemmtune_status gemmtune_prewarm(gemmtune_handle handle,
                                              const gemmtune_problem* problems, size_t count,
                                              gemmtune_status* each);

/* Puts into *bytes the device memory that gemmtune_gemm or gemmtune_run needs as a workspace for
 * `problem`; it may be 0. Prepares the problem, as gemmtune_prewarm does, and fails as that does;
 * then *bytes is 0. Products that may run at the same time need workspaces of their own. */
GEMMTUNE_API gemmtune_status gemmtune_workspace_bytes(gemmtune_handle handle,
                                                      const gemmtune_problem* problem,
                                                      size_t* bytes);

/* A CUstream or cudaStream_t: the same in the driver's and the runtime API's headers. */
typedef struct CUstream_st* gemmtune_stream;

/* Enqueues C = activation(alpha * op(A) * op(B) + beta * C) on `stream` (null: the legacy default
 * stream of the handle's context) and returns without waiting for it. A problem with a bias or
 * scales is an INVALID_ARGUMENT here: gemmtune_run takes them.
 *
 *   alpha, beta   f32 each, in host memory (read before the call returns) or in device memory (read
 *                 when the kernels run), or f16, f64 or i32 each in host memory, as
 *                 problem->scalars says
 *   a, b, c       device memory, aligned to problem->align_bytes (INVALID_ARGUMENT if not), or, if
 *                 that is GEMMTUNE_ALIGN_OF_POINTERS, to the size of an element (the larger one,
 *                 where C has another type); C is read only where beta is not 0, and must not
 *                 overlap A or B
 *   workspace     device memory of at least gemmtune_workspace_bytes, aligned to 256 bytes; may be
 *                 null if that is 0. In use until the product is done.
 *
 * The first call with a problem that was not prewarmed prepares it, which takes time. Failures, all
 * without anything enqueued except for CUDA and OUT_OF_MEMORY, after which C may have changed:
 * INVALID_ARGUMENT, NO_KERNEL, NOT_PREPARED, WORKSPACE_TOO_SMALL, CUDA, OUT_OF_MEMORY. Errors of
 * kernels while they run are reported by CUDA, as for any kernel. */
GEMMTUNE_API gemmtune_status gemmtune_gemm(gemmtune_handle handle, const gemmtune_problem* problem,
                                           const void* alpha, const void* a, const void* b,
                                           const void* beta, void* c, void* workspace,
                                           size_t workspace_bytes, gemmtune_stream stream);

/* The operands of one product, for gemmtune_run. Begin with GEMMTUNE_OPERANDS_INIT. All but
 * struct_bytes, `bias` and scales are what gemmtune_gemm's parameters of these names are.
 *
 *   bias   device memory: n elements of C's type for GEMMTUNE_BIAS_PER_COLUMN, m for
 *          GEMMTUNE_BIAS_PER_ROW, one after the other, aligned to the size of an element; must not
 *          overlap C. Null for a problem that has none.
 *   scale_a, scale_b
 *          device memory: one f32 each for GEMMTUNE_SCALE_PER_TENSOR, m and n of them for
 *          GEMMTUNE_SCALE_PER_ROW, aligned to 4 bytes; of blocks as gemmtune_scale says, aligned
 *          to 16. They must not overlap C. Null for a problem that has none.
 *
 * cuBLASLt needs biases that are aligned to 16 bytes. A call with another one is computed by an own
 * kernel that needs no workspace, although cuBLASLt may be faster; such a kernel is prepared by the
 * first call that needs it, not by gemmtune_prewarm. Align biases to 16 bytes, as cudaMalloc does,
 * where the stream may be captured. */
typedef struct gemmtune_operands {
  uint32_t struct_bytes; /* sizeof(gemmtune_operands) */
  uint32_t reserved;     /* 0 */
  const void* alpha;
  const void* beta;
  const void* a;
  const void* b;
  void* c;
  const void* bias;
  void* workspace;
  size_t workspace_bytes;
  /* A structure that ends here, as older headers have it, has no scales. */
  const float* scale_a;
  const float* scale_b;
} gemmtune_operands;

#define GEMMTUNE_OPERANDS_INIT \
  { sizeof(gemmtune_operands), 0u, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0u, NULL, NULL }

/* Enqueues C = activation(alpha * op(A) * op(B) + beta * C + bias) on `stream`, for problems with
 * and without a bias or scales. What gemmtune_gemm's comment says holds here, too. INVALID_ARGUMENT
 * also for a bias or a scale that is null where the problem has one, is not null where it has none,
 * or is not aligned as it has to be. `operands` need not outlive the call. */
GEMMTUNE_API gemmtune_status gemmtune_run(gemmtune_handle handle, const gemmtune_problem* problem,
                                          const gemmtune_operands* operands,
                                          gemmtune_stream stream);

/* ---- Explanations ---------------------------------------------------------------------------- */

typedef enum gemmtune_format {
  GEMMTUNE_TEXT = 0, /* for people, several lines */
  GEMMTUNE_JSON = 1  /* one object; docs/runtime.md lists its keys, which stay */
} gemmtune_format;

/* Says, in a gemmtune_format, how gemmtune_gemm or gemmtune_run computes `problem`: strategy, tile,
 * where that comes from, the expected time, and why it is nothing else. Prepares nothing; before a
 * problem is prepared the answer is what would be tried first. Writes at most `capacity` bytes to
 * `buffer`, the last of them a zero (none where capacity is 0; buffer may then be null), and puts
 * the whole text's size with its zero into *needed if that is not null. A text that was cut off is
 * SUCCESS. Failures: INVALID_ARGUMENT, OUT_OF_MEMORY. */
GEMMTUNE_API gemmtune_status gemmtune_explain(gemmtune_handle handle,
                                              const gemmtune_problem* problem, int32_t format,
                                              char* buffer, size_t capacity, size_t* needed);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-deprecated-headers,modernize-use-using,readability-identifier-naming) */

#endif /* GEMMTUNE_GEMMTUNE_H_ */
