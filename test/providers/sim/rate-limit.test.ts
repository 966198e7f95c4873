import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type TwoHosts, twoHosts } from './two-hosts.ts'

const BYTES = 8192
const WRITES = 32
const LIMIT = 1_000_000
const NS_PER_SECOND = 1e9

/** Nanoseconds of simulated time that the WRITEs take. */
function spent({ cluster, a, b, until }: TwoHosts): number {
  const before = cluster.nowNs
  for (let id = 0; id < WRITES; id += 1) a.write(b, id, 0, BYTES)
  const results = until(a, WRITES)
  assert.deepEqual(
    results,
    Array.from({ length: WRITES }, (_, id) => [id, 0]),
  )
  return cluster.nowNs - before
}

const atLeastNs = ((WRITES * BYTES) / LIMIT) * NS_PER_SECOND

test('a limit of a queue pair is kept in simulated time, also where packets are lost, and ends when taken away', () => {
  for (const options of [{}, { network: { loss: 0.02 } }]) {
    const hosts = twoHosts(7, options, { timeout: 14, retryCount: 7 })
    const fast = spent(hosts)
    hosts.a.pair.setRateLimit(LIMIT)
    const slow = spent(hosts)
    // The first packet leaves at once, and what is sent again and all headers are counted, too.
    assert.ok(slow > 0.98 * atLeastNs && slow < 1.4 * atLeastNs, `${slow} ns`)
    hosts.a.pair.setRateLimit(Number.POSITIVE_INFINITY)
    assert.ok(fast < atLeastNs / 10 && spent(hosts) < atLeastNs / 10)
  }
})

test('a slower limit holds from the next packet on, and a faster one does not wait for the end of a slow pause', () => {
  const hosts = twoHosts(3, {}, { timeout: 0 })
  hosts.a.pair.setRateLimit(1000)
  hosts.a.write(hosts.b, 1, 0, BYTES)
  hosts.cluster.advance(1e6)
  assert.deepEqual(hosts.a.completions(), [])
  hosts.a.pair.setRateLimit(LIMIT)
  const before = hosts.cluster.nowNs
  assert.deepEqual(hosts.until(hosts.a, 1), [[1, 0]])
  assert.ok(hosts.cluster.nowNs - before < 2 * (BYTES / LIMIT) * NS_PER_SECOND)
})
