import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { native } from '../../src/native/index.ts'
import type { Promised } from '../../src/structures/distributed/memory/promised.ts'
import { FLAG_BYTES, Flag } from '../../src/structures/flag.ts'
import type { StructureKindName } from '../../src/structures/heap/structure-kind.ts'
import { LEADER_BYTES, Leader } from '../../src/structures/leader.ts'
import { MUTEX_BYTES, Mutex } from '../../src/structures/mutex.ts'
import { ONCE_BYTES, Once } from '../../src/structures/once.ts'
import { Semaphore, semaphoreBytes } from '../../src/structures/semaphore.ts'
import { FakeWorld } from './distributed/fake-world.ts'
import { Town } from './town.ts'

/** The structures of one name, as one member has them. */
interface Structures {
  mutex(): Promise<Promised<Mutex>>
  semaphore(): Promise<Promised<Semaphore>>
  once(): Promise<Promised<Once>>
  leader(): Promise<Promised<Leader>>
  flag(): Promise<Promised<Flag>>
}

/** Two members of one memory. */
interface Pair {
  readonly one: Structures
  readonly other: Structures
  play<T>(work: Promise<T>): Promise<T>
  /** The other is gone, and that is known. */
  endOther(): Promise<void>
  /** The other closes its structures. */
  closeOther(): Promise<void>
  /** The other does nothing for longer than a lease, in which `meanwhile` may be called. */
  silence(meanwhile: () => Promise<unknown>): Promise<void>
  /** Aborted when what can be done at once is done. */
  soon(): AbortSignal
}

/** So long that nothing is renewed by the timers of this process, whatever it is held up by. */
const LEASE_MS = 60_000
/** How far the clock of the machine was put forward. */
let forwardMs = 0
const clock = native.monotonicNs.bind(native)
mock.method(native, 'monotonicNs', () => clock() + forwardMs * 1e6)

function pairOfMachine(): Pair {
  const town = new Town()
  const [one, other] = [town.settle(), town.settle()]
  const structuresOf = ({ heap, directory }: typeof one): Structures => {
    const open = (kind: StructureKindName, bodyBytes: number): number =>
      directory.open({ kind, name: kind, bodyBytes, parameters: [] }).offset
    return {
      mutex: async () => new Mutex('m', heap, open('mutex', MUTEX_BYTES)),
      semaphore: async () => new Semaphore('s', heap, open('semaphore', semaphoreBytes(1)), 1),
      once: async () => new Once('o', heap, open('once', ONCE_BYTES)),
      leader: async () => new Leader('l', heap, open('leader', LEADER_BYTES), LEASE_MS),
      flag: async () => new Flag('f', heap, open('flag', FLAG_BYTES)),
    }
  }
  return {
    one: structuresOf(one),
    other: structuresOf(other),
    play: (work) => work,
    endOther: async () => town.bury(other),
    closeOther: async () => other.heap.close(),
    async silence() {
      forwardMs += 2 * LEASE_MS
    },
    soon: () => AbortSignal.timeout(5),
  }
}

function pairOfGroup(): Pair {
  const world = new FakeWorld(3, 1, 1024 * 1024, [2])
  const [one, other] = world.structures.map(
    (shared): Structures => ({
      mutex: () => world.play(shared.mutex('m')),
      semaphore: () => world.play(shared.semaphore('s', { permits: 1 })),
      once: () => world.play(shared.once('o')),
      leader: () => world.play(shared.leader('l', { leaseMs: LEASE_MS })),
      flag: () => world.play(shared.flag('f')),
    }),
  ) as [Structures, Structures]
  const pass = (ms: number): Promise<void> => world.play(world.ranks[0]!.sleep(ms))
  return {
    one,
    other,
    play: (work) => world.play(work),
    async endOther() {
      world.stop(1)
      await pass(1)
    },
    closeOther: () => world.play(world.structures[1]!.close()),
    async silence(meanwhile) {
      world.paused.add(1)
      await meanwhile()
      await pass(2 * LEASE_MS)
      world.paused.delete(1)
    },
    soon() {
      const abort = new AbortController()
      void world.ranks[0]!.sleep(5).then(() => abort.abort(new Error('it is held')))
      return abort.signal
    },
  }
}

/** What a try comes to. The number is the token or the term, where there is one. */
type Found = 'had' | 'had, abandoned' | 'not had' | 'done' | readonly ['had' | 'had, abandoned', number]

/** A kind of structure that one member at a time has. */
interface Kind {
  /** Has it until the returned function is called. */
  take(of: Structures, play: Pair['play']): Promise<() => unknown>
  attempt(of: Structures, pair: Pair): Promise<Found>
  /** What a try comes to after another that is gone. */
  readonly afterGone: Found
  readonly afterEnded: Found
  readonly atFirst: Found
}

