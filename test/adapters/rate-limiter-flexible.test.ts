import assert from 'node:assert/strict'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterQueue, RateLimiterRes } from 'rate-limiter-flexible'
import { RateLimiterAether, type RateLimiterAetherOptions } from '../../src/adapters/rate-limiter-flexible/index.ts'
import { RankProcess } from '../support/rank-process.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const space = `rate-limiter-${process.pid}`
/** Longer than any test here. */
const LONG_S = 600

describe('rate-limiter-flexible over shared memory', options, () => {
  const limiters: RateLimiterAether[] = []
  const limiter = (keyPrefix: string, more: Partial<RateLimiterAetherOptions> = {}): RateLimiterAether => {
    limiters.push(new RateLimiterAether({ storeClient: space, keyPrefix, points: 2, duration: LONG_S, ...more }))
    return limiters.at(-1)!
  }
  after(async () => {
    for (const each of limiters) await each.close()
  })

  /** What a refusal rejects with. */
  async function refused(refusal: Promise<unknown>): Promise<RateLimiterRes> {
    const reason = await refusal.then(
      () => assert.fail('it was let through'),
      (error: unknown) => error,
    )
    assert.ok(reason instanceof RateLimiterRes, String(reason))
    return reason
  }

  it('lets points through and says what remains, by any limiter of the same prefix', async () => {
    const [one, other] = [limiter('consume'), limiter('consume')]
    const first = await one.consume('a')
    assert.deepEqual([first.consumedPoints, first.remainingPoints, first.isFirstInDuration], [1, 1, true])
    const second = await other.consume('a')
    assert.deepEqual([second.consumedPoints, second.remainingPoints, second.isFirstInDuration], [2, 0, false])
    assert.ok(second.msBeforeNext > 0 && second.msBeforeNext <= first.msBeforeNext)
    const third = await refused(one.consume('a'))
    assert.deepEqual([third.consumedPoints, third.remainingPoints], [3, 0])
    await one.consume('b')
    await limiter('other prefix').consume('a', 2)
  })

  it('begins a new window when one is over', async () => {
    const short = limiter('window', { points: 1, duration: 0.005 })
    await short.consume('a')
    await sleep(30)
    assert.equal((await short.consume('a')).isFirstInDuration, true)
  })

  it('takes a window that would be over before it is written down for one of a millisecond', async () => {
    const shortest = limiter('shortest window', { points: 1, duration: 1e-9 })
    assert.equal((await shortest.consume('a')).consumedPoints, 1)
  })

  it('gives, deletes and sets', async () => {
    const mine = limiter('sets')
    assert.equal(await mine.get('a'), null)
    assert.equal(await mine.delete('a'), false)
    await mine.consume('a')
    assert.equal((await mine.get('a'))?.consumedPoints, 1)
    assert.equal(await mine.delete('a'), true)
    assert.equal(await mine.get('a'), null)
    await mine.set('a', 7, 0)
    const set = await mine.get('a')
    assert.deepEqual([set?.consumedPoints, set?.msBeforeNext], [7, -1], 'a duration of 0 never ends')
    await mine.set('a', 1, LONG_S)
    assert.ok(((await mine.get('a'))?.msBeforeNext ?? 0) > 0)
  })

  it('punishes and rewards', async () => {
    const mine = limiter('rewards')
    assert.equal((await mine.penalty('a')).consumedPoints, 1)
    assert.equal((await mine.penalty('a', 2)).consumedPoints, 3)
    assert.equal((await mine.reward('a', 2)).consumedPoints, 1)
    assert.equal((await mine.consume('a')).remainingPoints, 0)
  })

  it('takes whole points, as numbers or as text', async () => {
    const mine = limiter('whole')
    await mine.consume('a', '1' as unknown as number)
    assert.equal((await mine.consume('a', '1' as unknown as number)).consumedPoints, 2)
    await assert.rejects(mine.consume('a', 0.5), { argument: 'points' })
    await assert.rejects(mine.consume('a', Number.NaN), { argument: 'points' })
    assert.equal((await mine.get('a'))?.consumedPoints, 2)
  })

  it('blocks a key by hand, and one that asks for too much, for all limiters', async () => {
    const [one, other] = [limiter('blocks', { blockDuration: 2 * LONG_S }), limiter('blocks')]
    await one.block('a', LONG_S)
    assert.ok((await refused(other.consume('a'))).msBeforeNext > 0)
    await one.consume('b', 2)
    assert.equal((await refused(one.consume('b'))).msBeforeNext, 2 * LONG_S * 1000)
    assert.ok((await refused(other.consume('b'))).msBeforeNext > LONG_S * 1000, 'blocked beyond its window')
  })

  it('does not ask for keys that it has blocked in its own memory', async () => {
    const mine = limiter('memory', { inMemoryBlockOnConsumed: 2, inMemoryBlockDuration: LONG_S })
    await mine.consume('a', 2)
    await refused(mine.consume('a'))
    const counted = (await mine.get('a'))?.consumedPoints
    await refused(mine.consume('a'))
    assert.equal((await mine.get('a'))?.consumedPoints, counted)
    mine.deleteInMemoryBlockedAll()
  })

  it('is a limiter to what the package builds of limiters', async () => {
    const bursty = new BurstyRateLimiter(limiter('steady', { points: 1 }), limiter('burst', { points: 1 }))
    await bursty.consume('a')
    await bursty.consume('a')
    await refused(bursty.consume('a'))
    const queue = new RateLimiterQueue(limiter('queue', { points: 2 }), { maxQueueSize: 1 })
    assert.equal(await queue.removeTokens(2), 0)
  })

  it('falls back to its insurance, and without one rejects with the error', async () => {
    const insuranceLimiter = new RateLimiterMemory({ points: 1, duration: LONG_S })
    const storeClient = 'no name for a space/'
    await limiter('insured', { storeClient, insuranceLimiter }).consume('a')
    await assert.rejects(limiter('alone', { storeClient }).consume('a'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  })

  it('lets through exactly what it should, asked by many processes at once, one of which is killed', async () => {
    const mine = limiter('exact', { points: 1000 })
    const script = new URL('./fixtures/consumer.js', import.meta.url)
    const processes = Array.from({ length: 3 }, () => new RankProcess(script, {}))
    try {
      for (const each of processes) await each.call('open', space, 'exact', 1000, LONG_S)
      const killed = new RankProcess(script, {})
      await killed.call('open', space, 'exact', 1000, LONG_S)
      const cutShort = killed.call('consume', 1_000_000).catch(() => undefined)
      const allowed = await Promise.all(processes.map((each) => each.call('consume', 200)))
      await killed.kill()
      await cutShort
      const counted = (await mine.get('all'))?.consumedPoints ?? 0
      assert.ok(counted >= 600, `${counted} were counted`)
      assert.ok(allowed.every((count) => typeof count === 'number' && count <= 200))
      await mine.delete('all')
      const again = await Promise.all(processes.map((each) => each.call('consume', 500)))
      assert.equal(
        again.reduce<number>((sum, count) => sum + (count as number), 0),
        1000,
      )
      assert.equal((await mine.get('all'))?.consumedPoints, 1500)
    } finally {
      await Promise.all(processes.map((each) => each.kill()))
    }
  })
})
