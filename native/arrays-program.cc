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
// A result of this many bytes is written past the caches. They would not keep it: until the collector has run, each
// result lies in other memory. Else a line would be read before it is written, and would push out one of an operand.
constexpr int64_t kStreamedBytes = 1 << 17;
// Rows that are computed together where an operand's neighbours are those of a column: a line of its memory serves all.
constexpr int64_t kTileRows = 16;
// A run of fewer neighbouring elements is not worth a chunk of its own.
constexpr int64_t kRunMin = 64;
// What one thread does at least, in elements times steps.
constexpr int64_t kThreadWork = 1 << 18;

struct Register {
  DType type = kBool;
  // Of an input or output: where its elements lie. Else in the scratch memory, `slot` registers from the start.
  const Span* span = nullptr;
  bool isDirect = false;
  // In the scratch memory, a register for each row of a tile.
  bool isTile = false;
  size_t slot = 0;
  size_t lastUse = 0;
};

struct Step {
  Operation operation = op_cast;
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
  // Elements lie next to each other, and are written past the caches.
  bool isStreamed = false;
};

void fill(uint8_t* out, const Constant& constant, size_t count) {
  const size_t width = kWidths[constant.type];
  for (size_t i = 0; i < count; i++) memcpy(out + i * width, constant.bits, width);
}

