import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { Screen } from '../../src/cli/output/screen.ts'
import { showTop } from '../../src/cli/top/top-view.ts'
import type { Frame, IndexFrame, LinkFrame, MachineFrame, MemberFrame } from '../../src/dashboard/index.ts'

/** What `aether top` shows of members, of whom some have ranks, and of what flows between them. */
function shown(
  members: readonly (Pick<MemberFrame, 'slot' | 'rank'> & Partial<MemberFrame>)[],
  ends: readonly (readonly [number, number])[],
  machines: readonly MachineFrame[] = [],
  structures: Frame['structures'] = [],
  indexes: readonly IndexFrame[] = [],
) {
  let text = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  const member = { processId: 1, state: 'running', residentBytes: 0, processors: 0, waits: 0, regions: 0 } as const
  const still = { bytesIn: 0, bytesOut: 0, waitP50Ns: 0, waitP99Ns: 0 }
  const links = ends.map(
    ([from, to]): LinkFrame => ({ from, to, messages: 10, pages: 0, bytes: 1000, latencyNs: 20_000, totalBytes: 5000 }),
  )
  const frame: Frame = {
    ...{
      atMs: 0,
      space: 'shop',
      epoch: 1,
      running: true,
      operations: [],
      regions: [],
      structures,
      structureMemory: [],
      machines,
      indexes,
      arrays: { arrays: [], moved: [] },
      histograms: [],
      log: [],
    },
    members: members.map((each): MemberFrame => ({ ...member, ...still, ...each, epoch: each.slot + 1 })),
    links,
    lostEvents: 0,
  }
  showTop(frame, new Screen(stream as unknown as NodeJS.WriteStream))
  return text
}

test('top calls members what they are, and the time of a link neither that of pages nor of requests', () => {
  const members = shown(
    [
      { slot: 0, rank: null },
      { slot: 1, rank: null },
    ],
    [[0, 1]],
  )
  assert.match(members, /^ *member 0 → member 1 .* 20\.0 µs/m)
  assert.match(members, /^ *link .* latency$/m)
  assert.doesNotMatch(members, /rank|a page takes/)
  // Rank 2 runs on another machine.
  const ranks = shown(
    [
      { slot: 3, rank: 0 },
      { slot: 4, rank: 1 },
    ],
    [
      [0, 1],
      [1, 2],
    ],
  )
  assert.match(ranks, /rank 0 → rank 1 /)
  assert.match(ranks, /rank 1 → rank 2 /)
})

test('top counts a process once, however many of its threads are members', () => {
  const own = { rank: null, residentBytes: 64 * 2 ** 20, processors: 0.5 }
  const text = shown(
    [
      { ...own, slot: 0, processId: 7 },
      { ...own, slot: 1, processId: 7 },
      { ...own, slot: 2, processId: 8 },
    ],
    [],
  )
  assert.match(text, /processors 1\.00 {3}memory 128\.?0* MiB/)
})

test('top shows who leads a machine, and how far each replica is', () => {
  const machine = { name: 'accounts\n', term: 4, rate: 1500, proposing: 0 }
  const failOver = { campaignNs: 1e5, promisedNs: 2e5, caughtUpNs: 3e5, decidedNs: 4e5 }
  const text = shown(
    [
      { slot: 0, rank: 0 },
      { slot: 1, rank: 1 },
    ],
    [],
    [
      { ...machine, number: 0, leads: false, applied: 1990, behind: 10, failOver: null },
      { ...machine, number: 1, leads: true, applied: 2000, behind: 0, failOver },
    ],
  )
  assert.match(text, /^ *accounts\? +rank 0 +follows +4 +1,990 +10 +1\.50 k\/s +0 +-$/m)
  assert.match(text, /^ *accounts\? +rank 1 +leads +4 +2,000 +- +1\.50 k\/s +0 +400 µs$/m)
  assert.doesNotMatch(shown([{ slot: 0, rank: 0 }], []), /machine/)
})

test('top shows how many jobs of a queue are in each state', () => {
  const still = { bytes: 1, isEstimate: false, isChanging: false, reads: 0, writes: 0, waiting: 0 }
  const queue = { region: 'structures', name: 'mails', kind: 'jobs', entries: 5, evictions: 0, expirations: 0 } as const
  const text = shown([{ slot: 0, rank: null }], [], [], [{ ...still, ...queue, now: '3 waiting, 2 completed' }])
  assert.match(text, /^ *mails +jobs +5 .* 3 waiting, 2 completed$/m)
})

test('top shows what each node of an index leads and holds, and what moves', () => {
  const part = {
    state: 'holds',
    behind: 0,
    keys: 1000,
    expiring: 0,
    waiting: 0,
    bytesUsed: 2 ** 20,
    bytesHeld: 0,
  } as const
  const holds = (shard: number, more: object = {}) => ({ ...part, evicted: 0, shard, leads: false, ...more })
  const node = { bytesMax: 2 ** 30, slow: 0 }
  const nodes = [
    { ...node, number: 0, slow: 7, shards: [holds(0, { leads: true }), holds(1, { leads: true, waiting: 2 })] },
    { ...node, number: 1, shards: [holds(0, { behind: 30, evicted: 5 }), holds(1, { state: 'opening', keys: 0 })] },
  ]
  const members = [
    { slot: 0, rank: 0 },
    { slot: 1, rank: 1 },
  ]
  const text = shown(members, [], [], [], [{ name: 'users\n', shards: 2, replicas: 3, nodes }])
  assert.match(text, /^ *users\? +rank 0 +2 +2 of 2 +- +2,000 +2\S* MiB +1\S* GiB +- +2 +- +7$/m)
  assert.match(text, /^ *users\? +rank 1 +0 +1 of 2 +1 +1,000 +2\S* MiB +1\S* GiB +30 +- +5 +-$/m)
  assert.doesNotMatch(shown(members, []), /index/)
})
