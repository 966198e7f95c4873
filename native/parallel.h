// The threads that work beside the calling one (parallel.cc).
#pragma once
#include <cstddef>

namespace aether {

constexpr size_t kThreadsMax = 256;

// Calls body(context, piece) for each piece, in up to `threads` threads of which the caller is one. Pieces start in
// order.
void inParallel(size_t pieces, size_t threads, void (*body)(void* context, size_t piece), void* context);

template <class Body>
void inParallel(size_t pieces, size_t threads, Body& body) {
  inParallel(pieces, threads, [](void* context, size_t piece) { (*static_cast<Body*>(context))(piece); }, &body);
}

}  // namespace aether
