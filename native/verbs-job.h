// A call of the library that may take milliseconds (pinning memory, resolving an address), carried out beside the event
// loop for one object.
//
// Threads: `run` is called on a thread of Node's pool, everything else on the JavaScript thread. What `run` reads and
// writes belongs to the job until it has ended, so the object sees nothing of it before `publish`.
//
// Life times: Node waits for every job, also at the end of an environment, and the job is freed then. Its object may be
// destroyed sooner: that keeps `run` from beginning, or waits until it has ended, and the promise is rejected with
// ECANCELED. What `run` reads of other objects is theirs that this one uses.
#pragma once
#include <condition_variable>
#include <mutex>

#include "verbs-objects.h"

namespace aether {

class VerbsJob {
 public:
  virtual ~VerbsJob() = default;

  // Begins; the promise, or null with an exception pending, and then the job and an object that was to be made are
  // gone.
  static napi_value begin(napi_env env, VerbsObject* object, std::unique_ptr<VerbsJob> job);
  // The object goes its own way from here on: waits for a call that has begun, and hands over what it made.
  void detach();
  // Nobody wants the object that is being made: it is given back as soon as it is there.
  void abandon();

 protected:
  // The call: 0 or an errno, and `failed` names what failed.
  virtual int run() = 0;
  // Gives the object what `run` made.
  virtual void publish(VerbsObject*) {}
  // What the promise resolves to.
  virtual napi_value describe(napi_env env, VerbsObject*) { return makeUndefined(env); }

  const char* failed = "";

 private:
  static void execute(napi_env, void* data);
  static void complete(napi_env env, napi_status status, void* data);
  int finish();
  void waitUntilDone();

  napi_env env_ = nullptr;
  napi_async_work work_ = nullptr;
  napi_deferred deferred_ = nullptr;
  VerbsObject* object_ = nullptr;
  bool abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  int error_ = 0;
};

}  // namespace aether
