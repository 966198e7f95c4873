// Devices, their ports and gids, protection domains, asynchronous events.
#include <fcntl.h>
#include <net/if.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tcp-verbs.h"
#include "verbs-objects.h"

namespace aether {

static void setText(napi_env env, napi_value object, const char* name, const char* text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  napi_set_named_property(env, object, name, value);
}

// False, and an exception is pending, where there is no library.
static bool needLibrary(Arguments& arguments) {
  if (!arguments.ok()) return false;
  const std::string reason = loadVerbsLibrary();
  if (!reason.empty()) arguments.fail("library", reason);
  return reason.empty();
}

static napi_value DeviceNames(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  if (!needLibrary(arguments)) return nullptr;
  napi_value names = nullptr;
  napi_create_array(env, &names);
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  // ENOSYS where the kernel has no RDMA: there is no device.
  if (list == nullptr) return names;
  for (int index = 0; index < count; index++) {
    napi_value name = nullptr;
    napi_create_string_utf8(env, ibv_get_device_name(list[index]), NAPI_AUTO_LENGTH, &name);
    napi_set_element(env, names, static_cast<uint32_t>(index), name);
  }
  ibv_free_device_list(list);
  return names;
}

// The names of the tcp provider's devices, which need no library.
static napi_value TcpDeviceNames(napi_env env, napi_callback_info) {
  napi_value names = nullptr;
  napi_create_array(env, &names);
  uint32_t index = 0;
  for (const std::string& each : tcp::deviceNames()) {
    napi_value name = nullptr;
    napi_create_string_utf8(env, each.c_str(), each.size(), &name);
    napi_set_element(env, names, index++, name);
  }
  return names;
}

// openTcpDevice(name, key, firstPort, lastPort): key has 16 bytes, or none; ports of 0 and 0 are any.
static napi_value OpenTcpDevice(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string name = arguments.text(0, "name", 255);
  const Bytes bytes = arguments.bytes(1, "key");
  const auto firstPort = static_cast<uint16_t>(arguments.integer(2, "firstPort", 0, UINT16_MAX));
  const auto lastPort = static_cast<uint16_t>(arguments.integer(3, "lastPort", firstPort, UINT16_MAX));
  if (!arguments.ok()) return nullptr;
  tcp::MacKey key;
  if (bytes.length != 0 && bytes.length != sizeof key.words) return throwArgument(env, "key", "key must have 16 bytes, or none");
  if (bytes.length != 0) memcpy(key.words, bytes.data, sizeof key.words);
  auto* device = createObject<VerbsDevice>(env, "ibv_open_device", {}, [&](VerbsDevice* made) {
    made->context = tcp::openDevice(name, bytes.length == 0 ? nullptr : &key, firstPort, lastPort);
    return errnoOf(made->context);
  });
  if (device == nullptr) return nullptr;
  return describeNumbers(env, {{"handle", device->token},
                               {"asyncDescriptor", device->context->async_fd},
                               {"completionVectors", device->context->num_comp_vectors}});
}

constexpr uint32_t kRxeVendor = 0xffffff;

static int openNamed(VerbsDevice* device, const std::string& name) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr) return errnoOf(list);
  int error = ENODEV;
  for (int index = 0; index < count; index++) {
    if (name != ibv_get_device_name(list[index])) continue;
    errno = 0;
    device->context = ibv_open_device(list[index]);
    error = errnoOf(device->context);
  }
  ibv_free_device_list(list);
  if (error != 0) return error;
  fcntl(device->context->async_fd, F_SETFL, fcntl(device->context->async_fd, F_GETFL) | O_NONBLOCK);
  struct ibv_device_attr a = {};
  device->isRxe = ibv_query_device(device->context, &a) == 0 && a.vendor_id == kRxeVendor;
  return 0;
}

static napi_value OpenDevice(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string name = arguments.text(0, "name", 255);
  if (!needLibrary(arguments)) return nullptr;
  auto* device =
      createObject<VerbsDevice>(env, "ibv_open_device", {}, [&](VerbsDevice* made) { return openNamed(made, name); });
  if (device == nullptr) return nullptr;
  return describeNumbers(env, {{"handle", device->token},
                               {"asyncDescriptor", device->context->async_fd},
                               {"completionVectors", device->context->num_comp_vectors}});
}

