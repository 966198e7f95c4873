// Registering memory beside the event loop: taking its pages, and ibv_reg_mr, which pins them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "verbs-job.h"

namespace aether {

namespace {

class Registering : public VerbsJob {
 public:
  Registering(struct ibv_pd* pd, const Bytes& bytes, unsigned access) : pd_(pd), bytes_(bytes), access_(access) {
    failed = "ibv_reg_mr";
  }
  ~Registering() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  // First take the space of the memory object that the buffer is a mapping of. A descriptor of our own: the caller may
  // close his.
  bool reserveFirst(int descriptor, size_t length) {
    descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    reserved_ = length;
    return descriptor_ >= 0;
  }
  void lockFirst() { lock_ = true; }

 protected:
  int run() override {
    if (descriptor_ >= 0) {
      failed = "fallocate";
      if (const int error = reserveRange(descriptor_, 0, static_cast<double>(reserved_))) return error;
    }
    if (lock_) {
      failed = "mlock";
      if (mlock(bytes_.data, bytes_.length) != 0) return errno;
    }
    failed = "ibv_reg_mr";
    errno = 0;
    mr_ = ibv_reg_mr(pd_, bytes_.data, bytes_.length, access_);
    return errnoOf(mr_);
  }

  void publish(VerbsObject* object) override { static_cast<VerbsMemory*>(object)->mr = mr_; }
  napi_value describe(napi_env env, VerbsObject*) override {
    return describeNumbers(env, {{"localKey", mr_->lkey}, {"remoteKey", mr_->rkey}});
  }

 private:
  struct ibv_pd* pd_;
  const Bytes bytes_;
  const unsigned access_;
  int descriptor_ = -1;
  size_t reserved_ = 0;
  bool lock_ = false;
  struct ibv_mr* mr_ = nullptr;
};

}  // namespace

// registerMemoryAsync(domain, buffer, access, descriptor, reserveBytes, lock): { handle, done }. A descriptor of -1
// reserves nothing.
static napi_value RegisterMemoryAsync(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const Bytes bytes = arguments.bytes(1, "buffer");
  const auto access = static_cast<unsigned>(arguments.integer(2, "access", 0, INT32_MAX));
  const auto descriptor = static_cast<int>(arguments.integer(3, "descriptor", -1, INT32_MAX));
  const auto reserve = static_cast<size_t>(arguments.integer(4, "reserveBytes", 0, kSafeIntegerMax));
  const bool lock = arguments.boolean(5, "lock");
  if (!arguments.ok()) return nullptr;
  if (bytes.length == 0) return throwArgument(env, "buffer", "an empty buffer cannot be registered");
  auto job = std::make_unique<Registering>(domain->pd, bytes, access);
  if (descriptor >= 0 && !job->reserveFirst(descriptor, reserve)) return throwSystem(env, "fcntl", errno);
  if (lock) job->lockFirst();
  auto* memory = createObject<VerbsMemory>(env, "ibv_reg_mr", {domain}, [&](VerbsMemory* made) {
    made->ready = false;
    made->hold(env, arguments.at(1), bytes.data);
    return 0;
  });
  if (memory == nullptr) return nullptr;
  const double token = memory->token;
  napi_value done = VerbsJob::begin(env, memory, std::move(job));
  if (done == nullptr) return nullptr;
  napi_value result = nullptr;
  napi_create_object(env, &result);
  setNumber(env, result, "handle", token);
  napi_set_named_property(env, result, "done", done);
  return result;
}

// giveUp(handle, wait): the memory that is being registered is not wanted any more. `wait` returns only when it is
// gone. One that is gone already is no error.
static napi_value GiveUp(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const double token = arguments.integer(0, "handle", 0, kSafeIntegerMax);
  const bool wait = arguments.boolean(1, "wait");
  if (!arguments.ok()) return nullptr;
  VerbsTable* table = VerbsTable::of(env);
  VerbsObject* object = table->findAny(token);
  if (object == nullptr || !object->is(VerbsMemory::kKind)) return makeNumber(env, 0);
  if (object->job == nullptr || wait) return makeNumber(env, table->destroy(object));
  object->job->abandon();
  return makeNumber(env, 0);
}

void registerVerbsRegistering(napi_env env, napi_value exports) {
  define(env, exports, "registerMemoryAsync", RegisterMemoryAsync);
  define(env, exports, "giveUp", GiveUp);
}

}  // namespace aether
