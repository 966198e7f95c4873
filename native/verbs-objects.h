// The verbs objects of one JavaScript environment, and the numbers (tokens) by which JavaScript names them. A token
// carries a generation, so that one of an object that was destroyed is an error and never another object. An object
// that another uses is not destroyed (EBUSY): a verbs library would read freed memory instead of refusing.
#pragma once
#include <infiniband/verbs.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support.h"

namespace aether {

class VerbsJob;

struct VerbsObject {
  virtual ~VerbsObject() = default;
  // Destroy what the library made: 0 or an errno, and then nothing changed.
  virtual int release() = 0;

  const char* kind = nullptr;
  // By the text: each translation unit may have a copy of it at an address of its own.
  bool is(const char* other) const { return kind == other || strcmp(kind, other) == 0; }
  double token = 0;
  std::vector<VerbsObject*> uses;
  int users = 0;
  // False while a job makes it: until then nothing of the library stands behind it, and no call takes its token.
  bool ready = true;
  // What is under way for it on another thread.
  VerbsJob* job = nullptr;
};

struct VerbsDevice : VerbsObject {
  static constexpr const char* kKind = "device";
  struct ibv_context* context = nullptr;
  // Soft-RoCE. Its library reads the region of a bind without asking whether there is one.
  bool isRxe = false;
  int release() override;
};

struct VerbsDomain : VerbsObject {
  static constexpr const char* kKind = "protection domain";
  struct ibv_pd* pd = nullptr;
  int release() override;
};

struct VerbsMemory : VerbsObject {
  static constexpr const char* kKind = "memory region";
  struct ibv_mr* mr = nullptr;
  // The buffer: the device writes into its pages for as long as they are registered.
  napi_env env = nullptr;
  napi_ref buffer = nullptr;
  // Of the buffer's own pages. Node.js frees external buffers before it runs any hook, so a reference is not enough.
  std::shared_ptr<void> mapping;
  void hold(napi_env of, napi_value value, const void* bytes);
  int release() override;
};

struct VerbsChannel : VerbsObject {
  static constexpr const char* kKind = "completion channel";
  struct ibv_comp_channel* channel = nullptr;
  int release() override;
};

struct VerbsCompletionQueue : VerbsObject {
  static constexpr const char* kKind = "completion queue";
  struct ibv_cq* cq = nullptr;
  int release() override;
};

// What a batch is built in.
struct VerbsChain {
  std::vector<struct ibv_send_wr> sends;
  std::vector<struct ibv_recv_wr> receives;
  std::vector<struct ibv_sge> segments;
};

struct VerbsQueuePair : VerbsObject {
  static constexpr const char* kKind = "queue pair";
  struct ibv_qp* qp = nullptr;
  VerbsChain chain;
  // Made with the extended interface (mlx5 only), and which names the target with each request.
  bool extended = false;
  bool isInitiator = false;
  double bytesPerSecond = 0;  // its limit; 0 for none
  int release() override;
};

struct VerbsSharedReceiveQueue : VerbsObject {
  static constexpr const char* kKind = "shared receive queue";
  struct ibv_srq* srq = nullptr;
  VerbsChain chain;
  int release() override;
};

struct VerbsAddressHandle : VerbsObject {
  static constexpr const char* kKind = "address handle";
  struct ibv_ah* ah = nullptr;
  int release() override;
};

struct VerbsWindow : VerbsObject {
  static constexpr const char* kKind = "memory window";
  struct ibv_mw* mw = nullptr;
  int release() override;
};

struct VerbsXrcDomain : VerbsObject {
  static constexpr const char* kKind = "XRC domain";
  struct ibv_xrcd* xrcd = nullptr;
  int release() override;
};

struct VerbsThreadDomain : VerbsObject {
  static constexpr const char* kKind = "thread domain";
  struct ibv_td* td = nullptr;
  int release() override;
};

struct VerbsDeviceMemory : VerbsObject {
  static constexpr const char* kKind = "device memory";
  struct ibv_dm* dm = nullptr;
  size_t length = 0;
  int release() override;
};

// The table of one environment. Made when it is first asked for; what is left at the environment's end is destroyed
// there, users first.
class VerbsTable {
 public:
  static VerbsTable* of(napi_env env);
  ~VerbsTable();

