import type { Codec } from '../../codecs/index.ts'
import { type ViewMemory, viewMemoryOf } from '../../dsm/index.ts'
import type { Heap } from '../heap/heap.ts'
import { LocalMemory } from '../memory/local-memory.ts'
import { ValueReader } from '../values/value-reader.ts'
import { KEY_BYTES_MAX, Key, type MapKey } from './key.ts'
import { BodyOffset } from './layout.ts'
import { program } from './look-up-program.ts'

/** There is no value. */
export const ABSENT = -1
/** Something that the program leaves to {@link MapCore}. */
export const ASK = -2

/** Where the program puts the entry's end of life and its value, and the longest value that it copies. */
const END_OFFSET = 2040
const VALUE_OFFSET = 2048
const VALUE_BYTES_MAX = 2048
const OWN_BYTES: number = VALUE_OFFSET + VALUE_BYTES_MAX + 64

type Program = (place: number, meta: number, isBounded: number) => number

let compiled: WebAssembly.Module | undefined

/**
 * Reads a value of a map in one call of WebAssembly. It does what {@link MapCore} does for short values while the table
 * is not being moved. It takes half the time. An atomic access is an instruction there, and a call in JavaScript.
 */
export class LookUp<V> {
  readonly #heap: Heap
  readonly #key: Key
  readonly #reader: ValueReader<V>
  readonly #run: Program
  readonly #end: Float64Array
  /** Where the map has its table, in the program's memory. */
  readonly #place: number

  /** Undefined if the heap's memory is not one that WebAssembly reaches. */
  static of<V>(heap: Heap, body: number, codec: Codec<V>): LookUp<V> | undefined {
    const bytes = heap.memory.view(0, heap.memory.lengthBytes)
    const reached = viewMemoryOf(bytes)
    if (reached === undefined) return undefined
    return new LookUp(heap, body, codec, bytes, reached)
  }

  private constructor(heap: Heap, body: number, codec: Codec<V>, bytes: Uint8Array, reached: ViewMemory) {
    const { memory, privateBegin } = reached
    const own = new Uint8Array(memory.buffer, privateBegin, OWN_BYTES)
    this.#heap = heap
    this.#key = new Key(heap.seed, own.subarray(0, KEY_BYTES_MAX + 8))
    this.#end = new Float64Array(memory.buffer, privateBegin + END_OFFSET, 1)
    this.#reader = new ValueReader(new LocalMemory(own), codec)
    this.#place = bytes.byteOffset + body + BodyOffset.Table
    compiled ??= new WebAssembly.Module(Buffer.from(program, 'base64'))
    const aether = {
      memory,
      heap: bytes.byteOffset | 0,
      own: privateBegin | 0,
      reservation: (bytes.byteOffset + heap.self.reservationPlace) | 0,
      seed: heap.seed | 0,
    }
    this.#run = new WebAssembly.Instance(compiled, { aether }).exports['lookUp'] as Program
  }

  /**
   * Find `key`. Returns how long its value is, which {@link value} then decodes, or {@link ABSENT}, or {@link ASK}.
   * `isBounded`: mark the entry as read recently.
   */
  find(key: MapKey, isBounded: boolean): number {
    const { epochs, left } = this.#heap
    // What holds an epoch for longer is left to who counts that.
    if (epochs.inside) return ASK
    this.#key.put(key)
    const found = this.#tryRun(isBounded ? 1 : 0)
    left.ring()
    return found >= 0 && this.#isOver() ? ABSENT : found
  }

  #isOver(): boolean {
    const end = this.#end[0]!
    return end !== 0 && end <= this.#heap.nowMs()
  }

  #tryRun(isBounded: number): number {
    try {
      return this.#run(this.#place, this.#key.meta, isBounded)
    } catch (error) {
      // Damaged memory, which names places outside of it. MapCore says what is wrong.
      this.#heap.self.reserve(0)
      if (error instanceof WebAssembly.RuntimeError) return ASK
      throw error
    }
  }

  /** The value that was found, of that many bytes. */
  value(lengthBytes: number): V {
    this.#reader.copy(VALUE_OFFSET, lengthBytes)
    return this.#reader.decode()
  }
}
