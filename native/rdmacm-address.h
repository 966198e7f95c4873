// Addresses as JavaScript gives them: in figures, with the port as the next argument.
#pragma once
#include <sys/socket.h>

#include "support.h"

namespace aether {

struct SocketAddress {
  struct sockaddr_storage storage = {};
  struct sockaddr* get() {
    return reinterpret_cast<struct sockaddr*>(&storage);
  }
};

// False, with an exception pending, where the arguments are no address and port.
bool addressOf(Arguments& arguments, size_t index, const char* name, SocketAddress* address);

}  // namespace aether
