import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LockMachine, type LockOutcome } from '../../../../src/cluster/group/locks/lock-machine.ts'
import { decodeLockMessage, encodeLockMessage } from '../../../../src/cluster/group/locks/lock-message.ts'
import { type LockMode, LockQueue } from '../../../../src/cluster/group/locks/lock-queue.ts'

test('a queue gives a lock to those who came first: one writer, or the readers up to the next writer', () => {
  const queue = new LockQueue()
  const modes: LockMode[] = ['read', 'read', 'write', 'read', 'write']
  for (const [rank, mode] of modes.entries()) queue.add(rank, 10 + rank, mode)
  const granted = (): number[] => queue.grant().map(({ rank }) => rank)
  assert.deepEqual(granted(), [0, 1])
  assert.deepEqual(granted(), [])
  queue.remove(0, 10, true)
  assert.deepEqual(granted(), [])
  queue.remove(1, 11, true)
  assert.deepEqual(granted(), [2])
  assert.deepEqual(queue.holders, [2])
  queue.remove(2, 12, true)
  assert.deepEqual(granted(), [3])
  queue.remove(4, 14, true)
  queue.remove(3, 13, true)
  assert.equal(queue.isEmpty, true)
})

test('a writer that dies leaves the lock abandoned until a writer lets go of it; a reader or one who waits does not', () => {
  const queue = new LockQueue()
  queue.add(0, 1, 'write')
  queue.add(1, 1, 'read')
  queue.add(2, 1, 'write')
  queue.grant()
  queue.memberDied(0)
  assert.equal(queue.abandonedBy, 0)
  queue.grant()
  queue.remove(1, 1, true)
  assert.equal(queue.abandonedBy, 0)
  queue.grant()
  queue.remove(2, 1, true)
  assert.equal(queue.abandonedBy, -1)
  queue.add(1, 2, 'read')
  queue.grant()
  queue.add(2, 2, 'write')
  queue.memberDied(1)
  queue.memberDied(2)
  assert.equal(queue.abandonedBy, -1)
})

test('what is no message about locks is seen', () => {
  const sound = { op: 'hold', name: 'a', token: 3, mode: 'read', abandonedBy: -1 } as const
  assert.deepEqual(decodeLockMessage(encodeLockMessage(sound)), sound)
  for (const wrong of [
    { ...sound, mode: 'both' },
    { ...sound, token: -1 },
    { ...sound, name: 7 },
    { op: 'take' },
    { op: 'release', name: 'a', token: 3 },
    5,
    null,
  ])
    assert.equal(decodeLockMessage(encodeLockMessage(wrong as never)), undefined, JSON.stringify(wrong))
  assert.equal(decodeLockMessage(Uint8Array.of(5, 123)), undefined)
})

/** Machines with channels between them that keep the order of each pair, and lose what is sent to the dead. */
class World {
  readonly machines: LockMachine[]
  readonly channels: Uint8Array[][]
  readonly alive: Set<number>
  /** Of the living who know of it: rank, whose death it is. */
  readonly news: { to: number; dead: number }[] = []
  readonly held = new Map<string, { rank: number; mode: LockMode; abandonedBy: number }>()
  readonly waiting = new Set<string>()
  readonly size: number
  /**
   * The token of the last wish of each rank and slot. A token is never used again: an answer to an old wish may still
   * be under way.
   */
  readonly #tokens = new Map<string, number>()
  #lastToken = 0

  constructor(size: number) {
    this.size = size
    this.alive = new Set(Array.from({ length: size }, (_, rank) => rank))
    this.channels = Array.from({ length: size * size }, () => [])
    this.machines = Array.from(
      { length: size },
      (_, rank) =>
        new LockMachine({ rank, size, send: (to, bytes) => this.channels[rank * size + to]!.push(bytes.slice()) }),
    )
  }

  want(rank: number, slot: number, mode: LockMode): void {
    const key = `${rank}/${slot}`
    if (!this.alive.has(rank) || this.waiting.has(key) || this.held.has(key)) return
    const token = ++this.#lastToken
    this.#tokens.set(key, token)
    this.waiting.add(key)
    this.machines[rank]!.want(token, 'x', mode, (outcome: LockOutcome) => {
      this.waiting.delete(key)
      if (outcome.kind === 'granted' && this.alive.has(rank))
        this.held.set(key, { rank, mode, abandonedBy: outcome.abandonedBy })
      this.check()
    })
  }

  release(rank: number, slot: number): void {
    const key = `${rank}/${slot}`
    const token = this.#tokens.get(key)
    if (!this.alive.has(rank) || token === undefined) return
    this.machines[rank]!.release(token, this.held.delete(key))
  }

  kill(rank: number): void {
    if (!this.alive.delete(rank)) return
    for (const key of [...this.held.keys(), ...this.waiting]) {
      if (!key.startsWith(`${rank}/`)) continue
      this.held.delete(key)
      this.waiting.delete(key)
    }
    for (let to = 0; to < this.size; to += 1) {
      this.channels[to * this.size + rank]!.length = 0
      if (this.alive.has(to)) this.news.push({ to, dead: rank })
    }
  }

  /** Deliver one message, or the news of a death behind all that the dead had sent. False where there is nothing. */
  step(choice: number): boolean {
    const full = this.channels.flatMap((channel, index) => (channel.length > 0 ? [index] : []))
    const ready = this.news.filter(({ to, dead }) => this.channels[dead * this.size + to]!.length === 0)
    const count = full.length + ready.length
    if (count === 0) return false
    const at = choice % count
    if (at < full.length) {
      const index = full[at]!
      const bytes = this.channels[index]!.shift()!
      const to = index % this.size
      if (this.alive.has(to)) assert.ok(this.machines[to]!.receive(Math.floor(index / this.size), bytes))
    } else {
      const news = ready[at - full.length]!
      this.news.splice(this.news.indexOf(news), 1)
      if (this.alive.has(news.to)) this.machines[news.to]!.memberDied(news.dead)
    }
    return true
  }

