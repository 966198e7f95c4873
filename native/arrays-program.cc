// Element-wise programs: steps over registers that hold some thousand neighbouring elements at a time, so that what
// lies between the first operand and the result stays in the cache. Threads take turns of such chunks.
#include <algorithm>
#include <cstring>

#include "arrays-kernels.h"

namespace aether {

namespace {

// Bytes of a register's widest elements: of several registers and operands, all are in the first cache. Where no step
// has an operand in scratch memory, longer chunks cost nothing.
constexpr size_t kChunkBytes = 4096;
constexpr size_t kDirectChunkBytes = 65536;
// A run of fewer neighbouring elements is not worth a chunk of its own.
constexpr int64_t kRunMin = 64;
// What one thread does at least, in elements times steps.
constexpr int64_t kThreadWork = 1 << 18;

struct Register {
  DType type = kBool;
  // Of an input or output: where its elements lie. Else in the scratch memory, `slot` registers from the start.
  const Span* span = nullptr;
  bool isDirect = false;
  size_t slot = 0;
  size_t lastUse = 0;
};

struct Step {
  Kernel kernel = nullptr;
  int operands[3] = {-1, -1, -1};
  size_t result = 0;
};

struct Constant {
  DType type = kBool;
  uint64_t bits[2] = {};
};

struct Output {
  size_t number = 0;
  Span span;
  // Computed right where it shall lie.
  bool isDirect = false;
};

void fill(uint8_t* out, const Constant& constant, size_t count) {
  const size_t width = kWidths[constant.type];
  for (size_t i = 0; i < count; i++) memcpy(out + i * width, constant.bits, width);
}

template <class T>
void copyStrided(uint8_t* out, int64_t outStride, const uint8_t* from, int64_t fromStride, size_t count) {
  for (size_t i = 0; i < count; i++, out += outStride, from += fromStride)
    memcpy(out, from, sizeof(T));
}

void copyElements(size_t width, uint8_t* out, int64_t outStride, const uint8_t* from, int64_t fromStride, size_t count) {
  const auto step = static_cast<int64_t>(width);
  if (outStride == step && fromStride == step) {
    memmove(out, from, count * width);
    return;
  }
  switch (width) {
    case 1: return copyStrided<uint8_t>(out, outStride, from, fromStride, count);
    case 2: return copyStrided<uint16_t>(out, outStride, from, fromStride, count);
    case 4: return copyStrided<uint32_t>(out, outStride, from, fromStride, count);
    case 8: return copyStrided<uint64_t>(out, outStride, from, fromStride, count);
    default: return copyStrided<Sixteen>(out, outStride, from, fromStride, count);
  }
}

class Program {
 public:
  // Reads and checks all of it: false if something does not fit.
  bool read(Numbers* numbers, Memories* memories);
  void run();

 private:
  bool readSteps(Numbers* numbers, size_t count);
  bool readOutputs(Numbers* numbers, Memories* memories, size_t count);
  void order();
  void joinAxes();
  void placeRegisters();
  bool mayOverlap(const Span& a, const Span& b) const;
  void runChunks(size_t first, size_t last, uint8_t* scratch) const;
  void runChunk(int64_t start, int64_t length, uint8_t* scratch) const;
  void copySpan(const Span& span, uint8_t* chunk, int64_t start, int64_t length, bool isToSpan) const;
  uint8_t* at(const Span& span, int64_t index) const;
  bool isNext(const Span& span) const {
    return shape_.rank == 0 || span.strides[shape_.rank - 1] == static_cast<int64_t>(kWidths[span.dtype]);
  }

