import { Buffer } from 'node:buffer'
import { native, PackedNumber } from '../../native/index.ts'
import type { CommandSpec } from '../commands/command.ts'
import { fitsArity } from '../commands/table.ts'
import { unpackCalls } from './shard-codec.ts'
import type { Call, PackedCalls } from './shard-command.ts'

/** Requests of one client that were packed. */
export interface PackedRequests {
  readonly specs: readonly CommandSpec[]
  /** Of each, without its name. */
  readonly argumentCounts: readonly number[]
  /** Their bytes in what the client has sent. */
  readonly lengthBytes: number
  /** They as calls, with names as they came. */
  calls(): readonly Call[]
}

/** Requests that are packed at once. */
const TOGETHER_MAX = 256
/** Of a pack that others may still go into. */
const CALLS_MAX = 512
const BYTES_MAX = 256 * 1024
/** Short ones are parts of what Node.js keeps for such, which takes a tenth of the time of memory of their own. */
const START_BYTES = 1024
const NOTHING = Buffer.alloc(0)
const numbers = new Int32Array(TOGETHER_MAX * PackedNumber.Count)

/**
 * Requests of clients of Redis on their way to the log: their bytes are copied once, and no objects are made of them.
 */
export class CallPack implements PackedCalls {
  #bytes: Buffer = NOTHING
  #lengthBytes = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#lengthBytes)
  }

  hasRoomFor(requests: Uint8Array): boolean {
    if (this.#count === 0) return true
    return this.#count + TOGETHER_MAX <= CALLS_MAX && this.#lengthBytes + requests.length <= BYTES_MAX
  }

  /**
   * Add the requests at the start of what a client has sent, up to the first that `specAt` does not know. Undefined,
   * and nothing is added, if none of them is a write. `specAt`: of the name that lies there.
   */
  add(
    requests: Uint8Array,
    specAt: (bytes: Uint8Array, start: number, length: number) => CommandSpec | undefined,
  ): PackedRequests | undefined {
    // What is packed is shorter than what came.
    this.#room(requests.length)
    const packed = this.#bytes.subarray(this.#lengthBytes)
    const count = native.packRequests(requests, packed, numbers)
    const specs: CommandSpec[] = []
    const argumentCounts: number[] = []
    let hasWrite = false
    let end = 0
    for (let at = 0; at < count * PackedNumber.Count; at += PackedNumber.Count) {
      const argumentCount = numbers[at + PackedNumber.ArgumentCount]!
      const spec = specAt(packed, end + 1, packed[end]!)
      if (spec === undefined || !fitsArity(spec, argumentCount)) break
      specs.push(spec)
      argumentCounts.push(argumentCount)
      hasWrite ||= spec.isWrite
      end = numbers[at + PackedNumber.CallEnd]!
    }
    if (!hasWrite) return undefined
    this.#lengthBytes += end
    this.#count += specs.length
    const last = (specs.length - 1) * PackedNumber.Count
    return {
      specs,
      argumentCounts,
      lengthBytes: numbers[last + PackedNumber.RequestEnd]!,
      calls: () => unpackCalls({ count: specs.length, bytes: packed.subarray(0, end) }),
    }
  }

  #room(lengthBytes: number): void {
    const needed = this.#lengthBytes + lengthBytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length, START_BYTES))
    this.#bytes.copy(larger, 0, 0, this.#lengthBytes)
    this.#bytes = larger
  }
}