  check(): void {
    const holders = [...this.held.values()]
    const writers = holders.filter(({ mode }) => mode === 'write').length
    assert.ok(writers === 0 || holders.length === 1, JSON.stringify(holders))
  }

  /** Deliver all messages but the last from one rank to another. */
  deliverBut(from: number, to: number): void {
    const kept = this.channels[from * this.size + to]!
    const others = (): boolean => this.channels.some((channel) => channel !== kept && channel.length > 0)
    while (others() || kept.length > 1) {
      const index = this.channels.findIndex((channel) => channel.length > (channel === kept ? 1 : 0))
      const bytes = this.channels[index]!.shift()!
      assert.ok(this.machines[index % this.size]!.receive(Math.floor(index / this.size), bytes))
    }
  }

  /** Deliver all messages, and no news. */
  deliver(): void {
    while (this.channels.some((channel) => channel.length > 0)) this.step(0)
  }

  /** One of the living hears of a death, the others do not yet. */
  learn(to: number, dead: number): void {
    const at = this.news.findIndex((news) => news.to === to && news.dead === dead)
    assert.ok(at >= 0, `rank ${to} knows of the death of ${dead}, or it lives`)
    this.news.splice(at, 1)
    this.machines[to]!.memberDied(dead)
  }

  settle(): void {
    while (this.step(0));
  }
}

test('a successor gives nothing out before it knows itself that the keeper is dead', () => {
  for (const mode of ['read', 'write'] as const) {
    const world = new World(4)
    world.want(3, 0, mode)
    world.settle()
    world.kill(0)
    world.learn(2, 0)
    // Rank 1 is asked as keeper, and has not heard of any death: who holds the lock, nobody has told it.
    world.want(2, 0, 'write')
    world.deliver()
    assert.deepEqual([...world.held.keys()], ['3/0'])
    world.settle()
    assert.deepEqual([...world.held.keys()], ['3/0'])
    world.release(3, 0)
    world.settle()
    assert.deepEqual([...world.held.keys()], ['2/0'])
  }
})

test('who gives up while the lock is on its way has not had it: the next is told by whom it was abandoned', () => {
  for (const arrives of [false, true]) {
    const world = new World(4)
    world.want(1, 0, 'write')
    world.settle()
    for (const rank of [2, 3]) world.want(rank, 0, 'write')
    world.settle()
    world.kill(1)
    for (const rank of [0, 2, 3]) world.learn(rank, 1)
    // The reports of all, and the grant to rank 2 stays under way.
    if (!arrives) world.deliverBut(0, 2)
    if (arrives) {
      // The agent of rank 2 has the lock, but its program had stopped waiting.
      world.settle()
      world.held.delete('2/0')
    }
    world.release(2, 0)
    world.settle()
    assert.deepEqual([...world.held.values()], [{ rank: 3, mode: 'write', abandonedBy: 1 }])
    world.release(3, 0)
    world.settle()
    world.want(2, 1, 'write')
    world.settle()
    assert.equal([...world.held.values()][0]?.abandonedBy, -1)
  }
})

test('a writer is alone whatever dies when, and whoever waits gets the lock in the end', () => {
  const rank = fc.nat(3)
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ act: fc.constant('want'), rank, pick: fc.nat(2), write: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ act: fc.constant('release'), rank, pick: fc.nat(2), write: fc.boolean() }) },
    { weight: 10, arbitrary: fc.record({ act: fc.constant('step'), rank, pick: fc.nat(100), write: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('kill'), rank, pick: fc.nat(2), write: fc.boolean() }) },
  )
  // Long ones: without `size` no schedule has more than ten steps, and few of those come to anything.
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const world = new World(4)
      for (const { act, rank: who, pick, write } of steps) {
        if (act === 'want') world.want(who, pick, write ? 'write' : 'read')
        else if (act === 'release') world.release(who, pick)
        else if (act === 'step') world.step(pick)
        else if (world.alive.size > 1) world.kill(who)
        world.check()
      }
      world.settle()
      // Whoever holds it lets go, until nobody waits.
      for (let round = 0; round < 20 && world.waiting.size + world.held.size > 0; round += 1) {
        assert.ok(world.held.size > 0, `${[...world.waiting].join()} wait for ever`)
        for (const key of [...world.held.keys()]) world.release(Number(key.split('/')[0]), Number(key.split('/')[1]))
        world.settle()
      }
      assert.equal(world.waiting.size, 0)
    }),
    { seed: 1, numRuns: 2000 },
  )
})

test('who holds a lock for writing and dies is named to the next, also where the keeper died first', () => {
  for (const dying of [[1], [0], [0, 1], [1, 0]]) {
    const world = new World(4)
    world.want(1, 0, 'write')
    world.settle()
    world.want(2, 0, 'write')
    world.settle()
    for (const rank of dying) {
      world.kill(rank)
      world.settle()
    }
    const [holder] = [...world.held.values()]
    // The name 'x' is kept by rank 0 at first, then by rank 1. Where both are gone nobody knows who held it, and the
    // first keeper is named.
    const expected = dying.includes(1) ? [2, dying[0]] : [1, -1]
    assert.deepEqual([holder?.rank, holder?.abandonedBy], expected, dying.join())
  }
})
