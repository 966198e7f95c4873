#include "support.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace aether {

Environment* environmentOf(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return static_cast<Environment*>(data);
}

static napi_value makeText(napi_env env, const std::string& text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text.c_str(), text.size(), &value);
  return value;
}

static napi_value throwFrom(napi_env env, napi_ref factoryRef, size_t count, napi_value* values,
                            const std::string& fallback) {
  napi_value factory = nullptr, error = nullptr, self = makeUndefined(env);
  if (factoryRef != nullptr && napi_get_reference_value(env, factoryRef, &factory) == napi_ok && factory != nullptr &&
      napi_call_function(env, self, factory, count, values, &error) == napi_ok) {
    napi_throw(env, error);
  } else {
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (!pending) napi_throw_error(env, nullptr, fallback.c_str());
  }
  return nullptr;
}

napi_value throwArgument(napi_env env, const char* argument, const std::string& message) {
  napi_value values[] = {makeText(env, argument), makeText(env, message)};
  return throwFrom(env, environmentOf(env)->argumentError, 2, values, message);
}

// A limit of this process (getrlimit(2)), as text; empty if there is none.
static std::string limitOf(int resource, size_t unit, const char* unitName) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return std::to_string(limit.rlim_cur / unit) + unitName;
}

static std::string adviceOnMemory() {
  const std::string addresses = limitOf(RLIMIT_AS, 1 << 20, " MiB");
  if (!addresses.empty())
    return "the address space of this process is limited to " + addresses +
           ": raise it (ulimit -v unlimited), or free memory";
  return "free memory, ask for less, or raise the limits of the container (and vm.max_map_count where there are "
         "very many mappings)";
}

// What to do about the errors that people really meet; empty if nothing is known.
static std::string adviceFor(const std::string& call, int error) {
  switch (error) {
    case ENOMEM:
      if (call == "mlock" || call == "mmap(MAP_LOCKED)") return "raise the limit of locked memory (ulimit -l)";
      return adviceOnMemory();
    case ENOSPC:
      return "there is no more room: ask for less, or set huge pages aside (vm.nr_hugepages) where they were asked for";
    case EINVAL:
      if (call == "UFFDIO_API") return "this kernel is too old for views: they need Linux 6.4";
      return "";
    case EMFILE:
      return "this process has as many open files as it may have, " + limitOf(RLIMIT_NOFILE, 1, "") +
             ": raise the limit (ulimit -n)";
    case ENFILE:
      return "the system has too many open files: raise fs.file-max";
    case EPERM:
    case EACCES:
      if (call == "userfaultfd")
        return "allow it by vm.unprivileged_userfaultfd=1, by access to /dev/userfaultfd, by CAP_SYS_PTRACE, or in the "
               "container's seccomp profile";
      if (call == "process_vm_readv" || call == "process_vm_writev")
        return "the other process must be of the same user and, under Yama, must have called allowProcessAccess";
      if (call == "mlock") return "raise the limit of locked memory (ulimit -l)";
      if (call == "epoll_ctl")
        return "this kind of descriptor cannot be waited for: watch pipes, sockets and processes";
      return "this user may not do that: check owner, capabilities and the container's seccomp profile";
    case ENOSYS:
      return "the kernel, or the container's seccomp profile, does not have this system call";
    case ESRCH:
      return "the process or thread has ended";
    case EBADF:
      return "the descriptor is closed";
    case EAGAIN:
      if (call == "mlock") return "raise the limit of locked memory (ulimit -l)";
      return "try again";
    default:
      return "";
  }
}

static std::string nameOf(int error) {
  const char* name = strerrorname_np(error);
  return name != nullptr ? name : "errno " + std::to_string(error);
}

napi_value throwSystem(napi_env env, const char* syscall, int error) {
  const std::string name = nameOf(error);
  std::string message = std::string(syscall) + ": " + name + ", " + strerror(error);
  if (const std::string advice = adviceFor(syscall, error); !advice.empty()) message += "; " + advice;
  napi_value values[] = {makeText(env, syscall), makeNumber(env, error), makeText(env, name), makeText(env, message)};
  return throwFrom(env, environmentOf(env)->systemError, 4, values, message);
}