  Shape shape_;
  size_t threads_ = 1;
  std::vector<Span> inputs_;
  std::vector<Constant> constants_;
  std::vector<Register> registers_;
  std::vector<Step> steps_;
  std::vector<Output> outputs_;
  size_t slots_ = 0;
  size_t slotBytes_ = 0;
  size_t chunk_ = 1;  // elements of a register
  int64_t run_ = 1;            // neighbouring elements of the last axis
  int64_t chunksOfRun_ = 1;    // chunks that a run is cut into
  bool crossesRuns_ = false;   // a chunk holds elements of several runs
};

bool Program::read(Numbers* numbers, Memories* memories) {
  threads_ = static_cast<size_t>(numbers->integer(1, kThreadsMax));
  shape_.read(numbers);
  const auto inputs = static_cast<size_t>(numbers->integer(0, 1024));
  const auto constants = static_cast<size_t>(numbers->integer(0, 1024));
  const auto steps = static_cast<size_t>(numbers->integer(0, 4096));
  const auto outputs = static_cast<size_t>(numbers->integer(0, 1024));
  if (!numbers->ok()) return false;
  inputs_.resize(inputs);
  for (Span& input : inputs_) {
    input = memories->span(numbers, shape_);
    Register each;
    each.type = input.dtype;
    each.span = &input;
    registers_.push_back(each);
  }
  for (size_t index = 0; index < constants && numbers->ok(); index++) {
    Constant constant;
    constant.type = numbers->dtype();
    constant.bits[0] = numbers->raw();
    constant.bits[1] = numbers->raw();
    constants_.push_back(constant);
    Register each;
    each.type = constant.type;
    registers_.push_back(each);
  }
  return numbers->ok() && readSteps(numbers, steps) && readOutputs(numbers, memories, outputs);
}

static size_t operandsOf(Operation operation) {
  if (operation == op_where) return 3;
  return operation <= op_greater_equal ? 2 : 1;
}

bool Program::readSteps(Numbers* numbers, size_t count) {
  for (size_t index = 0; index < count; index++) {
    Step step;
    const auto operation = static_cast<Operation>(numbers->integer(0, kOperations - 1));
    const DType from = numbers->dtype();
    const DType to = numbers->dtype();
    if (!numbers->ok()) return false;
    for (size_t operand = 0; operand < operandsOf(operation); operand++) {
      const auto number = static_cast<size_t>(numbers->integer(0, static_cast<int64_t>(registers_.size()) - 1));
      if (!numbers->ok()) return false;
      const DType expected = operation == op_where && operand == 0 ? kBool : from;
      if (registers_[number].type != expected) return false;
      registers_[number].lastUse = index;
      step.operands[operand] = static_cast<int>(number);
    }
    step.kernel = operation == op_cast ? kernels().casts[from][to] : kernels().elementwise[operation][from];
    if (step.kernel == nullptr || (operation != op_cast && resultOf(operation, from) != to)) return false;
    step.result = registers_.size();
    Register result;
    result.type = to;
    result.lastUse = index;
    registers_.push_back(result);
    steps_.push_back(step);
  }
  return true;
}

bool Program::readOutputs(Numbers* numbers, Memories* memories, size_t count) {
  for (size_t index = 0; index < count; index++) {
    Output output;
    output.number = static_cast<size_t>(numbers->integer(0, static_cast<int64_t>(registers_.size()) - 1));
    output.span = memories->span(numbers, shape_);
    if (!numbers->ok() || registers_[output.number].type != output.span.dtype) return false;
    registers_[output.number].lastUse = steps_.size();
    outputs_.push_back(output);
  }
  return true;
}

// The axes in the order of the first output's strides, so that the last is the one of neighbours.
void Program::order() {
  const Span* const leading = outputs_.empty() ? nullptr : &outputs_[0].span;
  if (leading == nullptr) return;
  size_t axes[kAxesMax];
  for (size_t axis = 0; axis < shape_.rank; axis++) axes[axis] = axis;
  const auto reach = [&](size_t axis) { return std::abs(leading->strides[axis]); };
  // Axes of one element have stride 0 and stay out of the way in front.
  std::stable_sort(axes, axes + shape_.rank, [&](size_t a, size_t b) {
    if ((shape_.extents[a] == 1) != (shape_.extents[b] == 1)) return shape_.extents[a] == 1;
    return reach(a) > reach(b);
  });
  const auto permute = [&](int64_t* values) {
    int64_t before[kAxesMax];
    std::copy(values, values + shape_.rank, before);
    for (size_t axis = 0; axis < shape_.rank; axis++) values[axis] = before[axes[axis]];
  };
  permute(shape_.extents);
  for (Span& input : inputs_) permute(input.strides);
  for (Output& output : outputs_) permute(output.span.strides);
}

// Makes one axis of neighbouring axes that every block walks as one.
void Program::joinAxes() {
  size_t rank = 0;
  for (size_t axis = 0; axis < shape_.rank; axis++) {
    if (shape_.extents[axis] == 1) continue;
    const auto joins = [&](const Span& span) {
      return span.strides[rank - 1] == span.strides[axis] * shape_.extents[axis];
    };
    const bool isOne = rank > 0 && std::all_of(inputs_.begin(), inputs_.end(), joins) &&
                       std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& o) { return joins(o.span); });
    const size_t to = isOne ? rank - 1 : rank++;
    shape_.extents[to] = isOne ? shape_.extents[to] * shape_.extents[axis] : shape_.extents[axis];
    for (Span& input : inputs_) input.strides[to] = input.strides[axis];
    for (Output& output : outputs_) output.span.strides[to] = output.span.strides[axis];
  }
  shape_.rank = rank;
}

