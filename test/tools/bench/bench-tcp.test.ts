/** What latency and bandwidth of a tcp device are held against: sockets in C, and UCX where it is. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { benchBandwidth } from '../../../tools/bench/bandwidth.ts'
import { TcpFloor } from '../../../tools/bench/floor/tcp-floor.ts'
import { benchLatency } from '../../../tools/bench/latency.ts'
import type { BenchRow } from '../../../tools/bench/row.ts'
import { checkTimes } from './support.ts'

const small = { device: 'tcp-lo', sizes: [8, 4096], timeMs: 2 }

/** Why there is no program in C here; false if there is. */
function reasonAgainst(): string | false {
  try {
    using _ = new TcpFloor()
    return false
  } catch (error) {
    return (error as Error).message
  }
}

const skip = reasonAgainst()
const namesOf = (rows: readonly BenchRow[]): string[] => rows.map(({ op, provider }) => `${op}, ${provider}`)

test('the latency of a tcp device stands beside ends in C that spin and that sleep', { skip }, async () => {
  const rows = await benchLatency({ ...small, peers: ['C'] })
  const inC = rows.filter(({ provider }) => provider.startsWith('C '))
  const expected = ['spinning', 'blocking'].flatMap((how) => Array(2).fill(`write-seen, C ${how}`))
  assert.deepEqual(namesOf(inC), expected)
  for (const row of inC) {
    checkTimes(row)
    assert.equal(row.baseline, 'write-seen, tcp')
    assert.ok(row.ratio! > 0)
  }
})

test('its bandwidth stands beside a stream in C', { skip }, async () => {
  const rows = await benchBandwidth({ ...small, peers: ['C'] })
  const inC = rows.filter(({ provider }) => provider.startsWith('C '))
  assert.deepEqual(namesOf(inC), Array(2).fill('write, C stream'))
  for (const row of inC) assert.equal(row.baseline, 'write, tcp')
})

test('UCX is measured over TCP where it is here, and nothing of it over another device', async () => {
  const absent: string[] = []
  const onMissing = (peer: string): unknown => absent.push(peer)
  const rows = await benchLatency({ ...small, sizes: [8], peers: ['UCX'], onMissing })
  const ofUcx = namesOf(rows.filter(({ provider }) => provider.startsWith('UCX')))
  if (absent.length > 0) assert.deepEqual(ofUcx, [])
  else assert.match(ofUcx.join(), /^send, UCX [\d.]+ tcp$/)
  const others = await benchLatency({ ...small, device: 'shm0', sizes: [8], peers: ['UCX', 'C'] })
  assert.ok(others.every(({ provider }) => !/^(UCX|C )/.test(provider)))
})
