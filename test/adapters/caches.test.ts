/** The caches that stand on Keyv: `cacheable` and `cache-manager`. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache } from 'cache-manager'
import { Cacheable } from 'cacheable'
import Keyv from 'keyv'
import { KeyvAether } from '../../src/adapters/keyv/index.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const stores: KeyvAether[] = []

function store(name: string): KeyvAether {
  stores.push(new KeyvAether(`caches-${process.pid}`, { name }))
  return stores.at(-1)!
}

after(() => Promise.all(stores.map((each) => each.disconnect())))

describe('cache-manager over shared memory', options, () => {
  const cache = (name: string, ttl?: number): ReturnType<typeof createCache> =>
    createCache({ stores: [new Keyv({ store: store(name) })], ...(ttl === undefined ? {} : { ttl }) })

  it('sets, gets, deletes, and finds what another cache has set', async () => {
    const [one, other] = [cache('basic'), cache('basic')]
    assert.deepEqual(await one.set('a', { n: 1 }), { n: 1 })
    assert.deepEqual(await other.get('a'), { n: 1 })
    assert.equal(await other.get('b'), undefined)
    assert.equal(await other.del('a'), true)
    assert.equal(await one.get('a'), undefined)
  })

  it('keeps what was set until its time is over', async () => {
    const [one, other] = [cache('ttl'), cache('ttl')]
    await one.set('a', { n: 1 }, 60_000)
    await one.set('b', 2, 5)
    await sleep(30)
    assert.deepEqual(await other.get('a'), { n: 1 })
    assert.equal(await other.get('b'), undefined)
    const left = await other.ttl('a')
    assert.ok(left !== undefined && left > Date.now() && left <= Date.now() + 60_000)
  })

  it('has many at once', async () => {
    const one = cache('many')
    await one.mset([
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ])
    assert.deepEqual(await one.mget(['a', 'b', 'c']), [1, 2, undefined])
    await one.mdel(['a', 'c'])
    assert.deepEqual(await one.mget(['a', 'b']), [undefined, 2])
    await one.clear()
    assert.equal(await one.get('b'), undefined)
  })

  it('wraps a function: what is shared is computed once', async () => {
    const [one, other] = [cache('wrap'), cache('wrap')]
    let computed = 0
    const compute = async (): Promise<number> => {
      computed += 1
      return 42
    }
    assert.equal(await one.wrap('answer', compute), 42)
    assert.equal(await other.wrap('answer', compute), 42)
    assert.equal(computed, 1)
  })
})

describe('cacheable over shared memory', options, () => {
  it('shares a primary store', async () => {
    const [one, other] = ['', ''].map(() => new Cacheable({ primary: new Keyv({ store: store('primary') }) }))
    await one!.set('a', { n: 1 }, '1m')
    await one!.set('b', 1, 5)
    await sleep(30)
    assert.deepEqual(await other!.get('a'), { n: 1 })
    assert.equal(await other!.get('b'), undefined)
    assert.equal((await other!.take('a')) !== undefined, true)
    assert.equal(await one!.has('a'), false)
  })

  it('shares a secondary store behind the memory of each process', async () => {
    const caches = ['', ''].map(() => new Cacheable({ secondary: store('secondary') }))
    const [one, other] = caches as [Cacheable, Cacheable]
    await one.setMany([
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ])
    assert.deepEqual(await other.getMany(['a', 'b', 'c']), [1, 2, undefined])
    await other.delete('a')
    assert.equal(await new Cacheable({ secondary: store('secondary') }).get('a'), undefined)
    let computed = 0
    const square = async (n: number): Promise<number> => {
      computed += 1
      return n * n
    }
    const wrapped = caches.map((cache) => cache.wrap(square, { keyPrefix: 'square', ttl: '1m' }))
    assert.equal(await wrapped[0]!(7), 49)
    assert.equal(await wrapped[1]!(7), 49)
    assert.equal(computed, 1)
    await one.clear()
    assert.equal(await new Cacheable({ secondary: store('secondary') }).get('b'), undefined)
  })
})
