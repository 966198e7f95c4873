/**
 * Both ends of rping(1), as rdma-core's librdmacm/examples/rping.c talks: each turn the client advertises its text, the
 * server READs it and says go on; the client advertises an empty buffer, the server WRITEs the text there and says go
 * on. All messages have 16 bytes.
 */
import assert from 'node:assert/strict'
import type { Connection } from '../../../src/cm/index.ts'
import {
  Access,
  CompletionError,
  CompletionStatus,
  type MemoryRegion,
  type QueuePair,
} from '../../../src/verbs/index.ts'

const MESSAGE_BYTES = 16
const ALL_RIGHTS = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite

/** One end: a buffer for what comes, one for what goes, one for the text. */
export class RpingEnd {
  readonly #memory: MemoryRegion
  readonly #pair: QueuePair
  #arriving: Promise<unknown>

  /** Made while the queue pair is being prepared: the first message may come as soon as it is ready. */
  constructor(pair: QueuePair) {
    this.#pair = pair
    this.#memory = pair.domain.allocate(8192, ALL_RIGHTS)
    this.#arriving = this.#receive()
  }

  /** `count` turns as the server; resolves to what the client pinged. */
  async serve(count: number): Promise<string[]> {
    const texts: string[] = []
    for (let turn = 0; turn < count; turn += 1) {
      const source = await this.#advertised()
      await this.#pair.read({ local: this.#text(source.length), remote: source })
      await this.#send()
      const sink = await this.#advertised()
      const length = this.#text(source.length).bytes.indexOf(0) + 1
      texts.push(new TextDecoder().decode(Uint8Array.from(this.#text(length - 1).bytes)))
      await this.#pair.write({ local: this.#text(length), remote: sink })
      // After the last message the client disconnects at once, which may overtake its acknowledgement: then the request
      // is flushed though it has arrived, as the client's exit status says.
      if (turn === count - 1) await this.#send().catch(unlessFlushed)
      else await this.#send()
    }
    return texts
  }

  /** `count` turns as the client, each checked. */
  async ping(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      const text = `aether-ping-${turn}\0`.padEnd(63, 'x')
      const source = this.#memory.subarray(4096, 4096 + 64)
      source.bytes.set(new TextEncoder().encode(`${text}\0`))
      this.#advertise(source.address)
      await this.#send()
      await this.#message()
      this.#text(64).bytes.fill(0)
      this.#advertise(this.#text(64).address)
      await this.#send()
      await this.#message()
      const got = new TextDecoder().decode(Uint8Array.from(this.#text(64).bytes)).split('\0')[0]
      assert.equal(got, text.split('\0')[0])
    }
  }

  #text(length: number): ReturnType<MemoryRegion['subarray']> {
    return this.#memory.subarray(1024, 1024 + length)
  }

  #advertise(address: number): void {
    const view = new DataView(this.#memory.bytes.buffer, this.#memory.bytes.byteOffset + MESSAGE_BYTES)
    view.setBigUint64(0, BigInt(address))
    view.setUint32(8, this.#memory.remoteKey)
    view.setUint32(12, 64)
  }

  async #advertised(): Promise<{ readonly address: number; readonly key: number; readonly length: number }> {
    await this.#arriving
    const view = new DataView(this.#memory.bytes.buffer, this.#memory.bytes.byteOffset)
    const remote = { address: Number(view.getBigUint64(0)), key: view.getUint32(8), length: view.getUint32(12) }
    this.#arriving = this.#receive()
    return remote
  }

  async #message(): Promise<void> {
    await this.#arriving
    this.#arriving = this.#receive()
  }

  #receive(): Promise<unknown> {
    const receiving = this.#pair.receive({ local: this.#memory.subarray(0, MESSAGE_BYTES) })
    // The last one is flushed when the connection ends.
    receiving.catch(() => undefined)
    return receiving
  }

  #send(): Promise<unknown> {
    return this.#pair.send({ local: this.#memory.subarray(MESSAGE_BYTES, 2 * MESSAGE_BYTES) })
  }
}

function unlessFlushed(error: unknown): void {
  if (!(error instanceof CompletionError && error.status === CompletionStatus.WorkRequestFlushed)) throw error
}

/** Try again while nobody listens yet: a program has no way to say that it does. */
export async function whenListening(attempt: () => Promise<Connection>): Promise<Connection> {
  for (let left = 200; ; left -= 1) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || (error as { readonly reason?: string }).reason !== 'no-listener') throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