napi_value makeNumber(napi_env env, double value) {
  napi_value result = nullptr;
  napi_create_double(env, value, &result);
  return result;
}

napi_value makeSmall(napi_env env, int32_t value) {
  napi_value result = nullptr;
  napi_create_int32(env, value, &result);
  return result;
}

napi_value makeBoolean(napi_env env, bool value) {
  napi_value result = nullptr;
  napi_get_boolean(env, value, &result);
  return result;
}

napi_value makeUndefined(napi_env env) {
  napi_value result = nullptr;
  napi_get_undefined(env, &result);
  return result;
}

void setNumber(napi_env env, napi_value object, const char* name, double value) {
  napi_set_named_property(env, object, name, makeNumber(env, value));
}

size_t pageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void define(napi_env env, napi_value exports, const char* name, napi_callback callback) {
  napi_value function = nullptr;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
  napi_set_named_property(env, exports, name, function);
}

Arguments::Arguments(napi_env environment, napi_callback_info info) : env(environment) {
  // Those that were not given are undefined.
  napi_get_cb_info(env, info, &count_, values_, &self, nullptr);
}

void Arguments::fail(const char* name, const std::string& message) {
  if (!ok_) return;
  ok_ = false;
  throwArgument(env, name, message);
}

static std::string inWords(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e17) return std::to_string(static_cast<int64_t>(value));
  return std::to_string(value);
}

double Arguments::integer(size_t index, const char* name, double least, double most) {
  if (!ok_) return 0;
  double value = 0;
  if (napi_get_value_double(env, at(index), &value) != napi_ok || value != std::floor(value) ||
      !(value >= least && value <= most)) {
    const std::string range = inWords(least) + " to " + inWords(most);
    fail(name, std::string(name) + " must be an integer from " + range);
    return 0;
  }
  return value;
}

int Arguments::descriptor(size_t index, const char* name) {
  return static_cast<int>(integer(index, name, 0, INT32_MAX));
}

size_t Arguments::pages(size_t index, const char* name, bool mayBeZero) {
  const double page = static_cast<double>(pageSize());
  const double value = integer(index, name, mayBeZero ? 0 : page, kSafeIntegerMax);
  if (ok_ && std::fmod(value, page) != 0) fail(name, std::string(name) + " must be a multiple of " + inWords(page));
  return static_cast<size_t>(value);
}

bool Arguments::boolean(size_t index, const char* name) {
  if (!ok_) return false;
  bool value = false;
  if (napi_get_value_bool(env, at(index), &value) != napi_ok) fail(name, std::string(name) + " must be true or false");
  return value;
}

std::string Arguments::text(size_t index, const char* name, size_t bytesMax) {
  if (!ok_) return "";
  size_t length = 0;
  if (napi_get_value_string_utf8(env, at(index), nullptr, 0, &length) != napi_ok || length > bytesMax) {
    fail(name, std::string(name) + " must be a string of at most " + std::to_string(bytesMax) + " bytes");
    return "";
  }
  std::string value(length + 1, '\0');
  napi_get_value_string_utf8(env, at(index), &value[0], length + 1, &length);
  value.resize(length);
  if (value.find('\0') != std::string::npos) fail(name, std::string(name) + " must not contain a zero byte");
  return value;
}

