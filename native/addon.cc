// Entry of the addon: one call of each file's register function. System calls only; no policy, no protocol.
#include "arrays.h"
#include "mappings.h"
#include "support.h"
#ifdef AETHER_VERBS
#include "verbs-mlx5.h"
#endif
#ifdef AETHER_RDMACM
#include "rdmacm-identifiers.h"
#endif

namespace aether {

// setErrors(argumentError, systemError): how errors are made, so that what is thrown are the package's own classes.
static napi_value SetErrors(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Environment* environment = environmentOf(env);
  napi_ref* targets[] = {&environment->argumentError, &environment->systemError};
  for (size_t index = 0; index < 2; index++) {
    napi_valuetype type = napi_undefined;
    napi_typeof(env, arguments.at(index), &type);
    if (type != napi_function) {
      napi_throw_type_error(env, nullptr, "setErrors needs two functions");
      return nullptr;
    }
    if (*targets[index] != nullptr) napi_delete_reference(env, *targets[index]);
    napi_create_reference(env, arguments.at(index), 1, targets[index]);
  }
  return nullptr;
}

// throwSystemError(syscall, errno): as a call of the addon that fails does.
static napi_value ThrowSystemError(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string syscall = arguments.text(0, "syscall", 4096);
  const int error = static_cast<int>(arguments.integer(1, "errno", 1, 4095));
  if (!arguments.ok()) return nullptr;
  return throwSystem(env, syscall.c_str(), error);
}

static void endEnvironment(napi_env env, void* data, void*) {
  auto* environment = static_cast<Environment*>(data);
  forgetViews(env, environment);
  endArrayMemory(env, environment);
  // Node.js does not delete references that were made for us, not even at the end of their environment.
  for (napi_ref reference : {environment->argumentError, environment->systemError, environment->bufferOf})
    if (reference != nullptr) napi_delete_reference(env, reference);
  delete environment;
}

#ifdef AETHER_VERBS
// The verbs calls are an object of their own, which is there only where they were compiled in.
static void exportVerbs(napi_env env, napi_value exports) {
  napi_value verbs = nullptr;
  napi_create_object(env, &verbs);
  registerVerbsLibrary(env, verbs);
  registerVerbsDevices(env, verbs);
  registerVerbsMemory(env, verbs);
  registerVerbsExperimental(env, verbs);
  registerVerbsRegistering(env, verbs);
  registerVerbsQueues(env, verbs);
  registerVerbsPairs(env, verbs);
  registerVerbsPosting(env, verbs);
  registerVerbsDatagrams(env, verbs);
  registerVerbsSharedReceives(env, verbs);
  registerVerbsWindows(env, verbs);
  registerVerbsDeviceMemory(env, verbs);
  registerVerbsDomains(env, verbs);
#ifdef AETHER_MLX5
  registerMlx5(env, verbs);
#endif
  napi_set_named_property(env, exports, "verbs", verbs);
}
#endif

#ifdef AETHER_RDMACM
static void exportRdmacm(napi_env env, napi_value exports) {
  napi_value rdmacm = nullptr;
  napi_create_object(env, &rdmacm);
  registerRdmacmLibrary(env, rdmacm);
  registerRdmacmIdentifiers(env, rdmacm);
  registerRdmacmConnecting(env, rdmacm);
  registerRdmacmEvents(env, rdmacm);
  napi_set_named_property(env, exports, "rdmacm", rdmacm);
}
#endif

}  // namespace aether

NAPI_MODULE_INIT() {
  using namespace aether;
  napi_set_instance_data(env, new Environment(), endEnvironment, nullptr);
  define(env, exports, "setErrors", SetErrors);
  define(env, exports, "throwSystemError", ThrowSystemError);
  registerMemory(env, exports);
  registerReserve(env, exports);
  registerMappings(env, exports);
  registerReadOnly(env, exports);
  registerUserfault(env, exports);
  registerFaultLane(env, exports);
  registerFaultTimer(env, exports);
  registerSleeping(env, exports);
  registerStreams(env, exports);
  registerLooks(env, exports);
  registerPacking(env, exports);
  registerSetting(env, exports);
  registerSnapshots(env, exports);
  registerWatcher(env, exports);
  registerProcesses(env, exports);
  registerThreads(env, exports);
  registerArrayPrograms(env, exports);
  registerArrayReductions(env, exports);
  registerArraySorting(env, exports);
  registerArraySelecting(env, exports);
  registerArrayRandom(env, exports);
  registerArrayProducts(env, exports);
  registerArrayTransforms(env, exports);
  registerArrayMemory(env, exports);
#ifdef AETHER_VERBS
  exportVerbs(env, exports);
#endif
#ifdef AETHER_RDMACM
  exportRdmacm(env, exports);
#endif
  return exports;
}