static napi_value Destroy(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const double token = arguments.integer(0, "handle", 0, kSafeIntegerMax);
  if (!arguments.ok()) return nullptr;
  VerbsTable* table = VerbsTable::of(env);
  VerbsObject* object = table->findAny(token);
  if (object == nullptr) return throwArgument(env, "handle", "this is no object of this environment, or no more");
  return makeNumber(env, table->destroy(object));
}

static napi_value QueryDevice(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  struct ibv_device_attr_ex extended = {};
  if (const int error = errnoOf(ibv_query_device_ex(device->context, nullptr, &extended)))
    return throwSystem(env, "ibv_query_device_ex", error);
  const struct ibv_device_attr& a = extended.orig_attr;
  napi_value result =
      describeNumbers(env, {
                               {"vendorId", a.vendor_id},
                               {"vendorPartId", a.vendor_part_id},
                               {"hardwareVersion", a.hw_ver},
                               {"transport", device->context->device->transport_type},
                               {"nodeType", device->context->device->node_type},
                               {"maxMemoryRegionBytes", static_cast<double>(a.max_mr_size)},
                               {"pageSizes", static_cast<double>(a.page_size_cap)},
                               {"maxQueuePairs", a.max_qp},
                               {"maxRequests", a.max_qp_wr},
                               {"capabilities", a.device_cap_flags},
                               {"maxSegments", a.max_sge},
                               {"maxReadSegments", a.max_sge_rd},
                               {"maxCompletionQueues", a.max_cq},
                               {"maxCompletions", a.max_cqe},
                               {"maxMemoryRegions", a.max_mr},
                               {"maxProtectionDomains", a.max_pd},
                               {"maxReadAtomicTarget", a.max_qp_rd_atom},
                               {"maxReadAtomicInitiator", a.max_qp_init_rd_atom},
                               {"atomicCapability", a.atomic_cap},
                               {"maxMemoryWindows", a.max_mw},
                               {"maxMulticastGroups", a.max_mcast_grp},
                               {"maxMulticastQueuePairs", a.max_mcast_qp_attach},
                               {"maxAddressHandles", a.max_ah},
                               {"maxSharedReceiveQueues", a.max_srq},
                               {"maxSharedReceiveRequests", a.max_srq_wr},
                               {"maxSharedReceiveSegments", a.max_srq_sge},
                               {"maxPartitionKeys", a.max_pkeys},
                               {"portCount", a.phys_port_cnt},
                               {"onDemandCapabilities", static_cast<double>(extended.odp_caps.general_caps)},
                               {"maxDeviceMemoryBytes", static_cast<double>(extended.max_dm_size)},
                               {"maxPacingKilobitsPerSecond", extended.packet_pacing_caps.qp_rate_limit_max},
                           });
  setText(env, result, "firmware", a.fw_ver);
  char guid[17] = "";
  snprintf(guid, sizeof guid, "%016llx", static_cast<unsigned long long>(be64toh(a.node_guid)));
  setText(env, result, "nodeGuid", guid);
  return result;
}

// What src/providers/ibverbs/port-attributes.ts knows as iWARP; the library tells the device's transport only.
constexpr int kLinkLayerIwarp = 129;

static int linkLayerOf(struct ibv_context* context, const struct ibv_port_attr& a) {
  const bool isIwarp = context->device->transport_type == IBV_TRANSPORT_IWARP && !tcp::isOurs(context);
  return isIwarp ? kLinkLayerIwarp : a.link_layer;
}

static napi_value QueryPort(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  const auto port = static_cast<uint8_t>(arguments.integer(1, "port", 0, UINT8_MAX));
  if (!arguments.ok()) return nullptr;
  struct ibv_port_attr a = {};
  if (const int error = errnoOf(ibv_query_port(device->context, port, &a)))
    return throwSystem(env, "ibv_query_port", error);
  return describeNumbers(env, {
                                  {"state", a.state},
                                  {"maxMtu", 128 << a.max_mtu},
                                  {"activeMtu", 128 << a.active_mtu},
                                  {"gidTableLength", a.gid_tbl_len},
                                  {"capabilities", a.port_cap_flags},
                                  {"maxMessageBytes", a.max_msg_sz},
                                  {"partitionKeyTableLength", a.pkey_tbl_len},
                                  {"localIdentifier", a.lid},
                                  {"subnetManagerLocalIdentifier", a.sm_lid},
                                  {"localIdentifierMask", a.lmc},
                                  {"activeWidth", a.active_width},
                                  {"activeSpeed", a.active_speed},
                                  {"physicalState", a.phys_state},
                                  {"linkLayer", linkLayerOf(device->context, a)},
                              });
}

