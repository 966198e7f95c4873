#include <cerrno>
#include <cstring>

#include "mappings.h"
#include "verbs-job.h"

namespace aether {

// A token is generation * 2^20 + slot, exact in a double; generations start at 1, so that 0 names nothing.
constexpr uint64_t kSlots = 1 << 20;

int errnoOf(const void* made) {
  if (made != nullptr) return 0;
  return errno != 0 ? errno : EIO;
}

int errnoOf(int result) {
  if (result >= 0) return result;
  if (result < -1) return -result;
  return errno != 0 ? errno : EIO;
}

int VerbsDevice::release() {
  return errnoOf(ibv_close_device(context));
}
int VerbsDomain::release() {
  return errnoOf(ibv_dealloc_pd(pd));
}
int VerbsChannel::release() {
  return errnoOf(ibv_destroy_comp_channel(channel));
}
int VerbsCompletionQueue::release() {
  return errnoOf(ibv_destroy_cq(cq));
}
int VerbsQueuePair::release() {
  return errnoOf(ibv_destroy_qp(qp));
}
int VerbsSharedReceiveQueue::release() {
  return errnoOf(ibv_destroy_srq(srq));
}
int VerbsAddressHandle::release() {
  return errnoOf(ibv_destroy_ah(ah));
}
int VerbsWindow::release() {
  return errnoOf(ibv_dealloc_mw(mw));
}
int VerbsXrcDomain::release() {
  return errnoOf(ibv_close_xrcd(xrcd));
}
int VerbsThreadDomain::release() {
  return errnoOf(ibv_dealloc_td(td));
}
int VerbsDeviceMemory::release() {
  return errnoOf(ibv_free_dm(dm));
}

void VerbsMemory::hold(napi_env of, napi_value value, const void* bytes) {
  env = of;
  napi_create_reference(env, value, 1, &buffer);
  mapping = holdMapping(reinterpret_cast<uintptr_t>(bytes));
}

int VerbsMemory::release() {
  const int error = mr == nullptr ? 0 : errnoOf(ibv_dereg_mr(mr));
  if (error == 0 && buffer != nullptr) napi_delete_reference(env, buffer);
  return error;
}

VerbsTable* VerbsTable::of(napi_env env) {
  Environment* environment = environmentOf(env);
  if (environment->verbs == nullptr) {
    environment->verbs = std::make_shared<VerbsTable>();
    // Runs before what Node-API does at the end of an environment, while references may still be deleted.
    napi_add_env_cleanup_hook(
        env, [](void* data) { static_cast<Environment*>(data)->verbs.reset(); }, environment);
  }
  return static_cast<VerbsTable*>(environment->verbs.get());
}

VerbsTable::~VerbsTable() {
  // Whoever uses something was made after it, but for memory that changed its domain: so again until nothing moves.
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t index = slots_.size(); index-- > 0;) {
      VerbsObject* object = slots_[index].object.get();
      if (object != nullptr && destroy(object) == 0) moved = true;
    }
  }
  // What the library does not give back is its own from here on; freeing ours would let it write into freed memory.
  for (Slot& slot : slots_) slot.object.release();
}

double VerbsTable::add(std::unique_ptr<VerbsObject> object, const char* kind, std::vector<VerbsObject*> uses) {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const size_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.generation++;
  object->kind = kind;
  object->token = static_cast<double>(slot.generation * kSlots + index);
  object->uses = std::move(uses);
  for (VerbsObject* used : object->uses) used->users++;
  slot.object = std::move(object);
  return slot.object->token;
}

VerbsObject* VerbsTable::find(double token) const {
  VerbsObject* object = findAny(token);
  return object != nullptr && object->ready ? object : nullptr;
}

VerbsObject* VerbsTable::findAny(double token) const {
  if (!(token >= kSlots && token <= kSafeIntegerMax)) return nullptr;
  const size_t index = static_cast<uint64_t>(token) % kSlots;
  if (index >= slots_.size()) return nullptr;
  VerbsObject* object = slots_[index].object.get();
  return object != nullptr && object->token == token ? object : nullptr;
}

int VerbsTable::destroy(VerbsObject* object) {
  if (object->users > 0) return EBUSY;
  if (object->job != nullptr) object->job->detach();
  errno = 0;
  const int error = object->release();
  if (error == 0) drop(object);
  return error;
}

void VerbsTable::drop(VerbsObject* object) {
  const size_t index = static_cast<uint64_t>(object->token) % kSlots;
  for (VerbsObject* used : object->uses) used->users--;
  slots_[index].object.reset();
  free_.push_back(index);
}

void VerbsTable::exchange(VerbsObject* object, VerbsObject* previous, VerbsObject* next) {
  for (VerbsObject*& used : object->uses) {
    if (used != previous) continue;
    used->users--;
    used = next;
    used->users++;
    return;
  }
}

VerbsObject* verbsObject(Arguments& arguments, size_t index, const char* kind) {
  if (!arguments.ok()) return nullptr;
  double token = 0;
  napi_get_value_double(arguments.env, arguments.at(index), &token);
  VerbsObject* object = VerbsTable::of(arguments.env)->find(token);
  if (object != nullptr && object->is(kind)) return object;
  arguments.integer(index, kind, 0, kSafeIntegerMax);
  arguments.fail(kind, std::string("this is no ") + kind + " of this environment, or no more");
  return nullptr;
}

const VerbsDevice* deviceOf(const VerbsObject* object) {
  while (!object->is(VerbsDevice::kKind)) object = object->uses[0];
  return static_cast<const VerbsDevice*>(object);
}

std::vector<VerbsObject*> usesOf(std::initializer_list<VerbsObject*> objects) {
  std::vector<VerbsObject*> uses;
  for (VerbsObject* object : objects)
    if (object != nullptr) uses.push_back(object);
  return uses;
}

napi_value describeNumbers(napi_env env, std::initializer_list<NamedNumber> numbers) {
  napi_value result = nullptr;
  napi_create_object(env, &result);
  for (const NamedNumber& each : numbers) setNumber(env, result, each.name, each.value);
  return result;
}

napi_value makeGid(napi_env env, const union ibv_gid& gid) {
  uint64_t words[2] = {be64toh(gid.global.interface_id), be64toh(gid.global.subnet_prefix)};
  napi_value value = nullptr;
  napi_create_bigint_words(env, 0, 2, words, &value);
  return value;
}

void putGid(double* words, const union ibv_gid& gid) {
  for (int index = 0; index < 4; index++) {
    uint32_t word = 0;
    memcpy(&word, gid.raw + 4 * index, 4);
    words[index] = be32toh(word);
  }
}

bool takeGid(const double* words, union ibv_gid* gid) {
  bool ok = true;
  for (int index = 0; index < 4; index++) {
    const uint32_t word = htobe32(static_cast<uint32_t>(wholeNumber(words[index], UINT32_MAX, &ok)));
    memcpy(gid->raw + 4 * index, &word, 4);
  }
  return ok;
}

}  // namespace aether