bool Program::mayOverlap(const Span& a, const Span& b) const {
  const auto range = [&](const Span& span) {
    auto first = reinterpret_cast<uintptr_t>(span.first), last = first + kWidths[span.dtype];
    for (size_t axis = 0; axis < shape_.rank; axis++) {
      const int64_t reach = span.strides[axis] * (shape_.extents[axis] - 1);
      (reach < 0 ? first : last) += static_cast<uintptr_t>(reach);
    }
    return std::make_pair(first, last);
  };
  const auto [firstA, lastA] = range(a);
  const auto [firstB, lastB] = range(b);
  return firstA < lastB && firstB < lastA;
}

// Which registers lie in the operands and results themselves, and which where in the scratch memory.
void Program::placeRegisters() {
  for (Register& each : registers_)
    if (each.span != nullptr) each.isDirect = !crossesRuns_ && isNext(*each.span);
  for (Output& output : outputs_) {
    Register& from = registers_[output.number];
    const bool isStep = output.number >= inputs_.size() + constants_.size();
    if (!isStep || from.span != nullptr || crossesRuns_ || !isNext(output.span)) continue;
    // The last step has read all operands when it writes. Others may only write where nobody reads.
    const bool isLast = output.number + 1 == registers_.size();
    const auto overlaps = [&](const Span& other) { return mayOverlap(other, output.span); };
    const bool isAlone =
        std::none_of(inputs_.begin(), inputs_.end(), overlaps) &&
        std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& o) { return &o == &output || !overlaps(o.span); });
    if (!isAlone && !(isLast && outputs_.size() == 1)) continue;
    output.isDirect = true;
    from.span = &output.span;
    from.isDirect = true;
  }
  std::vector<size_t> unused;
  const auto take = [&] {
    if (unused.empty()) return slots_++;
    const size_t slot = unused.back();
    unused.pop_back();
    return slot;
  };
  for (size_t number = 0; number < inputs_.size() + constants_.size(); number++)
    if (!registers_[number].isDirect) registers_[number].slot = take();
  for (size_t index = 0; index < steps_.size(); index++) {
    Register& result = registers_[steps_[index].result];
    if (!result.isDirect) result.slot = take();
    for (size_t number = inputs_.size() + constants_.size(); number <= steps_[index].result; number++) {
      const Register& each = registers_[number];
      if (!each.isDirect && each.lastUse == index) unused.push_back(each.slot);
    }
  }
}

uint8_t* Program::at(const Span& span, int64_t index) const {
  uint8_t* place = span.first;
  for (size_t axis = shape_.rank; axis-- > 0;) {
    place += index % shape_.extents[axis] * span.strides[axis];
    index /= shape_.extents[axis];
  }
  return place;
}

void Program::copySpan(const Span& span, uint8_t* chunk, int64_t start, int64_t length, bool isToSpan) const {
  const size_t width = kWidths[span.dtype];
  const int64_t stride = shape_.rank == 0 ? 0 : span.strides[shape_.rank - 1];
  while (length > 0) {
    const int64_t count = std::min(length, run_ - start % run_);
    uint8_t* const place = at(span, start);
    if (isToSpan) copyElements(width, place, stride, chunk, static_cast<int64_t>(width), static_cast<size_t>(count));
    else copyElements(width, chunk, static_cast<int64_t>(width), place, stride, static_cast<size_t>(count));
    chunk += count * static_cast<int64_t>(width);
    start += count;
    length -= count;
  }
}

void Program::runChunk(int64_t start, int64_t length, uint8_t* scratch) const {
  const auto place = [&](size_t number) {
    const Register& each = registers_[number];
    return each.isDirect ? at(*each.span, start) : scratch + each.slot * slotBytes_;
  };
  for (size_t number = 0; number < inputs_.size(); number++)
    if (!registers_[number].isDirect) copySpan(inputs_[number], place(number), start, length, false);
  for (const Step& step : steps_) {
    const void* operands[3] = {};
    for (size_t operand = 0; operand < 3 && step.operands[operand] >= 0; operand++)
      operands[operand] = place(static_cast<size_t>(step.operands[operand]));
    step.kernel(place(step.result), operands[0], operands[1], operands[2], static_cast<size_t>(length));
  }
  for (const Output& output : outputs_)
    if (!output.isDirect) copySpan(output.span, place(output.number), start, length, true);
}

