/** Room for writes: in which order they go, and what becomes of them where no key may go. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EvictedShard, Evictor } from '../../src/index-service/node/evictor.ts'
import type { CallLimits } from '../../src/index-service/port.ts'
import type { ShardAnswer, ShardCommand } from '../../src/index-service/state/shard-command.ts'

const BOUND = 2 ** 20
const VALUE_BYTES = 10_000
const rule = { of: 'all', by: 'random', samples: 1 } as const
const call = { name: 'SET', args: [Buffer.from('key'), Buffer.alloc(VALUE_BYTES)] }

/** Keys of one size, and commands that take effect later. */
class FakeShard implements EvictedShard {
  keys = 0
  mostBytes = 0
  evictions = 0
  fails = false
  /** How many keys may go. */
  evictable = Number.POSITIVE_INFINITY

  get usedBytes(): number {
    return this.keys * VALUE_BYTES
  }

  victims(_rule: unknown, count: number) {
    const some = Math.min(count, this.keys, this.evictable)
    return Array.from({ length: some }, () => ({ key: Buffer.from('key'), version: 1 }))
  }

  async propose(command: ShardCommand): Promise<ShardAnswer> {
    await sleep(1)
    if (this.fails) throw new Error('there is no leader')
    const { evict } = command as { readonly evict: readonly unknown[] }
    this.keys -= evict.length
    this.evictable -= evict.length
    this.evictions += 1
    return { evicted: evict.length }
  }

  async write(): Promise<void> {
    await sleep(1)
    this.keys += 1
    this.mostBytes = Math.max(this.mostBytes, this.usedBytes)
  }
}

/** Many writes at once: the order in which they began. */
async function writeMany(shard: FakeShard, evictor: Evictor, count: number): Promise<readonly number[]> {
  const began: number[] = []
  const writes = Array.from({ length: count }, (_, number) =>
    evictor.admit([call], () => {
      began.push(number)
      return shard.write()
    }),
  )
  await Promise.all(writes)
  return began
}

const ascending = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

test('writes wait until there is room, keep their order, and never go beyond the bound', async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  assert.deepEqual(await writeMany(shard, evictor, 1000), ascending(1000))
  assert.ok(shard.mostBytes <= BOUND, `${shard.mostBytes}`)
  assert.ok(shard.evictions > 5 && shard.keys > 50, `${shard.evictions} evictions, ${shard.keys} keys`)
})

test('a small write waits behind a large one that waits', async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  const began: string[] = []
  const write = (name: string, bytes: number): Promise<void> =>
    evictor.admit([{ name: 'SET', args: [Buffer.alloc(bytes)] }], () => {
      began.push(name)
      return shard.write()
    })
  const share = BOUND / 32
  await Promise.all([write('first', share / 2), write('large', share), write('small', 1)])
  assert.deepEqual(began, ['first', 'large', 'small'])
})

test('without a rule all go at once', async () => {
  const shard = new FakeShard()
  assert.deepEqual(await writeMany(shard, new Evictor(shard, BOUND), 200), ascending(200))
  assert.equal(shard.evictions, 0)
})

const causes: readonly (readonly [string, Partial<Pick<FakeShard, 'evictable' | 'fails'>>])[] = [
  ['no key may go', { evictable: 3 }],
  ['no one leads', { fails: true }],
]
for (const [what, cause] of causes)
  test(`where ${what}, writes go on in their order, to be refused`, async () => {
    const shard = new FakeShard()
    Object.assign(shard, cause)
    const evictor = new Evictor(shard, BOUND)
    evictor.rule = rule
    assert.deepEqual(await writeMany(shard, evictor, 300), ascending(300))
    assert.ok(shard.keys > 290)
    // And again, when some may go.
    Object.assign(shard, { evictable: Number.POSITIVE_INFINITY, fails: false })
    while (shard.usedBytes > BOUND) {
      await writeMany(shard, evictor, 1)
      await sleep(5)
    }
  })

test('a policy that is switched off lets those go that wait', async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  const writes = writeMany(shard, evictor, 500)
  evictor.rule = undefined
  assert.deepEqual(await writes, ascending(500))
})

test('a write that fails gives its room back', async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  for (let write = 0; write < 300; write += 1)
    await assert.rejects(
      evictor.admit([call], () => Promise.reject(new Error('lost'))),
      /lost/,
    )
  assert.deepEqual(await writeMany(shard, evictor, 50), ascending(50))
  assert.equal(shard.evictions, 0)
})

test('one that is larger than all is not the end of all others', async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  await writeMany(shard, evictor, 100)
  const large = { name: 'SET', args: [Buffer.alloc(2 * BOUND)] }
  await evictor.admit([large], () => shard.write())
  assert.ok(shard.keys > 45, `${shard.keys}`)
})

test('a write that waits for room ends by its own limits, and is not made later', { timeout: 10_000 }, async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  shard.keys = Math.floor(BOUND / VALUE_BYTES)
  // There is no leader, so none is evicted for a long time.
  let elected = (): void => undefined
  shard.propose = () => new Promise((resolve) => (elected = () => resolve({ evicted: 0 })))
  const written: string[] = []
  const write = (name: string) => async (limits: CallLimits) => {
    written.push(name)
    assert.ok(limits.timeoutMs <= 60_000)
  }
  const stop = new AbortController()
  const late = evictor.admit([call], write('late'), { timeoutMs: 20, signal: undefined })
  const stopped = evictor.admit([call], write('stopped'), { timeoutMs: 60_000, signal: stop.signal })
  const last = evictor.admit([call], write('last'), { timeoutMs: 60_000, signal: undefined })
  const refused = evictor.admit([call], write('refused'), { timeoutMs: 60_000, signal: AbortSignal.abort() })
  await assert.rejects(refused, { name: 'AbortError' })
  await assert.rejects(late, { code: 'ERR_AETHER_INDEX_TIMEOUT', outcome: 'not-applied' })
  stop.abort()
  await assert.rejects(stopped, { name: 'AbortError' })
  shard.keys = 0
  elected()
  await last
  assert.deepEqual(written, ['last'])
})

test('a write does not wait for one that ends in the same moment', { timeout: 10_000 }, async () => {
  const shard = new FakeShard()
  const evictor = new Evictor(shard, BOUND)
  evictor.rule = rule
  shard.evictable = 0
  let end = (): void => undefined
  const first = evictor.admit([call], () => new Promise<void>((resolve) => (end = resolve)))
  shard.keys = Math.floor(BOUND / VALUE_BYTES)
  // No key may go, and what is under way may change that: it has ended when the evictor begins to wait for it.
  end()
  await evictor.admit([call], () => shard.write(), { timeoutMs: 5000, signal: undefined })
  await first
})
