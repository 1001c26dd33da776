# CUDA: headers only. Every CUDA library is opened at run time. tools/setup puts what the machine's
# toolkit lacks into .deps/cuda.
set(GEMMTUNE_CUDA_INCLUDE_DIRS "" CACHE STRING "Folders with cuda.h, cuda_fp16.h, nvrtc.h and nvml.h")
option(GEMMTUNE_NO_SYSTEM_CUDA "Do as if this machine had no CUDA toolkit: use .deps/cuda only" OFF)

set(bundled_cuda "${PROJECT_SOURCE_DIR}/.deps/cuda")
if(GEMMTUNE_NO_SYSTEM_CUDA)
  set(cuda_search PATHS "${bundled_cuda}" PATH_SUFFIXES include NO_DEFAULT_PATH)
else()
  # From CUDA 13 on, toolkits keep the C++ core headers (nv/target) in a folder of their own.
  set(cuda_search HINTS ${GEMMTUNE_CUDA_INCLUDE_DIRS} ENV CUDA_HOME ENV CUDA_PATH
                  PATHS /usr/local/cuda "${bundled_cuda}" PATH_SUFFIXES include include/cccl)
endif()

# cuda_fp16.h is for tests, and includes the two after it; each may come from another package.
set(GEMMTUNE_CUDA_DIRS "")
foreach(header cuda.h cuda_fp16.h crt/host_defines.h nv/target nvrtc.h nvml.h)
  string(MAKE_C_IDENTIFIER "GEMMTUNE_${header}_DIR" var)
  find_path(${var} ${header} ${cuda_search} REQUIRED)
  list(APPEND GEMMTUNE_CUDA_DIRS "${${var}}")
endforeach()
list(REMOVE_DUPLICATES GEMMTUNE_CUDA_DIRS)
add_library(gemmtune_cuda_headers INTERFACE)
target_include_directories(gemmtune_cuda_headers SYSTEM INTERFACE ${GEMMTUNE_CUDA_DIRS})

# Only for a test, which compares src/vendor/cublaslt_api.h with it.
find_path(GEMMTUNE_CUBLASLT_DIR cublasLt.h ${cuda_search})

# Compilers search some folders without being told, and a toolkit may be linked into one of them (into
# /usr/local/include): then the others are told instead.
if(GEMMTUNE_NO_SYSTEM_CUDA)
  add_compile_options(-nostdinc)
  foreach(language C CXX)
    foreach(folder IN LISTS CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES)
      if(NOT EXISTS "${folder}/cuda.h" OR EXISTS "${folder}/stdio.h")
        add_compile_options("$<$<COMPILE_LANGUAGE:${language}>:-isystem${folder}>")
      endif()
    endforeach()
  endforeach()
endif()
