// CMake wants a source file of a library's own; all that libgemmtune.so holds comes from
// src/dispatch and what that needs.
