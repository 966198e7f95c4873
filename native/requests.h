// Requests of clients of Redis, as bytes.
#pragma once

#include <cstring>

#include "support.h"

namespace aether {

// A part of a request.
struct RequestPart {
  const uint8_t* data = nullptr;
  size_t length = 0;
};

// `name`: in lower case.
inline bool isNamed(const RequestPart& part, const char* name) {
  if (part.length != strlen(name)) return false;
  for (size_t at = 0; at < part.length; at++)
    if ((part.data[at] | 0x20) != name[at]) return false;
  return true;
}

// Requests of RESP, read one after the other as long as they are whole and in their usual form.
class Requests {
 public:
  explicit Requests(Bytes bytes) : bytes_(bytes) {}

  // Bytes of the requests before the one that is read.
  size_t taken() const { return taken_; }
  void take() { taken_ = at_; }

  bool count(size_t* count) { return number('*', count); }

  bool part(RequestPart* part) {
    if (!number('$', &part->length) || bytes_.length - at_ < part->length + 2) return false;
    part->data = bytes_.data + at_;
    at_ += part->length;
    return endOfLine();
  }

 private:
  // At most four digits.
  bool number(uint8_t mark, size_t* number) {
    if (at_ == bytes_.length || bytes_.data[at_] != mark) return false;
    at_ += 1;
    const size_t begin = at_;
    *number = 0;
    for (; at_ < bytes_.length && at_ - begin < 4 && isDigit(bytes_.data[at_]); at_++)
      *number = *number * 10 + (bytes_.data[at_] - '0');
    if (at_ == begin || (at_ - begin > 1 && bytes_.data[begin] == '0')) return false;
    return endOfLine();
  }

  static bool isDigit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

  bool endOfLine() {
    if (bytes_.length - at_ < 2 || bytes_.data[at_] != '\r' || bytes_.data[at_ + 1] != '\n') return false;
    at_ += 2;
    return true;
  }

  Bytes bytes_;
  size_t at_ = 0;
  size_t taken_ = 0;
};

}  // namespace aether
