/** The algorithms of agreement between processes of one host, whose memories are reached over a real device. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { algorithms } from '../../tools/agreement/index.ts'
import { playReal, type RealKill } from '../../tools/agreement/real/play-real.ts'
import { resources } from './support/guest-hosts.ts'

const device = 'rxe0'
const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''
/** The processor of a guest may be emulated. */
const DELAY_MS = 100
const TIMEOUT_MS = 300_000

interface Case {
  readonly name: string
  readonly kills?: readonly RealKill[]
  readonly lies?: Readonly<Record<number, string>>
}

const cases: readonly Case[] = [
  { name: 'protected-memory-paxos' },
  {
    name: 'protected-memory-paxos',
    kills: [
      { memory: 1, atMs: 0 },
      { process: 0, atMs: 0 },
    ],
  },
  { name: 'disk-paxos', kills: [{ process: 0, atMs: 0 }] },
  { name: 'fast-and-robust' },
  { name: 'fast-and-robust', kills: [{ memory: 2, atMs: 0 }], lies: { 0: 'two-faced' } },
]

for (const { name, kills = [], lies = {} } of cases)
  test(`over a real device: ${name}, ${kills.length} killed, ${Object.keys(lies).length} lie: all others decide the same`, async (t) => {
    const before = resources()
    const algorithm = algorithms.find((each) => each.name === name)!
    const inputs = algorithm.failures === 'crash' ? ['v0', 'v1'] : ['v0', 'v1', 'v2']
    const setting = { processes: inputs.length, memories: 3 }
    const scene = { algorithm, setting, inputs, device, address, delayMs: DELAY_MS, lies }
    const { violation, undecided, decisions, first } = await playReal(scene, kills, TIMEOUT_MS)
    t.diagnostic(`process ${first?.process} was the first, after ${first?.tookMs.toFixed(1)} ms`)
    assert.equal(violation, undefined)
    assert.deepEqual(undecided, [], decisions.join(' | '))
    assert.deepEqual(resources(), before)
  })
