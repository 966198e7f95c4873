#include "verbs-job.h"

#include <cerrno>

namespace aether {

void VerbsJob::execute(napi_env, void* data) {
  auto* job = static_cast<VerbsJob*>(data);
  errno = 0;
  const int error = job->run();
  std::lock_guard<std::mutex> lock(job->mutex_);
  job->error_ = error;
  job->done_ = true;
  // Under the lock: whoever waits may free the job at once when it sees that this is over.
  job->ended_.notify_all();
}

void VerbsJob::waitUntilDone() {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return done_; });
}

napi_value VerbsJob::begin(napi_env env, VerbsObject* object, std::unique_ptr<VerbsJob> job) {
  napi_value promise = nullptr, name = nullptr;
  VerbsJob* begun = job.get();
  begun->env_ = env;
  begun->object_ = object;
  object->job = begun;
  napi_create_string_utf8(env, "aether-verbs", NAPI_AUTO_LENGTH, &name);
  if (napi_create_async_work(env, nullptr, name, execute, complete, begun, &begun->work_) == napi_ok &&
      napi_create_promise(env, &begun->deferred_, &promise) == napi_ok &&
      napi_queue_async_work(env, begun->work_) == napi_ok) {
    job.release();  // `complete` frees it
    return promise;
  }
  if (begun->work_ != nullptr) napi_delete_async_work(env, begun->work_);
  object->job = nullptr;
  if (!object->ready) VerbsTable::of(env)->destroy(object);
  return throwSystem(env, "uv_queue_work", EAGAIN);
}

void VerbsJob::detach() {
  VerbsObject* object = object_;
  object_ = nullptr;
  object->job = nullptr;
  if (napi_cancel_async_work(env_, work_) == napi_ok) return;
  waitUntilDone();
  if (error_ == 0) publish(object);
}

void VerbsJob::abandon() {
  abandoned_ = true;
  napi_cancel_async_work(env_, work_);
}

// The object has what was made, or is gone: 0 or the errno of the promise.
int VerbsJob::finish() {
  VerbsObject* object = object_;
  object->job = nullptr;
  if (error_ == 0) publish(object);
  if (error_ == 0 && !abandoned_) {
    object->ready = true;
    return 0;
  }
  if (!object->ready) VerbsTable::of(env_)->destroy(object);
  return abandoned_ ? ECANCELED : error_;
}

void VerbsJob::complete(napi_env env, napi_status status, void* data) {
  const std::unique_ptr<VerbsJob> job(static_cast<VerbsJob*>(data));
  napi_delete_async_work(env, job->work_);
  if (status == napi_cancelled) job->error_ = ECANCELED;
  VerbsObject* object = job->object_;
  const int error = object == nullptr ? ECANCELED : job->finish();
  if (error == 0) {
    napi_resolve_deferred(env, job->deferred_, job->describe(env, object));
    return;
  }
  napi_value thrown = nullptr;
  throwSystem(env, job->failed, error);
  // At the end of an environment nothing is thrown, and nobody waits any more.
  if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok && thrown != nullptr)
    napi_reject_deferred(env, job->deferred_, thrown);
}

}  // namespace aether
