// Connection identifiers: making, binding, resolving, describing, destroying.
#include "rdmacm-identifiers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "rdmacm-address.h"

namespace aether {

RdmacmTable* RdmacmTable::of(napi_env env) {
  std::shared_ptr<void>& slot = environmentOf(env)->rdmacm;
  if (slot == nullptr) slot = std::make_shared<RdmacmTable>();
  return static_cast<RdmacmTable*>(slot.get());
}

RdmacmTable::~RdmacmTable() {
  while (!identifiers_.empty()) destroy(identifiers_.rbegin()->first);
  if (channel_ != nullptr) rdma_destroy_event_channel(channel_);
}

int RdmacmTable::open() {
  if (channel_ != nullptr) return 0;
  errno = 0;
  channel_ = rdma_create_event_channel();
  if (channel_ == nullptr) return errno == 0 ? ENODEV : errno;
  fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  fcntl(channel_->fd, F_SETFD, FD_CLOEXEC);
  return 0;
}

double RdmacmTable::add(struct rdma_cm_id* id) {
  const uint32_t token = next_++;
  id->context = reinterpret_cast<void*>(static_cast<uintptr_t>(token));
  identifiers_[token] = id;
  return token;
}

struct rdma_cm_id* RdmacmTable::find(double token) const {
  const auto found = identifiers_.find(static_cast<uint32_t>(token));
  return found == identifiers_.end() ? nullptr : found->second;
}

// Every event is acknowledged when it is read, so this does not wait for anybody. Events of it that were not read yet
// are dropped by the kernel.
void RdmacmTable::destroy(double token) {
  const auto found = identifiers_.find(static_cast<uint32_t>(token));
  if (found == identifiers_.end()) return;
  struct rdma_cm_id* id = found->second;
  identifiers_.erase(found);
  rdma_destroy_id(id);
}

struct rdma_cm_id* identifierOf(Arguments& arguments, size_t index) {
  const double token = arguments.integer(index, "identifier", 1, UINT32_MAX);
  if (!arguments.ok()) return nullptr;
  struct rdma_cm_id* id = RdmacmTable::of(arguments.env)->find(token);
  if (id == nullptr) arguments.fail("identifier", "there is no such connection identifier, or it was destroyed");
  return id;
}

bool addressOf(Arguments& arguments, size_t index, const char* name, SocketAddress* address) {
  const std::string text = arguments.text(index, name, 100);
  const double port = arguments.integer(index + 1, "port", 0, UINT16_MAX);
  if (!arguments.ok()) return false;
  struct addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  struct addrinfo* found = nullptr;
  if (getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0 || found == nullptr) {
    arguments.fail(name, std::string(name) + " must be an IPv4 or IPv6 address in figures");
    return false;
  }
  std::memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  const auto networkPort = htons(static_cast<uint16_t>(port));
  if (address->storage.ss_family == AF_INET6)
    reinterpret_cast<struct sockaddr_in6*>(&address->storage)->sin6_port = networkPort;
  else
    reinterpret_cast<struct sockaddr_in*>(&address->storage)->sin_port = networkPort;
  return true;
}

// The empty object where there is no address yet.
static napi_value describeAddress(napi_env env, const struct sockaddr* address) {
  char text[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE] = "";
  uint16_t port = 0;
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const struct sockaddr_in*>(address);
    inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    port = ntohs(four->sin_port);
  } else if (address->sa_family == AF_INET6) {
    const auto* six = reinterpret_cast<const struct sockaddr_in6*>(address);
    inet_ntop(AF_INET6, &six->sin6_addr, text, INET6_ADDRSTRLEN);
    char zone[IF_NAMESIZE];
    if (six->sin6_scope_id != 0 && if_indextoname(six->sin6_scope_id, zone) != nullptr) {
      std::strcat(text, "%");
      std::strcat(text, zone);
    }
    port = ntohs(six->sin6_port);
  }
  napi_value result = nullptr;
  napi_value value = nullptr;
  napi_create_object(env, &result);
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  napi_set_named_property(env, result, "address", value);
  setNumber(env, result, "port", port);
  return result;
}

static napi_value Open(napi_env env, napi_callback_info) {
  RdmacmTable* table = RdmacmTable::of(env);
  if (const int error = table->open()) return throwSystem(env, "rdma_create_event_channel", error);
  return makeNumber(env, table->channel()->fd);
}

static napi_value CreateIdentifier(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const bool datagram = arguments.boolean(0, "datagram");
  if (!arguments.ok()) return nullptr;
  RdmacmTable* table = RdmacmTable::of(env);
  if (const int error = table->open()) return throwSystem(env, "rdma_create_event_channel", error);
  struct rdma_cm_id* id = nullptr;
  if (rdma_create_id(table->channel(), &id, nullptr, datagram ? RDMA_PS_UDP : RDMA_PS_TCP) != 0)
    return throwSystem(env, "rdma_create_id", errno);
  return makeNumber(env, table->add(id));
}

static napi_value DestroyIdentifier(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const double token = arguments.integer(0, "identifier", 1, UINT32_MAX);
  if (!arguments.ok()) return nullptr;
  RdmacmTable::of(env)->destroy(token);
  return makeUndefined(env);
}

static napi_value Bind(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  SocketAddress address;
  if (!addressOf(arguments, 1, "address", &address)) return nullptr;
  if (rdma_bind_addr(id, address.get()) != 0) return throwSystem(env, "rdma_bind_addr", errno);
  return makeUndefined(env);
}

static napi_value Listen(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  const auto backlog = static_cast<int>(arguments.integer(1, "backlog", 1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  if (rdma_listen(id, backlog) != 0) return throwSystem(env, "rdma_listen", errno);
  return makeUndefined(env);
}

// The source is the address of that identifier, where it is bound.
static napi_value ResolveAddress(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  SocketAddress destination;
  if (!addressOf(arguments, 1, "address", &destination)) return nullptr;
  const auto timeout = static_cast<int>(arguments.integer(3, "timeoutMs", 1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  if (rdma_resolve_addr(id, nullptr, destination.get(), timeout) != 0)
    return throwSystem(env, "rdma_resolve_addr", errno);
  return makeUndefined(env);
}

static napi_value ResolveRoute(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  const auto timeout = static_cast<int>(arguments.integer(1, "timeoutMs", 1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  if (rdma_resolve_route(id, timeout) != 0) return throwSystem(env, "rdma_resolve_route", errno);
  return makeUndefined(env);
}

static napi_value Describe(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  if (!arguments.ok()) return nullptr;
  napi_value result = nullptr;
  napi_value name = nullptr;
  napi_create_object(env, &result);
  const char* device = id->verbs == nullptr ? "" : ibv_get_device_name(id->verbs->device);
  napi_create_string_utf8(env, device, NAPI_AUTO_LENGTH, &name);
  napi_set_named_property(env, result, "device", name);
  setNumber(env, result, "port", id->port_num);
  napi_set_named_property(env, result, "local", describeAddress(env, rdma_get_local_addr(id)));
  napi_set_named_property(env, result, "remote", describeAddress(env, rdma_get_peer_addr(id)));
  return result;
}

void registerRdmacmIdentifiers(napi_env env, napi_value exports) {
  define(env, exports, "open", Open);
  define(env, exports, "createIdentifier", CreateIdentifier);
  define(env, exports, "destroyIdentifier", DestroyIdentifier);
  define(env, exports, "bind", Bind);
  define(env, exports, "listen", Listen);
  define(env, exports, "resolveAddress", ResolveAddress);
  define(env, exports, "resolveRoute", ResolveRoute);
  define(env, exports, "describe", Describe);
}

}  // namespace aether
