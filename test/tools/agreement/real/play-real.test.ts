import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { algorithms, graphNamed, hbo, omegaFairLossy } from '../../../../tools/agreement/index.ts'
import { playReal, type RealKill } from '../../../../tools/agreement/real/play-real.ts'
import { drawn } from '../../../support/drawn.ts'

const TIMEOUT_MS = 120_000

interface Case {
  readonly name: string
  readonly device: 'shm0' | 'tcp-lo'
  readonly processes?: number
  readonly kills?: readonly RealKill[]
  readonly lies?: Readonly<Record<number, string>>
}

const cases: readonly Case[] = [
  { name: 'protected-memory-paxos', device: 'shm0', kills: [{ process: 0, atMs: 0 }] },
  {
    name: 'protected-memory-paxos',
    device: 'tcp-lo',
    kills: [
      { memory: 1, atMs: 0 },
      { process: 0, atMs: 2 },
    ],
  },
  { name: 'disk-paxos', device: 'tcp-lo', kills: [{ process: 0, atMs: 3 }] },
  {
    name: 'aligned-paxos',
    device: 'shm0',
    kills: [
      { process: 1, atMs: 0 },
      { memory: 2, atMs: 0 },
    ],
  },
  { name: 'paxos', device: 'shm0', kills: [{ process: 2, atMs: 0 }] },
  { name: 'fast-and-robust', device: 'tcp-lo', kills: [{ memory: 0, atMs: 1 }] },
  { name: 'fast-and-robust', device: 'tcp-lo', lies: { 0: 'two-faced' } },
  { name: 'robust-backup', device: 'tcp-lo', lies: { 1: 'tampers' } },
]

for (const { name, device, processes = 3, kills = [], lies = {} } of drawn(cases, 3)) {
  const what = [
    ...kills.map(
      ({ process, memory }) => `${process === undefined ? `memory ${memory}` : `process ${process}`} is killed`,
    ),
    ...Object.entries(lies).map(([process, lie]) => `process ${process} is ${lie}`),
  ]
  test(`${name} on ${device}: ${what.join(' and ')}, and all others decide the same`, async () => {
    const algorithm = algorithms.find((each) => each.name === name)!
    const setting = { processes, memories: 3 }
    const inputs = Array.from({ length: processes }, (_, process) => `v${process}`)
    const scene = { algorithm, setting, inputs, device, address: '127.0.0.1', delayMs: 5, lies }
    const { violation, undecided, decisions, events } = await playReal(scene, kills, TIMEOUT_MS)
    assert.equal(violation, undefined)
    assert.deepEqual(undecided, [])
    const decided = decisions.flat()
    assert.ok(decided.length >= processes - kills.length - Object.keys(lies).length, decisions.join(' | '))
    assert.equal(events.filter(({ type }) => type === 'crash').length, kills.length)
  })
}

test('Hybrid Ben-Or on a ring over shm0: the correct ones decide the same, though one is killed', async () => {
  const setting = { processes: 4, memories: 4, neighbours: graphNamed('ring', 4) }
  const inputs = ['0', '1', '0', '1']
  const scene = { algorithm: hbo, setting, inputs, device: 'shm0', address: '127.0.0.1', delayMs: 5 }
  const { violation, undecided } = await playReal(scene, [{ process: 1, atMs: 0 }], TIMEOUT_MS)
  assert.deepEqual([violation, undecided], [undefined, []])
})

test('a leader is elected over tcp-lo by registers and notices; when it is killed, the others have another', async () => {
  const setting = { processes: 3, memories: 3 }
  const inputs = ['', '', '']
  // Longer than a busy machine keeps a process waiting, so that leaders do not change for ever.
  const scene = { algorithm: omegaFairLossy, setting, inputs, device: 'tcp-lo', address: '127.0.0.1', delayMs: 20 }
  const { undecided, leaders } = await playReal(scene, [{ process: 0, atMs: 100 }], TIMEOUT_MS)
  assert.deepEqual(undecided, [])
  assert.equal(leaders[0], undefined)
  assert.equal(leaders[1], leaders[2])
  assert.ok(leaders[1] === 1 || leaders[1] === 2)
})

test('where nothing fails, Protected Memory Paxos decides after one write to each memory', async () => {
  const algorithm = algorithms.find((each) => each.name === 'protected-memory-paxos')!
  const setting = { processes: 2, memories: 3 }
  // Longer than a busy machine keeps a process waiting, so that it is not suspected.
  const scene = { algorithm, setting, inputs: ['a', 'b'], device: 'shm0', address: '127.0.0.1', delayMs: 100 }
  const { first, decisions } = await playReal(scene, [], TIMEOUT_MS)
  assert.deepEqual(decisions, [['a'], ['a']])
  assert.equal(first?.process, 0)
  assert.deepEqual([first.writes, first.reads, first.permissions, first.messages], [3, 0, 0, 0])
})
