// What the stand-ins share: the log of calls, and faults on demand.
//
//   AETHER_STAND_IN_LOG=PATH               a line for each call, with its arguments
//   AETHER_STAND_IN_FAIL=NAME=ERRNO,…      these calls fail with that errno
//   AETHER_STAND_IN_HOLD=NAME              that call says «held» and does not go on before the file
//                                          AETHER_STAND_IN_GATE is there
//
// Compiled with AETHER_STAND_IN_SILENT it does none of that, for measurements of what stands above the library.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef AETHER_STAND_IN_SILENT

static inline void record(const char*, ...) {}
static inline int faultOf(const char*) {
  return 0;
}
static inline void holdHere(const char*) {}

#else

static inline void record(const char* format, ...) {
  const char* path = getenv("AETHER_STAND_IN_LOG");
  if (path == nullptr) return;
  FILE* log = fopen(path, "a");
  if (log == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(log, format, arguments);
  va_end(arguments);
  fputc('\n', log);
  fclose(log);
}

// The errno with which the call is to fail, or 0.
static inline int faultOf(const char* name) {
  const char* faults = getenv("AETHER_STAND_IN_FAIL");
  if (faults == nullptr) return 0;
  const size_t length = strlen(name);
  for (const char* at = faults; (at = strstr(at, name)) != nullptr; at += length)
    if ((at == faults || at[-1] == ',') && at[length] == '=') return atoi(at + length + 1);
  return 0;
}

static inline void holdHere(const char* name) {
  const char* held = getenv("AETHER_STAND_IN_HOLD");
  if (held == nullptr || strcmp(held, name) != 0) return;
  record("held %s", name);
  while (access(getenv("AETHER_STAND_IN_GATE"), F_OK) != 0) usleep(1000);
}

#endif

// For verbs that return NULL and set errno, and for those that return an errno.
#define FAULT_NULL(name)                 \
  if (const int fault = faultOf(name)) { \
    errno = fault;                       \
    return nullptr;                      \
  }
#define FAULT_ERRNO(name) \
  if (const int fault = faultOf(name)) return fault;
