import type { Host } from './host.ts'
import type { LineWrite, MemoryBlock } from './memory-block.ts'
import type { PieceList } from './piece-list.ts'
import type { Stream } from './stream.ts'

const LINE_BYTES = 64

/**
 * The adapter's access to memory, in lines of 64 bytes. Each line is read or written at a moment of its own. So a
 * program or another adapter in between may see some lines changed and others not. A line itself is never torn.
 */
export class Dma {
  readonly #host: Host
  readonly #writing: Stream
  readonly #reading: Stream

  constructor(host: Host) {
    this.#host = host
    this.#writing = host.kernel.stream('tear.write')
    this.#reading = host.kernel.stream('tear.read')
  }

  /** Write `bytes` there from `fromNs` on. Returns the time when the last line is in memory. */
  place(fromNs: number, list: PieceList, bytes: Uint8Array): number {
    return this.#walk(this.#writing, fromNs, list, (block, offset, at, length, atNs) => {
      const write = new Landing(this.#host, block, offset, bytes.subarray(at, at + length))
      block.landing.add(write)
      this.#host.kernel.at(atNs, () => write.land())
    })
  }

  /** Read the bytes from `fromNs` on into `into`. Returns the time when the last line is read. */
  sample(fromNs: number, list: PieceList, into: Uint8Array): number {
    return this.#walk(this.#reading, fromNs, list, (block, offset, at, length, atNs) => {
      this.#host.kernel.at(atNs, () => into.set(block.bytes.subarray(offset, offset + length), at))
    })
  }

  /** Call `line` for each line, with its own moment. */
  #walk(
    stream: Stream,
    fromNs: number,
    list: PieceList,
    line: (block: MemoryBlock, offset: number, at: number, length: number, atNs: number) => void,
  ): number {
    const { kernel, adapter } = this.#host
    const lineNs = this.#host.adapterNs(adapter.lineNs)
    const torn = list.total > LINE_BYTES && stream.chance(adapter.tear)
    let atNs = Math.max(fromNs, kernel.nowNs)
    let lastNs = atNs
    let done = 0
    for (const { block, offset, length } of list.pieces) {
      for (let at = 0; at < length; ) {
        const run = Math.min(length - at, LINE_BYTES - ((block.address + offset + at) % LINE_BYTES))
        atNs += lineNs
        const ownNs = torn ? atNs + this.#anywhere(stream) : atNs
        lastNs = Math.max(lastNs, ownNs)
        line(block, offset + at, done, run, ownNs)
        at += run
        done += run
      }
    }
    return lastNs
  }

  #anywhere(stream: Stream): number {
    return this.#host.adapterNs(stream.between(0, this.#host.adapter.tearNs))
  }
}

class Landing implements LineWrite {
  readonly #host: Host
  readonly #block: MemoryBlock
  readonly #offset: number
  readonly #bytes: Uint8Array

  constructor(host: Host, block: MemoryBlock, offset: number, bytes: Uint8Array) {
    this.#host = host
    this.#block = block
    this.#offset = offset
    this.#bytes = bytes
  }

  land(): void {
    if (!this.#block.landing.delete(this)) return
    this.#block.bytes.set(this.#bytes, this.#offset)
    this.#host.changes += 1
  }
}