template <class T>
void copyStrided(uint8_t* out, int64_t outStride, const uint8_t* from, int64_t fromStride, size_t count) {
  if (fromStride == 0 && outStride == static_cast<int64_t>(sizeof(T))) {
    T value;
    memcpy(&value, from, sizeof(T));
    for (size_t i = 0; i < count; i++) memcpy(out + i * sizeof(T), &value, sizeof(T));
    return;
  }
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

// Rows from columns: out[row][column] = from[column][row], of which the neighbours in memory are those of a column.
template <class T>
void copyTile(uint8_t* out, size_t outRow, const uint8_t* from, int64_t rowStride, int64_t columnStride, size_t rows,
              size_t columns) {
  // Few columns at a time would wait for memory: those after them are asked for.
  constexpr int64_t ahead = 24;
  for (size_t column = 0; column < columns; column++, from += columnStride, out += sizeof(T)) {
    const uint8_t* const later = from + ahead * columnStride;
    __builtin_prefetch(later);
    __builtin_prefetch(later + static_cast<int64_t>(rows - 1) * rowStride);
    uint8_t* to = out;
    const uint8_t* read = from;
    for (size_t row = 0; row < rows; row++, to += outRow, read += rowStride) memcpy(to, read, sizeof(T));
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
  void placeRegisters(size_t width);
  void chooseTiles();
  bool mayOverlap(const Span& a, const Span& b) const;
  void runUnits(int64_t first, int64_t last, uint8_t* scratch) const;
  void runChunk(int64_t start, int64_t length, uint8_t* const* places) const;
  void readTiles(int64_t start, int64_t rows, int64_t length, uint8_t* scratch) const;
  void copySpan(const Span& span, uint8_t* chunk, int64_t start, int64_t length, bool isToSpan) const;
  uint8_t* at(const Span& span, int64_t index) const;
  // In front of the registers in the scratch memory: where each register and each output lies, and its elements' width.
  size_t placeBytes() const { return ((registers_.size() + outputs_.size()) * 16 + 63) / 64 * 64; }
  int64_t step(const Span& span) const { return shape_.rank == 0 ? 0 : span.strides[shape_.rank - 1]; }
  // Do the elements of each chunk lie next to each other?
  bool isNext(const Span& span) const {
    if (crossesRuns_) return span.isWhole(shape_);
    return shape_.rank == 0 || step(span) == static_cast<int64_t>(kWidths[span.dtype]);
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
  int64_t chunk_ = 1;         // elements of a register
  int64_t run_ = 1;           // neighbouring elements of the last axis
  int64_t chunksOfRun_ = 1;   // chunks that a run is cut into
  int64_t tileRows_ = 1;      // runs that are computed together
  bool crossesRuns_ = false;  // a chunk holds elements of several runs
  bool isStreaming_ = false;
};

bool Program::read(Numbers* numbers, Memories* memories) {
  // One program after another has the same lists, which keep their memory.
  inputs_.clear();
  constants_.clear();
  registers_.clear();
  steps_.clear();
  outputs_.clear();
  slots_ = 0;
  tileRows_ = 1;
  isStreaming_ = false;
  threads_ = static_cast<size_t>(numbers->integer(1, kThreadsMax));
  shape_.read(numbers);
  const auto inputs = static_cast<size_t>(numbers->integer(0, 1024));
  const auto constants = static_cast<size_t>(numbers->integer(0, 1024));
  const auto steps = static_cast<size_t>(numbers->integer(0, 4096));
  const auto outputs = static_cast<size_t>(numbers->integer(0, 1024));
  if (!numbers->ok()) return false;
  inputs_.resize(inputs);
  for (Span& input : inputs_) {
    memories->read(numbers, shape_, &input);
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
    step.operation = operation;
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
    outputs_.emplace_back();
    Output& output = outputs_.back();
    output.number = static_cast<size_t>(numbers->integer(0, static_cast<int64_t>(registers_.size()) - 1));
    memories->read(numbers, shape_, &output.span);
    if (!numbers->ok() || registers_[output.number].type != output.span.dtype) return false;
    registers_[output.number].lastUse = steps_.size();
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
  const auto isBefore = [&](size_t a, size_t b) {
    if ((shape_.extents[a] == 1) != (shape_.extents[b] == 1)) return shape_.extents[a] == 1;
    return reach(a) > reach(b);
  };
  if (std::is_sorted(axes, axes + shape_.rank, isBefore)) return;
  std::stable_sort(axes, axes + shape_.rank, isBefore);
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
void Program::placeRegisters(size_t width) {
  for (Register& each : registers_)
    if (each.span != nullptr) each.isDirect = isNext(*each.span);
  for (Output& output : outputs_) {
    Register& from = registers_[output.number];
    output.isStreamed = isStreaming_ && isNext(output.span) && 2 * kWidths[output.span.dtype] >= width;
    const bool isStep = output.number >= inputs_.size() + constants_.size();
    if (!isStep || from.span != nullptr || !isNext(output.span)) continue;
    // The last step has read all operands when it writes. Others may only write where nobody reads.
    const bool isLast = output.number + 1 == registers_.size();
    const auto overlaps = [&](const Span& other) { return mayOverlap(other, output.span); };
    const bool isAlone =
        std::none_of(inputs_.begin(), inputs_.end(), overlaps) &&
        std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& o) { return &o == &output || !overlaps(o.span); });
    if (!isAlone && !(isLast && outputs_.size() == 1)) continue;
    if (output.isStreamed) {
      Step& step = steps_[output.number - inputs_.size() - constants_.size()];
      const Kernel streamed = kernels().streamed(step.operation, output.span.dtype);
      if (streamed == nullptr) continue;
      step.kernel = streamed;
      output.isStreamed = false;
    }
    output.isDirect = true;
    from.span = &output.span;
    from.isDirect = true;
  }
  chooseTiles();
  std::vector<size_t> unused;
  const auto take = [&] {
    if (unused.empty()) return slots_++;
    const size_t slot = unused.back();
    unused.pop_back();
    return slot;
  };
  for (size_t number = 0; number < inputs_.size() + constants_.size(); number++)
    if (registers_[number].isTile) {
      registers_[number].slot = slots_;
      slots_ += static_cast<size_t>(tileRows_);
    } else if (!registers_[number].isDirect) {
      registers_[number].slot = take();
    }
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
  for (size_t axis = shape_.rank; index != 0 && axis-- > 0; index /= shape_.extents[axis])
    place += index % shape_.extents[axis] * span.strides[axis];
  return place;
}

void Program::copySpan(const Span& span, uint8_t* chunk, int64_t start, int64_t length, bool isToSpan) const {
  const size_t width = kWidths[span.dtype];
  const int64_t stride = step(span);
  int64_t indices[kAxesMax] = {};
  uint8_t* place = span.first;
  for (size_t axis = shape_.rank; axis-- > 0; start /= shape_.extents[axis]) {
    indices[axis] = start % shape_.extents[axis];
    place += indices[axis] * span.strides[axis];
  }
  const size_t axis = shape_.rank;
  while (length > 0) {
    const int64_t count = std::min(length, axis == 0 ? int64_t{1} : run_ - indices[axis - 1]);
    if (isToSpan) copyElements(width, place, stride, chunk, static_cast<int64_t>(width), static_cast<size_t>(count));
    else copyElements(width, chunk, static_cast<int64_t>(width), place, stride, static_cast<size_t>(count));
    chunk += count * static_cast<int64_t>(width);
    length -= count;
    // To the start of the next run.
    for (size_t turning = axis; length > 0 && turning-- > 0;) {
      const int64_t by = turning + 1 == axis ? count : 1;
      place += by * span.strides[turning];
      indices[turning] += by;
      if (indices[turning] < shape_.extents[turning]) break;
      place -= indices[turning] * span.strides[turning];
      indices[turning] = 0;
    }
  }
}

// Operands whose neighbours are those of the axis before the last are read for several runs at once.
void Program::chooseTiles() {
  if (crossesRuns_ || shape_.rank < 2 || shape_.extents[shape_.rank - 2] < kTileRows) return;
  for (size_t number = 0; number < inputs_.size(); number++) {
    const Span& input = inputs_[number];
    const auto width = static_cast<int64_t>(kWidths[input.dtype]);
    registers_[number].isTile = std::abs(input.strides[shape_.rank - 2]) == width && std::abs(step(input)) > width;
    if (registers_[number].isTile) tileRows_ = kTileRows;
  }
}

void Program::readTiles(int64_t start, int64_t rows, int64_t length, uint8_t* scratch) const {
  for (size_t number = 0; number < inputs_.size(); number++) {
    const Register& each = registers_[number];
    if (!each.isTile) continue;
    const int64_t row = each.span->strides[shape_.rank - 2], column = step(*each.span);
    const auto copy = [&](auto sample) {
      copyTile<decltype(sample)>(scratch + each.slot * slotBytes_, slotBytes_, at(*each.span, start), row, column,
                                 static_cast<size_t>(rows), static_cast<size_t>(length));
    };
    switch (kWidths[each.type]) {
      case 1: copy(uint8_t{}); break;
      case 2: copy(uint16_t{}); break;
      case 4: copy(uint32_t{}); break;
      case 8: copy(uint64_t{}); break;
      default: copy(Sixteen{});
    }
  }
}

// `places` are those of the registers, then those of the outputs that are streamed.
void Program::runChunk(int64_t start, int64_t length, uint8_t* const* places) const {
  const auto count = static_cast<size_t>(length);
  for (size_t number = 0; number < inputs_.size(); number++)
    if (!registers_[number].isDirect && !registers_[number].isTile)
      copySpan(inputs_[number], places[number], start, length, false);
  for (const Step& step : steps_) {
    const auto operand = [&](size_t which) {
      return step.operands[which] < 0 ? nullptr : places[step.operands[which]];
    };
    step.kernel(places[step.result], operand(0), operand(1), operand(2), count);
  }
  for (size_t index = 0; index < outputs_.size(); index++) {
    const Output& output = outputs_[index];
    uint8_t* const from = places[output.number];
    if (output.isStreamed)
      kernels().stream(places[registers_.size() + index], from, count * kWidths[output.span.dtype]);
    else if (!output.isDirect) copySpan(output.span, from, start, length, true);
  }
}

// A unit is a chunk, or the chunks of a tile's runs that lie one below the other.
void Program::runUnits(int64_t first, int64_t last, uint8_t* scratch) const {
  const size_t registers = registers_.size(), all = registers + outputs_.size();
  auto* const places = reinterpret_cast<uint8_t**>(scratch);
  auto* const widths = reinterpret_cast<int64_t*>(places + all);
  scratch += placeBytes();
  for (size_t number = 0; number < registers; number++) {
    const Register& each = registers_[number];
    places[number] = scratch + each.slot * slotBytes_;
    widths[number] = each.isDirect ? static_cast<int64_t>(kWidths[each.type]) : 0;
  }
  for (size_t index = 0; index < outputs_.size(); index++)
    widths[registers + index] = outputs_[index].isStreamed ? static_cast<int64_t>(kWidths[outputs_[index].span.dtype]) : 0;
  const auto locate = [&](int64_t start) {
    for (size_t number = 0; number < all; number++)
      if (widths[number] != 0)
        places[number] = at(number < registers ? *registers_[number].span : outputs_[number - registers].span, start);
  };
  const int64_t rowsMax = shape_.rank < 2 || tileRows_ == 1 ? 1 : shape_.extents[shape_.rank - 2];
  const int64_t tiles = (rowsMax + tileRows_ - 1) / tileRows_;
  int64_t before = 0;
  for (int64_t unit = first; unit < last; unit++) {
    if (crossesRuns_) {
      locate(unit * chunk_);
      runChunk(unit * chunk_, std::min(chunk_, shape_.size - unit * chunk_), places);
      continue;
    }
    const int64_t within = unit % chunksOfRun_ * chunk_, tile = unit / chunksOfRun_;
    const int64_t row = tileRows_ == 1 ? tile : tile / tiles * rowsMax + tile % tiles * tileRows_;
    const int64_t rows = tileRows_ == 1 ? 1 : std::min(tileRows_, rowsMax - tile % tiles * tileRows_);
    const int64_t length = std::min(chunk_, run_ - within);
    if (tileRows_ > 1) readTiles(row * run_ + within, rows, length, scratch);
    for (int64_t each = 0; each < rows; each++) {
      if (tileRows_ > 1 || within == 0 || unit == first) locate((row + each) * run_ + within);
      else
        for (size_t number = 0; number < all; number++) places[number] += before * widths[number];
      for (size_t number = 0; number < inputs_.size(); number++)
        if (registers_[number].isTile)
          places[number] = scratch + (registers_[number].slot + static_cast<size_t>(each)) * slotBytes_;
      runChunk((row + each) * run_ + within, length, places);
    }
    before = length;
  }
  if (isStreaming_) kernels().endStream();
}

void Program::run() {
  if (shape_.size == 0) return;
  order();
  joinAxes();
  run_ = shape_.rank == 0 ? 1 : shape_.extents[shape_.rank - 1];
  crossesRuns_ = run_ < kRunMin && run_ < shape_.size;
  size_t width = 1;
  for (const Register& each : registers_) width = std::max(width, kWidths[each.type]);
  for (const Output& output : outputs_)
    isStreaming_ |= shape_.size * static_cast<int64_t>(kWidths[output.span.dtype]) >= kStreamedBytes;
  isStreaming_ &= kernels().stream != nullptr;
  placeRegisters(width);
  const size_t bytes = slots_ == 0 ? kDirectChunkBytes : kChunkBytes;
  chunk_ = std::min(static_cast<int64_t>(bytes / width), shape_.size);
  chunksOfRun_ = (run_ + chunk_ - 1) / chunk_;
  int64_t tiles = shape_.size / run_;
  if (tileRows_ > 1) {
    const int64_t rows = shape_.extents[shape_.rank - 2];
    tiles = tiles / rows * ((rows + tileRows_ - 1) / tileRows_);
  }
  const int64_t units = crossesRuns_ ? (shape_.size + chunk_ - 1) / chunk_ : tiles * chunksOfRun_;
  const int64_t work = shape_.size / kThreadWork * static_cast<int64_t>(steps_.size() + 1);
  const size_t threads = work < 2 ? 1 : std::min(threads_, static_cast<size_t>(work));
  const size_t pieces = threads == 1 ? 1 : std::min(static_cast<size_t>(units), threads * 8);
  // Not a multiple of 4096: a load would seem to wait for a store at the same place of another page.
  slotBytes_ = (static_cast<size_t>(chunk_) * width + 63) / 64 * 64 + 320;
  const size_t scratchBytes = placeBytes() + slots_ * slotBytes_ + 64;
  auto body = [&](size_t piece) {
    // A program of one step needs no more.
    alignas(64) uint8_t few[1024];
    const bool isFew = scratchBytes <= sizeof few;
    std::unique_ptr<uint8_t[]> memory(isFew ? nullptr : new uint8_t[scratchBytes]);
    auto* const scratch = isFew ? few : memory.get() + (64 - reinterpret_cast<uintptr_t>(memory.get()) % 64) % 64;
    for (size_t index = 0; index < constants_.size(); index++)
      fill(scratch + placeBytes() + registers_[inputs_.size() + index].slot * slotBytes_, constants_[index],
           static_cast<size_t>(chunk_));
    const auto number = static_cast<int64_t>(piece), all = static_cast<int64_t>(pieces);
    runUnits(units * number / all, units * (number + 1) / all, scratch);
  };
  inParallel(pieces, threads, body);
}

// One for each thread: no JavaScript runs between its reading and its end.
__attribute__((noinline)) Program& ownProgram() {
  static thread_local Program program;
  return program;
}

}  // namespace

// runArrayProgram(numbers, memories): numbers are those of src/arrays/kernels/native.ts.
static napi_value RunArrayProgram(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Numbers numbers(&arguments, 0);
  Memories memories(&arguments, 1);
  if (!arguments.ok()) return nullptr;
  Program& program = ownProgram();
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