Int32s Arguments::int32s(size_t index, const char* name) {
  Int32s out;
  if (!ok_) return out;
  bool isTyped = false;
  napi_typedarray_type type = napi_uint8_array;
  void* data = nullptr;
  napi_is_typedarray(env, at(index), &isTyped);
  if (!isTyped || napi_get_typedarray_info(env, at(index), &type, &out.length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_int32_array) {
    fail(name, std::string(name) + " must be an Int32Array");
    return Int32s();
  }
  out.data = static_cast<int32_t*>(data);
  return out;
}

// Of anything else the call of Node-API fails, so nothing is asked before.
bool typedBytesOf(napi_env env, napi_value value, Bytes* out) {
  napi_typedarray_type type = napi_uint8_array;
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok) return false;
  static const size_t widths[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  if (static_cast<size_t>(type) >= sizeof widths / sizeof *widths) return false;
  *out = {static_cast<uint8_t*>(data), length * widths[type]};
  return true;
}

// The same of what Node-API knows by itself.
static bool plainBytesOf(napi_env env, napi_value value, Bytes* out) {
  bool is = false;
  void* data = nullptr;
  if (typedBytesOf(env, value, out)) return true;
  if (napi_is_dataview(env, value, &is) == napi_ok && is) {
    size_t length = 0;
    if (napi_get_dataview_info(env, value, &length, &data, nullptr, nullptr) != napi_ok) return false;
    *out = {static_cast<uint8_t*>(data), length};
    return true;
  }
  if (napi_is_arraybuffer(env, value, &is) == napi_ok && is) {
    size_t length = 0;
    if (napi_get_arraybuffer_info(env, value, &data, &length) != napi_ok) return false;
    *out = {static_cast<uint8_t*>(data), length};
    return true;
  }
  return false;
}

bool bytesOf(napi_env env, napi_value value, Bytes* out) {
  if (plainBytesOf(env, value, out)) return true;
  // A SharedArrayBuffer: Node-API of this version knows it only through a typed array over it.
  bool is = false;
  napi_value global = nullptr, shared = nullptr, constructor = nullptr, view = nullptr;
  napi_get_global(env, &global);
  napi_get_named_property(env, global, "SharedArrayBuffer", &shared);
  if (napi_instanceof(env, value, shared, &is) != napi_ok || !is) return false;
  napi_get_named_property(env, global, "Uint8Array", &constructor);
  if (napi_new_instance(env, constructor, 1, &value, &view) != napi_ok) return false;
  return plainBytesOf(env, view, out);
}

Bytes Arguments::bytes(size_t index, const char* name) {
  Bytes out;
  if (!ok_) return out;
  napi_valuetype type = napi_undefined;
  napi_typeof(env, at(index), &type);
  if (type != napi_object || !bytesOf(env, at(index), &out)) {
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (pending) ok_ = false;
    fail(name, std::string(name) + " must be a typed array, DataView, ArrayBuffer or SharedArrayBuffer");
    return Bytes();
  }
  return out;
}

int32_t* Arguments::word(size_t arrayIndex, size_t wordIndex) {
  const Int32s array = int32s(arrayIndex, "word");
  if (ok_ && array.length == 0) fail("word", "word must have elements");
  const double index = integer(wordIndex, "index", 0, ok_ ? static_cast<double>(array.length) - 1 : 0);
  return ok_ ? array.data + static_cast<size_t>(index) : nullptr;
}

int Arguments::timeoutMs(size_t index, const char* name) {
  return static_cast<int>(integer(index, name, -1, INT32_MAX));
}

double Arguments::fractionalMs(size_t index, const char* name) {
  double value = 0;
  if (!ok_) return value;
  const bool given = index < count_ && napi_get_value_double(env, at(index), &value) == napi_ok;
  // Written so that NaN is refused.
  if (!given || !(value == -1 || (value >= 0 && value <= INT32_MAX)))
    fail(name, std::string(name) + " must be -1, or milliseconds from 0 to 2147483647");
  return value;
}

Doubles doublesOf(Arguments& arguments, size_t index, const char* name, size_t lengthLeast) {
  Doubles out;
  if (!arguments.ok()) return out;
  napi_typedarray_type type = napi_uint8_array;
  void* data = nullptr;
  if (napi_get_typedarray_info(arguments.env, arguments.at(index), &type, &out.length, &data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_float64_array || out.length < lengthLeast) {
    arguments.fail(name, std::string(name) + " must be a Float64Array of at least " + std::to_string(lengthLeast));
    return Doubles();
  }
  out.data = static_cast<double*>(data);
  return out;
}

void stayLoaded() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&stayLoaded), &info) != 0)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace aether
