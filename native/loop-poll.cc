// libuv is reached without its header: the addon is compiled against Node-API alone and has to load into every version
// of Node that speaks it. These functions have been the same through all of libuv 1; the size of the handle is asked
// for, not known. They are weak: a runtime that does not export them loads the addon all the same, and is told so when
// it comes to waiting.
#include "loop-poll.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern "C" {
__attribute__((weak)) size_t uv_handle_size(int type);
__attribute__((weak)) const char* uv_handle_type_name(int type);
__attribute__((weak)) void* uv_handle_get_data(const void* handle);
__attribute__((weak)) void uv_handle_set_data(void* handle, void* data);
__attribute__((weak)) int uv_poll_init(struct uv_loop_s* loop, void* handle, int descriptor);
__attribute__((weak)) int uv_poll_start(void* handle, int events,
                                        void (*callback)(void* handle, int status, int events));
__attribute__((weak)) void uv_close(void* handle, void (*callback)(void* handle));
__attribute__((weak)) void uv_ref(void* handle);
__attribute__((weak)) void uv_unref(void* handle);
}

namespace aether {

constexpr int kPollType = 8;  // UV_POLL
constexpr int kReadable = 1;  // UV_READABLE

static bool isThere() {
  return uv_handle_size != nullptr && uv_handle_type_name != nullptr && uv_handle_get_data != nullptr &&
         uv_handle_set_data != nullptr && uv_poll_init != nullptr && uv_poll_start != nullptr && uv_close != nullptr &&
         uv_ref != nullptr && uv_unref != nullptr;
}

// The number of a type is the one thing here that a later libuv could have given to another.
static bool isPoll() {
  const char* name = uv_handle_type_name(kPollType);
  return name != nullptr && strcmp(name, "poll") == 0;
}

int LoopPoll::open(napi_env env, int descriptor, Ready ready, void* data, LoopPoll** opened) {
  struct uv_loop_s* loop = nullptr;
  if (!isThere() || !isPoll() || napi_get_uv_event_loop(env, &loop) != napi_ok) return ENOSYS;
  void* handle = calloc(1, uv_handle_size(kPollType));
  if (handle == nullptr) return ENOMEM;
  // Here libuv's errors are negative errnos.
  int error = -uv_poll_init(loop, handle, descriptor);
  if (error != 0) {
    free(handle);
    return error;
  }
  auto* poll = new LoopPoll(handle, ready, data);
  uv_handle_set_data(handle, poll);
  uv_unref(handle);
  error = -uv_poll_start(handle, kReadable, readable);
  if (error != 0)
    poll->close();
  else
    *opened = poll;
  return error;
}

void LoopPoll::ref() {
  uv_ref(handle_);
}

void LoopPoll::unref() {
  uv_unref(handle_);
}

void LoopPoll::close() {
  uv_close(handle_, freed);
}

void LoopPoll::readable(void* handle, int, int) {
  auto* poll = static_cast<LoopPoll*>(uv_handle_get_data(handle));
  poll->ready_(poll->data_);
}

void LoopPoll::freed(void* handle) {
  delete static_cast<LoopPoll*>(uv_handle_get_data(handle));
  free(handle);
}

}  // namespace aether
