// One descriptor that the event loop of an environment itself waits for, without a thread between. libuv's poll handle
// (uv_poll_t, docs.libuv.org) behind four functions.
#pragma once
#include "support.h"

namespace aether {

class LoopPoll {
 public:
  using Ready = void (*)(void* data);

  // `ready(data)` is called on the environment's thread, outside every scope, again and again while `descriptor` is
  // readable. The loop is not kept alive by it. Returns an errno: ENOSYS where the runtime has no such loop.
  static int open(napi_env env, int descriptor, Ready ready, void* data, LoopPoll** opened);

  void ref();
  void unref();
  // `ready` is not called any more, and the descriptor may be closed. Frees itself when the loop has let go.
  void close();

 private:
  LoopPoll(void* handle, Ready ready, void* data) : handle_(handle), ready_(ready), data_(data) {}

  static void readable(void* handle, int status, int events);
  static void freed(void* handle);

  void* handle_;
  Ready ready_;
  void* data_;
};

}  // namespace aether