void Program::runChunks(size_t first, size_t last, uint8_t* scratch) const {
  const auto chunk = static_cast<int64_t>(chunk_);
  for (auto each = static_cast<int64_t>(first); each < static_cast<int64_t>(last); each++) {
    if (crossesRuns_) {
      runChunk(each * chunk, std::min(chunk, shape_.size - each * chunk), scratch);
      continue;
    }
    const int64_t within = each % chunksOfRun_ * chunk;
    runChunk(each / chunksOfRun_ * run_ + within, std::min(chunk, run_ - within), scratch);
  }
}

void Program::run() {
  if (shape_.size == 0) return;
  order();
  joinAxes();
  run_ = shape_.rank == 0 ? 1 : shape_.extents[shape_.rank - 1];
  crossesRuns_ = run_ < kRunMin && run_ < shape_.size;
  placeRegisters();
  size_t width = 1;
  for (const Register& each : registers_) width = std::max(width, kWidths[each.type]);
  chunk_ = std::min((slots_ == 0 ? kDirectChunkBytes : kChunkBytes) / width, static_cast<size_t>(shape_.size));
  const auto chunk = static_cast<int64_t>(chunk_);
  chunksOfRun_ = (run_ + chunk - 1) / chunk;
  const int64_t chunks = crossesRuns_ ? (shape_.size + chunk - 1) / chunk : shape_.size / run_ * chunksOfRun_;
  const int64_t work = shape_.size / kThreadWork * static_cast<int64_t>(steps_.size() + 1);
  const size_t threads = work < 2 ? 1 : std::min(threads_, static_cast<size_t>(work));
  const size_t pieces = threads == 1 ? 1 : std::min(static_cast<size_t>(chunks), threads * 8);
  // Not a multiple of 4096: a load would seem to wait for a store at the same place of another page.
  slotBytes_ = (chunk_ * width + 63) / 64 * 64 + 320;
  const size_t scratchBytes = slots_ * slotBytes_ + 64;
  auto body = [&](size_t piece) {
    std::unique_ptr<uint8_t[]> memory(new uint8_t[scratchBytes]);
    auto* const scratch = memory.get() + (64 - reinterpret_cast<uintptr_t>(memory.get()) % 64) % 64;
    for (size_t index = 0; index < constants_.size(); index++)
      fill(scratch + registers_[inputs_.size() + index].slot * slotBytes_, constants_[index], chunk_);
    const auto all = static_cast<size_t>(chunks);
    runChunks(all * piece / pieces, all * (piece + 1) / pieces, scratch);
  };
  inParallel(pieces, threads, body);
}

}  // namespace

// runArrayProgram(numbers, memories): numbers are those of src/arrays/kernels/native.ts.
static napi_value RunArrayProgram(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Numbers numbers(&arguments, 0);
  Memories memories(&arguments, 1);
  if (!arguments.ok()) return nullptr;
  Program program;
  if (!program.read(&numbers, &memories)) return throwNumbers(env);
  program.run();
  return nullptr;
}

// arrayKernels(): the names of the operations in their order, and which have a kernel for which type: one byte for each
// operation and type, then one for each pair of types that cast takes.
static napi_value ArrayKernels(napi_env env, napi_callback_info) {
  static const char* const names[] = {
#define AETHER_NAME(name) #name,
      AETHER_ARRAY_OPERATIONS(AETHER_NAME)
#undef AETHER_NAME
  };
  napi_value result = nullptr, list = nullptr, buffer = nullptr, table = nullptr;
  napi_create_object(env, &result);
  napi_create_array_with_length(env, kOperations, &list);
  for (uint32_t index = 0; index < kOperations; index++) {
    napi_value name = nullptr;
    napi_create_string_utf8(env, names[index], NAPI_AUTO_LENGTH, &name);
    napi_set_element(env, list, index, name);
  }
  void* data = nullptr;
  constexpr size_t length = (kOperations + kDTypes) * kDTypes;
  napi_create_arraybuffer(env, length, &data, &buffer);
  auto* byte = static_cast<uint8_t*>(data);
  for (const auto& row : kernels().elementwise)
    for (const Kernel kernel : row) *byte++ = kernel != nullptr;
  for (const auto& row : kernels().casts)
    for (const Kernel kernel : row) *byte++ = kernel != nullptr;
  napi_create_typedarray(env, napi_uint8_array, length, buffer, 0, &table);
  napi_set_named_property(env, result, "operations", list);
  napi_set_named_property(env, result, "table", table);
  return result;
}

void registerArrayPrograms(napi_env env, napi_value exports) {
  define(env, exports, "runArrayProgram", RunArrayProgram);
  define(env, exports, "arrayKernels", ArrayKernels);
}

}  // namespace aether