  // Takes the object, which uses `uses` from now on. Returns its token.
  double add(std::unique_ptr<VerbsObject> object, const char* kind, std::vector<VerbsObject*> uses);
  VerbsObject* find(double token) const;
  // The same with those that are still being made.
  VerbsObject* findAny(double token) const;
  // 0, EBUSY while it is used, or what the library answers.
  int destroy(VerbsObject* object);
  // The same without asking the library, for what it did not make.
  void drop(VerbsObject* object);
  // `object` uses `next` instead of `previous`.
  static void exchange(VerbsObject* object, VerbsObject* previous, VerbsObject* next);

 private:
  struct Slot {
    std::unique_ptr<VerbsObject> object;
    uint32_t generation = 0;
  };
  std::vector<Slot> slots_;
  std::vector<size_t> free_;
};

VerbsObject* verbsObject(Arguments& arguments, size_t index, const char* kind);

// The live object of type T that an argument names; leaves an exception pending where there is none.
template <class T>
T* handleOf(Arguments& arguments, size_t index) {
  return static_cast<T*>(verbsObject(arguments, index, T::kKind));
}

// The same where 0 names none.
template <class T>
T* optionalHandleOf(Arguments& arguments, size_t index) {
  const double token = arguments.integer(index, T::kKind, 0, kSafeIntegerMax);
  return token == 0 ? nullptr : handleOf<T>(arguments, index);
}

// Those of the objects that are there.
std::vector<VerbsObject*> usesOf(std::initializer_list<VerbsObject*> objects);

// The device that an object is of.
const VerbsDevice* deviceOf(const VerbsObject* object);

// Makes an object, has `create` fill it, and returns its token; where `create` returns an errno that is thrown as of
// `verb`. The object has its token before the library is called, because it is handed to it as the context of events.
template <class T, class Create>
T* createObject(napi_env env, const char* verb, std::vector<VerbsObject*> uses, Create create) {
  VerbsTable* table = VerbsTable::of(env);
  auto made = std::make_unique<T>();
  T* object = made.get();
  table->add(std::move(made), T::kKind, std::move(uses));
  errno = 0;
  const int error = create(object);
  if (error == 0) return object;
  table->drop(object);
  throwSystem(env, verb, error);
  return nullptr;
}

// A verb that returns NULL sets errno, but not every provider on every path.
int errnoOf(const void* made);
// A verb that returns an int returns an errno, or -1 and sets it.
int errnoOf(int result);

// The number if it is an integer from 0 to `most`; otherwise `*ok` becomes false.
inline uint64_t wholeNumber(double value, double most, bool* ok) {
  if (!(value >= 0 && value <= most)) {
    *ok = false;
    return 0;
  }
  return static_cast<uint64_t>(value);
}

// Properties of a description, of whatever type the library's header gives them.
struct NamedNumber {
  const char* name;
  double value;
  template <class T>
  NamedNumber(const char* n, T v) : name(n), value(static_cast<double>(v)) {}
};
napi_value describeNumbers(napi_env env, std::initializer_list<NamedNumber> numbers);

napi_value makeGid(napi_env env, const union ibv_gid& gid);
// A gid as four words, most significant first.
void putGid(double* words, const union ibv_gid& gid);
bool takeGid(const double* words, union ibv_gid* gid);

// The library: the empty text when it is there, otherwise why not.
std::string loadVerbsLibrary();

void registerVerbsLibrary(napi_env env, napi_value exports);
void registerVerbsDevices(napi_env env, napi_value exports);
void registerVerbsMemory(napi_env env, napi_value exports);
void registerVerbsExperimental(napi_env env, napi_value exports);
void registerVerbsRegistering(napi_env env, napi_value exports);
void registerVerbsQueues(napi_env env, napi_value exports);
void registerVerbsPairs(napi_env env, napi_value exports);
void registerVerbsPosting(napi_env env, napi_value exports);
void registerVerbsDatagrams(napi_env env, napi_value exports);
void registerVerbsSharedReceives(napi_env env, napi_value exports);
void registerVerbsWindows(napi_env env, napi_value exports);
void registerVerbsDeviceMemory(napi_env env, napi_value exports);
void registerVerbsDomains(napi_env env, napi_value exports);

}  // namespace aether