static napi_value addGid(napi_env env, napi_value list, uint32_t at, uint32_t index, const union ibv_gid& gid, int type,
                         uint32_t interfaceIndex) {
  napi_value entry = nullptr;
  napi_create_object(env, &entry);
  setNumber(env, entry, "index", index);
  napi_set_named_property(env, entry, "gid", makeGid(env, gid));
  setNumber(env, entry, "type", type);
  char interfaceName[IF_NAMESIZE] = "";
  if (interfaceIndex != 0 && if_indextoname(interfaceIndex, interfaceName) == nullptr) interfaceName[0] = 0;
  setText(env, entry, "interfaceName", interfaceName);
  napi_set_element(env, list, at, entry);
  return list;
}

// By the table where the library has it (then with the type of each), one by one otherwise.
static napi_value QueryGids(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  const auto port = static_cast<uint32_t>(arguments.integer(1, "port", 0, UINT8_MAX));
  const auto length = static_cast<int>(arguments.integer(2, "tableLength", 0, 65536));
  if (!arguments.ok()) return nullptr;
  napi_value list = nullptr;
  napi_create_array(env, &list);
  uint32_t at = 0;
  std::vector<struct ibv_gid_entry> entries(static_cast<size_t>(length) * 2 + 1024);
  const ssize_t count = ibv_query_gid_table(device->context, entries.data(), entries.size(), 0);
  if (count >= 0) {
    for (ssize_t index = 0; index < count; index++) {
      const struct ibv_gid_entry& each = entries[static_cast<size_t>(index)];
      if (each.port_num == port)
        addGid(env, list, at++, each.gid_index, each.gid, static_cast<int>(each.gid_type), each.ndev_ifindex);
    }
    return list;
  }
  for (int index = 0; index < length; index++) {
    union ibv_gid gid = {};
    if (ibv_query_gid(device->context, static_cast<uint8_t>(port), index, &gid) == 0)
      addGid(env, list, at++, static_cast<uint32_t>(index), gid, -1, 0);
  }
  return list;
}

static napi_value AllocateDomain(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  auto* domain = createObject<VerbsDomain>(env, "ibv_alloc_pd", {device}, [&](VerbsDomain* made) {
    made->pd = ibv_alloc_pd(device->context);
    return errnoOf(made->pd);
  });
  return domain == nullptr ? nullptr : makeNumber(env, domain->token);
}

// The object an event is about: what was handed to the library as its context.
static double subjectOf(const struct ibv_async_event& event, double* port) {
  const void* context = nullptr;
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      context = event.element.cq->cq_context;
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      context = event.element.qp->qp_context;
      break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      context = event.element.srq->srq_context;
      break;
    default:
      *port = event.element.port_num;
  }
  return context == nullptr ? 0 : static_cast<const VerbsObject*>(context)->token;
}

constexpr size_t kEventWords = 3;

static napi_value ReadAsyncEvents(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  const Doubles out = doublesOf(arguments, 1, "out", kEventWords);
  if (!arguments.ok()) return nullptr;
  size_t count = 0;
  for (; (count + 1) * kEventWords <= out.length; count++) {
    struct ibv_async_event event = {};
    if (ibv_get_async_event(device->context, &event) != 0) break;
    double* words = out.data + count * kEventWords;
    words[0] = event.event_type;
    words[2] = 0;
    words[1] = subjectOf(event, &words[2]);
    if (!tcp::isOurs(device->context)) ibv_ack_async_event(&event);
  }
  return makeNumber(env, static_cast<double>(count));
}

void registerVerbsDevices(napi_env env, napi_value exports) {
  define(env, exports, "deviceNames", DeviceNames);
  define(env, exports, "openDevice", OpenDevice);
  define(env, exports, "tcpDeviceNames", TcpDeviceNames);
  define(env, exports, "openTcpDevice", OpenTcpDevice);
  define(env, exports, "destroy", Destroy);
  define(env, exports, "queryDevice", QueryDevice);
  define(env, exports, "queryPort", QueryPort);
  define(env, exports, "queryGids", QueryGids);
  define(env, exports, "allocateDomain", AllocateDomain);
  define(env, exports, "readAsyncEvents", ReadAsyncEvents);
}

}  // namespace aether