const kinds: Readonly<Record<'mutex' | 'semaphore' | 'once' | 'leader', Kind>> = {
  mutex: {
    async take(of, play) {
      const hold = await play((await of.mutex()).lock())
      return () => hold.release()
    },
    async attempt(of, { play }) {
      const hold = await play((await of.mutex()).tryLock())
      return hold === undefined ? 'not had' : [hold.abandoned ? 'had, abandoned' : 'had', hold.token]
    },
    atFirst: ['had', 1],
    afterEnded: ['had', 2],
    afterGone: ['had, abandoned', 2],
  },
  semaphore: {
    async take(of, play) {
      const permit = await play((await of.semaphore()).acquire())
      return () => permit.release()
    },
    async attempt(of, { play }) {
      const semaphore = await of.semaphore()
      const free = await play(semaphore.available())
      const permit = await play(semaphore.tryAcquire())
      assert.equal(free, permit === undefined ? 0 : 1)
      return permit === undefined ? 'not had' : 'had'
    },
    atFirst: 'had',
    afterEnded: 'had',
    afterGone: 'had',
  },
  once: {
    async take(of, play) {
      const once = await of.once()
      return await play(
        new Promise((resolve) => {
          const fail = (reject: (reason: Error) => void): void => {
            resolve(async () => {
              reject(new Error('not today'))
              await play(running.catch(() => {}))
            })
          }
          const running = once.run(() => new Promise((_, reject) => fail(reject)))
          running.catch(() => {})
        }),
      )
    },
    async attempt(of, { play, soon }) {
      const once = await of.once()
      const wasDone = await play(once.isDone())
      try {
        const isOurs = await play(once.run(() => assert.equal(wasDone, false), { signal: soon() }))
        assert.equal(await play(once.isDone()), true)
        return isOurs ? 'had' : 'done'
      } catch {
        return 'not had'
      }
    },
    atFirst: 'had',
    afterEnded: 'had',
    afterGone: 'had',
  },
  leader: {
    async take(of, play) {
      const leadership = await play((await of.leader()).campaign())
      return () => leadership.resign()
    },
    async attempt(of, { play }) {
      const leadership = await play((await of.leader()).tryCampaign())
      return leadership === undefined ? 'not had' : ['had', leadership.term]
    },
    atFirst: ['had', 1],
    afterEnded: ['had', 2],
    afterGone: ['had', 2],
  },
}

const pairs = { machine: pairOfMachine, group: pairOfGroup } as const

for (const [memory, makePair] of Object.entries(pairs)) {
  for (const [name, kind] of Object.entries(kinds)) {
    test(`${name} of a ${memory}: who tries has it, unless one has it that is there`, async () => {
      const states: Readonly<Record<string, (pair: Pair) => Promise<Found>>> = {
        'at first': async () => kind.atFirst,
        'the other has it': async ({ other, play }) => {
          await kind.take(other, play)
          return 'not had'
        },
        'this member has it': async ({ one, play }) => {
          await kind.take(one, play)
          return 'not had'
        },
        'the other has had it': async ({ other, play }) => {
          await (await kind.take(other, play))()
          return kind.afterEnded
        },
        'the other had it when it closed its structures': async (pair) => {
          await kind.take(pair.other, pair.play)
          await pair.closeOther()
          return kind.afterEnded
        },
        'the other had it and is gone': async (pair) => {
          await kind.take(pair.other, pair.play)
          await pair.endOther()
          return kind.afterGone
        },
      }
      for (const [state, reach] of Object.entries(states)) {
        const pair = makePair()
        const expected = await reach(pair)
        assert.deepEqual(await kind.attempt(pair.one, pair), expected, state)
        const isHad = expected !== 'not had' && name !== 'once'
        if (isHad) assert.equal(await kind.attempt(pair.one, pair), 'not had', `${state}, then again`)
      }
    })
  }

  test(`once of a ${memory}: what is done stays done`, async () => {
    const pair = makePair()
    assert.equal(await kinds.once.attempt(pair.other, pair), 'had')
    for (const member of [pair.one, pair.other]) assert.equal(await kinds.once.attempt(member, pair), 'done')
    await pair.endOther()
    assert.equal(await kinds.once.attempt(pair.one, pair), 'done')
  })

  test(`leader of a ${memory}: who is silent for a lease is followed, and ends nothing of who follows`, async () => {
    const pair = makePair()
    const first = await pair.play((await pair.other.leader()).campaign())
    const candidate = await pair.one.leader()
    await pair.silence(() => pair.play(candidate.tryCampaign()))
    const second = await pair.play(candidate.tryCampaign())
    assert.equal(second?.term, 2)
    assert.equal(first.isLeader, false)
    await first.resign()
    assert.equal(await kinds.leader.attempt(pair.other, pair), 'not had')
    assert.equal(second.isLeader, true)
    await second.resign()
    assert.deepEqual(await kinds.leader.attempt(pair.other, pair), ['had', 3])
  })

  test(`flag of a ${memory}: each change tells whether it was one`, async () => {
    const { one, other, play } = makePair()
    const flags = [await one.flag(), await other.flag()] as const
    for (const wasUp of [false, true])
      for (const flag of flags)
        for (const change of ['raise', 'lower'] as const) {
          await play(flags[0][wasUp ? 'raise' : 'lower']())
          assert.equal(await play(flag.isRaised()), wasUp)
          assert.equal(await play(flag[change]()), wasUp === (change === 'lower'))
          for (const look of flags) assert.equal(await play(look.isRaised()), change === 'raise')
        }
  })
}
