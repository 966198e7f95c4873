import assert from 'node:assert/strict'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import keyvTestSuite, { keyvIteratorTests } from '@keyv/test-suite'
import Keyv from 'keyv'
import { KeyvAether } from '../../src/adapters/keyv/index.ts'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/structures/index.ts'
import { vitestFace } from './vitest-face.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const spaceName = `keyv-${process.pid}`

describe('Keyv over shared memory', options, () => {
  const stores: KeyvAether[] = []
  const store = (): KeyvAether => {
    stores.push(new KeyvAether(spaceName))
    return stores.at(-1)!
  }
  after(() => Promise.all(stores.map((each) => each.disconnect())))

  describe('passes the suite of Keyv', () => keyvTestSuite(vitestFace as never, Keyv, store))
  describe('passes the iterator suite of Keyv', () => keyvIteratorTests(vitestFace as never, Keyv, store))

  it('sets, has, gets and deletes many at once', async () => {
    const keyv = new Keyv({ store: store(), namespace: 'many' })
    await keyv.setMany([
      { key: 'a', value: 1 },
      { key: 'b', value: 2, ttl: 60_000 },
    ])
    assert.deepEqual(await keyv.get(['a', 'b', 'c']), [1, 2, undefined])
    assert.deepEqual(await keyv.hasMany(['a', 'c']), [true, false])
    assert.equal(await keyv.deleteMany(['b', 'c']), true)
    assert.equal(await keyv.deleteMany(['b', 'c']), false)
    assert.deepEqual(await keyv.get(['a', 'b']), [1, undefined])
  })

  it('keeps objects where Keyv has no serializer', async () => {
    const keyv = new Keyv<unknown>({ store: store(), namespace: 'objects' })
    keyv.serialize = undefined
    keyv.deserialize = undefined
    const value = { when: new Date(0), who: new Map([['ada', 1n]]), raw: new Uint8Array([1, 2]) }
    await keyv.set('a', value)
    assert.deepEqual(await keyv.get('a'), value)
  })

  it('lets an entry go by itself when its time is over', async () => {
    const direct = store()
    await direct.set('short', 'lived', 1)
    await direct.set('long', 'lived', 60_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepEqual(await direct.getMany(['short', 'long']), [undefined, 'lived'])
  })

  it('is opened again by what comes after disconnect, and finds what others kept', async () => {
    const [first, second] = [store(), store()]
    await first.set('kept', 'yes')
    assert.equal(await second.get('kept'), 'yes')
    await first.disconnect()
    await first.disconnect()
    assert.equal(await first.get('kept'), 'yes')
  })

  it('uses structures that are open, and leaves them open', async () => {
    await using space = await open(`keyv-own-${process.pid}`)
    await using structures = await openStructures(space, { size: '1MiB' })
    const keyv = new Keyv({ store: new KeyvAether(structures, { name: 'cache' }) })
    await keyv.set('a', 1)
    await keyv.disconnect()
    assert.equal(structures.closed, false)
    assert.deepEqual(structures.list(), [{ name: 'cache', kind: 'map' }])
  })

  it('lets old entries go beyond its bound', async () => {
    const bounded = new KeyvAether(`${spaceName}-bounded`, { maxEntries: 100 })
    for (let key = 0; key < 1000; key += 1) await bounded.set(`key ${key}`, 'x')
    let left = 0
    for await (const entry of bounded.iterator()) left += entry.length / 2
    await bounded.disconnect()
    assert.ok(left > 0 && left <= 101, `${left} are left`)
  })

  it('tells Keyv of what failed, by its event or as an error', async () => {
    const wrong = new Keyv({ store: new KeyvAether('no name for a space/'), throwOnErrors: true })
    const heard: unknown[] = []
    wrong.on('error', (error) => heard.push(error))
    await assert.rejects(wrong.get('a'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await assert.rejects(wrong.set('a', 1), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    assert.ok(heard.length > 0)
  })
})
