/**
 * Frames by a seed at a device: of peers before their proof, after it, and of peers that are not Aether. Nothing
 * crashes, nothing but the memory that they were given changes, nobody else notices, and every stream ends.
 */
import { strict as assert } from 'node:assert'
import process from 'node:process'
import { test } from 'node:test'
import { listen } from '../../../src/cm/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import type { MemoryRegion, QueuePair } from '../../../src/verbs/index.ts'
import { encodeFrame, ForeignPeer, Mpa } from '../../support/foreign-peer.ts'
import { FrameFuzzer, type FuzzedMemory } from '../../support/frame-fuzzer.ts'
import { IwarpPeer } from '../../support/iwarp-peer.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import { VictimDevice } from './victim-device.ts'

const FRAMES = Number(process.env['AETHER_TEST_FRAMES'] ?? 3000)
const SEED = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
const MARGIN = 4096
const LENGTH = 16_384
/** What no frame may touch. */
const GUARD = 0x5a
const GROWTH_BYTES_MAX = 64 << 20
const CHECK_EVERY = 50
const sanitized = process.env['ASAN_OPTIONS'] !== undefined

/** Memory for the frames, between two margins. */
class Fuzzed {
  readonly memory: MemoryRegion
  readonly remote: FuzzedMemory
  readonly #whole = new Uint8Array(new SharedArrayBuffer(LENGTH + 2 * MARGIN)).fill(GUARD)

  constructor(victim: VictimDevice) {
    this.memory = victim.domain.register(this.#whole.subarray(MARGIN, MARGIN + LENGTH), ALL_ACCESS)
    this.remote = { address: this.memory.address, key: this.memory.remoteKey, length: LENGTH }
  }

  /** Of all bytes if nothing at all may have changed. */
  check(all: boolean): void {
    const isGuard = (byte: number): boolean => byte === GUARD
    const margins = [this.#whole.subarray(0, MARGIN), this.#whole.subarray(MARGIN + LENGTH)]
    for (const bytes of all ? [this.#whole] : margins) assert.ok(bytes.every(isGuard), `seed ${SEED}`)
  }
}

/** Play conversations until the frames are through. */
async function play(victim: VictimDevice, one: (frames: number) => Promise<number>): Promise<void> {
  let left = FRAMES
  let before = 0
  for (let index = 0; left > 0; index += 1) {
    left -= await one(left)
    if (index % CHECK_EVERY !== 0) continue
    victim.checkAlive()
    // What the first conversations made stays.
    if (index === 2 * CHECK_EVERY) before = process.memoryUsage.rss()
  }
  victim.checkAlive()
  const grown = process.memoryUsage.rss() - before
  if (before > 0 && !sanitized) assert.ok(grown < GROWTH_BYTES_MAX, `seed ${SEED}: ${grown} bytes more`)
}

/** Requests that peers may answer: a READ by the name 1, an atomic by 2. */
function ask(victim: VictimDevice, pair: QueuePair): void {
  const remote = { address: 4096, key: 1 }
  const local = victim.memory.subarray(1024, 1032)
  for (const request of [
    pair.prepareWrite({ local, remote }),
    pair.prepareRead({ local, remote }),
    pair.prepareFetchAdd({ local, remote, add: 1n }),
    pair.prepareSend({ local }),
  ])
    request.post(1)
}

for (const proves of [false, true]) {
  test(`${FRAMES} frames of peers ${proves ? 'that have proved themselves' : 'before their proof'}`, async () => {
    console.log(`AETHER_TEST_SEED=${SEED}`)
    using victim = new VictimDevice()
    const random = new Random(SEED)
    const fuzzed = new Fuzzed(victim)
    await play(victim, async (most) => {
      const crc = random.below(2) === 0
      const pair = victim.target()
      using peer = await IwarpPeer.open(pair.endpoint, { crc })
      if (proves) {
        await peer.greet()
        ask(victim, pair)
      } else peer.write(peer.request())
      peer.ignore()
      const { bytes, frames } = new FrameFuzzer(random, fuzzed.remote, { crc }).conversation(Math.min(100, most))
      peer.socket.end(bytes)
      await peer.ended()
      pair.close()
      victim.statuses()
      fuzzed.check(!proves)
      return frames
    })
  })
}

test(`${FRAMES} frames of peers that are not Aether`, async () => {
  console.log(`AETHER_TEST_SEED=${SEED}`)
  using victim = new VictimDevice()
  const random = new Random(SEED)
  const fuzzed = new Fuzzed(victim)
  await using listener = await listen({ domain: victim.domain, address: '127.0.0.1', iwarpPeer: true })
  await play(victim, async (most) => {
    const crc = random.below(2) === 0
    using peer = await ForeignPeer.call(listener.port, encodeFrame('Req', { depths: [4, 4], flags: crc ? Mpa.Crc : 0 }))
    const request = await listener.next({ timeoutMs: 20_000 })
    const connection = await request!.accept({ domain: victim.domain, timeoutMs: 20_000 })
    for (let receive = 0; receive < 4; receive += 1)
      connection.pair.receive({ local: victim.memory.subarray(0, 64) }).catch(() => undefined)
    const fuzzer = new FrameFuzzer(random, fuzzed.remote, { crc, foreign: true })
    const { bytes, frames } = fuzzer.conversation(Math.min(100, most))
    peer.ignore()
    peer.write(bytes)
    peer.end()
    await connection.closed
    connection.close()
    fuzzed.check(false)
    return frames
  })
})
