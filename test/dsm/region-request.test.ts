import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRegionRequest } from '../../src/dsm/region-request.ts'

test('auto is resolved, sizes are parsed, the rest has defaults', () => {
  assert.deepEqual(parseRegionRequest('a', { size: '1MiB' }, 'hardware'), {
    name: 'a',
    size: 1_048_576,
    coherence: 'hardware',
    pageSize: 4096,
    placement: 'block',
    access: 'write',
    cacheBytes: undefined,
    replicas: 0,
    advise: false,
    reserve: true,
    signal: undefined,
  })
  assert.equal(parseRegionRequest('a', {}, 'hardware').size, undefined)
  assert.equal(parseRegionRequest('a', { coherence: 'mesi', pageSize: '64KiB' }, 'hardware').pageSize, 65_536)
})

test('each argument that cannot be right is named', () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['', {}, 'name'],
    ['x'.repeat(129), {}, 'name'],
    ['é'.repeat(65), {}, 'name'],
    ['line\nfeed', {}, 'name'],
    ['a', { size: 0 }, 'size'],
    ['a', { size: '5 MB' }, 'size'],
    ['a', { coherence: 'quantum' }, 'coherence'],
    ['a', { coherence: 'toString' }, 'coherence'],
    ['a', { pageSize: 1000 }, 'pageSize'],
    ['a', { placement: 'random' }, 'placement'],
    ['a', { reserve: 'no' }, 'reserve'],
  ]
  for (const [name, options, argument] of cases) {
    const parse = () => parseRegionRequest(name, options as object, 'hardware')
    assert.throws(parse, { code: 'ERR_AETHER_INVALID_ARGUMENT', argument }, `${name} ${JSON.stringify(options)}`)
  }
})

test('an unknown coherence is answered with those that are known', () => {
  assert.throws(() => parseRegionRequest('a', { replicas: 2 as 1 }, 'hardware'), /replicas must be 0 or 1, not 2/)
  assert.throws(
    () => parseRegionRequest('a', { replicas: 1, pageSize: '128MiB' }, 'hardware'),
    /pageSize may be at most 67108864 bytes with replicas: 1/,
  )
  assert.throws(
    () => parseRegionRequest('a', { coherence: 'quantum' as 'auto' }, 'hardware'),
    /coherence must be one of auto, hardware, mesi, moesi, directory, token, not 'quantum'/,
  )
})

test('a name may be any text that fits', () => {
  for (const name of ['é'.repeat(64), 'with space/and.slash', '🦋']) {
    assert.equal(parseRegionRequest(name, {}, 'hardware').name, name)
  }
})
