import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Barrier } from '../../../src/cluster/group/barrier.ts'
import { BarrierMachine } from '../../../src/cluster/group/barrier-machine.ts'
import { MemberEndedError, MissingMembersError } from '../../../src/cluster/group/errors.ts'
import type { Agent } from '../../../src/runtime/index.ts'

/**
 * Barriers of `size` ranks in one thread: each rank's two sides, and messages that are delivered when asked for, in
 * order from one rank to another.
 */
class Ranks {
  readonly barriers: Barrier[]
  readonly machines: BarrierMachine[]
  readonly #mail: { from: number; to: number; bytes: Uint8Array }[] = []

  constructor(size: number) {
    this.barriers = Array.from({ length: size }, () => new Barrier(size))
    this.machines = this.barriers.map((barrier, rank) => {
      const send = (to: number, bytes: Uint8Array) => this.#mail.push({ from: rank, to, bytes })
      return new BarrierMachine({ rank, size, words: new Int32Array(barrier.words), send })
    })
    for (const [rank, barrier] of this.barriers.entries()) {
      barrier.attach({ ring: () => this.machines[rank]!.turn() } as unknown as Agent)
    }
  }

  /** Deliver what is under way, except to the ranks of `late`. */
  deliver(late: readonly number[] = []): void {
    for (const letter of this.#mail.splice(0)) {
      if (late.includes(letter.to)) this.#mail.push(letter)
      else this.machines[letter.to]!.receive(letter.from, letter.bytes)
    }
    if (this.#mail.some(({ to }) => !late.includes(to))) this.deliver(late)
  }
}

test('all are released once the last has come', async () => {
  const ranks = new Ranks(3)
  const waits = ranks.barriers.slice(1).map((barrier) => barrier.wait({}))
  ranks.deliver()
  await assert.rejects(ranks.barriers[2]!.wait({ timeoutMs: 10 }), MissingMembersError)
  waits.push(ranks.barriers[0]!.wait({}))
  ranks.deliver()
  await Promise.all(waits)
})

test('a rank that leaves as soon as it is released fails nobody who has not heard of the release yet', async () => {
  const ranks = new Ranks(3)
  const waits = ranks.barriers.map((barrier) => barrier.wait({}))
  ranks.deliver([2])
  await Promise.all(waits.slice(0, 2))
  // Rank 1 leaves and says so to rank 2 directly, while the release from rank 0 is still on its way.
  ranks.machines[2]!.memberLeft(1, ranks.machines[1]!.passed)
  await new Promise((resolve) => setTimeout(resolve, 10))
  ranks.deliver()
  await waits[2]
  await assert.rejects(ranks.barriers[2]!.wait({}), MemberEndedError)
})

test('a rank that leaves without having come, or dies, fails those who wait for it', async () => {
  for (const end of ['memberLeft', 'memberDied'] as const) {
    const ranks = new Ranks(3)
    const wait = ranks.barriers[2]!.wait({})
    for (const rank of [2, 0]) ranks.machines[rank]![end](1, 0)
    ranks.deliver()
    await assert.rejects(wait, (error) => error instanceof MemberEndedError && /rank 1/.test(error.message))
  }
})

test('a death after a departure counts too', async () => {
  const ranks = new Ranks(3)
  const waits = ranks.barriers.map((barrier) => barrier.wait({}))
  ranks.deliver([2])
  await Promise.all(waits.slice(0, 2))
  ranks.machines[2]!.memberLeft(1, 1)
  ranks.machines[2]!.memberDied(0)
  await assert.rejects(waits[2]!, (error) => error instanceof MemberEndedError && /rank 0/.test(error.message))
})

test('a barrier that was given up and has ended meanwhile is over for who waits for it again', async () => {
  const ranks = new Ranks(2)
  const early = ranks.barriers[0]!.wait({})
  const controller = new AbortController()
  const first = ranks.barriers[1]!.wait({ signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(first, /enough/)
  ranks.deliver()
  await early
  await ranks.barriers[1]!.wait({ timeoutMs: 10 })
  // The next one is another one.
  await assert.rejects(ranks.barriers[1]!.wait({ timeoutMs: 10 }), MissingMembersError)
})

test('a rank that waits knows who has not entered its barrier once that was asked, and of nobody who has', async () => {
  const ranks = new Ranks(3)
  const waits = ranks.barriers.slice(0, 2).map((barrier) => barrier.wait({}))
  const [first] = ranks.barriers
  const asked = (rank: number): boolean[] => {
    const before = first!.isMissing(rank)
    const early = first!.isMissing(rank)
    ranks.deliver()
    return [before, early, first!.isMissing(rank)]
  }
  ranks.deliver()
  assert.deepEqual(asked(2), [false, false, true])
  assert.deepEqual(asked(1), [false, false, false])
  waits.push(ranks.barriers[2]!.wait({}))
  ranks.deliver()
  assert.equal(first!.isMissing(2), false)
  await Promise.all(waits)
})
