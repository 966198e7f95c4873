import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GroupWaits } from '../../../src/cluster/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import type { WatchdogMessage } from '../../../src/profiling/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const MS = 600
const PAGE = 4096
const LONG = { timeoutMs: 40_000 }
const PROTOCOLS = ['mesi', 'moesi', 'directory', 'token']
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

describe('the watchdog of a group', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 3, { AETHER_WATCHDOG_MS: String(MS) })
    await ranks.all('join')
    await ranks.all('hearWatchdog')
  })
  after(() => ranks[Symbol.asyncDispose]())

  const says = (rank: number, pattern: RegExp): Promise<string> => ranks.processes[rank]!.says(pattern)
  const waits = (rank: number): Promise<GroupWaits> => ranks.on<GroupWaits>(rank, 'waits')

  test('a stopped rank that has the page is named with every protocol, also to a thread that is blocked', async () => {
    const all = { size: 16 * PAGE, pageSize: PAGE, placement: 'cyclic' }
    for (const coherence of PROTOCOLS) {
      await ranks.all('open', coherence, { coherence, ...all })
      // Page 3 has rank 0 as its home.
      await ranks.on(2, 'fetchAdd', coherence, 3 * PAGE, 1n)
    }
    const { processId, child } = ranks.processes[2]!
    await ranks.processes[2]!.stop()
    const waiting = PROTOCOLS.map((coherence) => ranks.on(1, 'fetchAdd', coherence, 3 * PAGE, 1n))
    const blocked = ranks.on(0, 'fetchAddSync', 'mesi', 3 * PAGE + 8, 1n)
    for (const coherence of PROTOCOLS) {
      const line = await says(1, new RegExp(`watchdog: rank 1 has waited .* of region '${coherence}' .*\\n`))
      assert.match(line, /for page 3 of region '\w+' \(to write\): /)
      assert.match(line, new RegExp(`rank 2 does not answer: process ${processId} is stopped \\(SIGSTOP\\)`))
      assert.doesNotMatch(line, /rank 0 does not|rank 0 has it/)
    }
    await says(0, /watchdog: rank 0 has waited .* page 3 of region 'mesi' .*rank 2 does not answer/)
    child.kill('SIGCONT')
    assert.deepEqual(await Promise.all(waiting), [1n, 1n, 1n, 1n])
    assert.equal(await blocked, 0n)
  })

  test('a load that blocks in a page fault is told of by the agent, and asked for by others', {
    skip: noViews,
  }, async () => {
    await ranks.on(2, 'touchPages', 'mesi', [6], true)
    await ranks.processes[2]!.stop()
    const waiting = ranks.on(1, 'touchPages', 'mesi', [6], false)
    await says(1, /rank 1 has waited .* page 6 of region 'mesi' \(to read\): .*rank 2 does not answer/)
    const { waits: found, silent, deadlocks } = await waits(0)
    const [wait] = found
    assert.deepEqual(
      [found.length, wait?.rank, wait?.kind, wait?.object, wait?.ranks],
      [1, 1, 'page', "page 6 of region 'mesi' (to read)", [2]],
    )
    assert.ok(wait!.waitedMs >= MS / 2)
    assert.deepEqual([silent.length, silent[0]?.rank], [1, 2])
    assert.match(silent[0]!.state, /is stopped/)
    assert.deepEqual(deadlocks, [])
    ranks.processes[2]!.child.kill('SIGCONT')
    assert.equal(await waiting, 6)
    // The program hears of it when it has its thread back.
    let told: WatchdogMessage | undefined
    while (told === undefined) {
      const heard = await ranks.on<WatchdogMessage[]>(1, 'heardFromWatchdog')
      told = heard.find(({ wait: { object } }) => object.startsWith('page 6'))
    }
    assert.deepEqual([told.rank, told.wait.kind, told.wait.ranks], [1, 'page', [2]])
    assert.deepEqual(await waits(0), { waits: [], silent: [], deadlocks: [] })
  })

  test('two ranks that take two locks of a region in opposite order are named as a deadlock, with the circle', async () => {
    const take = (rank: number, name: string): Promise<unknown> =>
      ranks.on(rank, 'lock', name, 'mesi', { name, ...LONG })
    await take(0, 'a')
    await take(1, 'b')
    const [first, second] = [take(0, 'b'), take(1, 'a')]
    const found = await Promise.any([0, 1].map((rank) => says(rank, /deadlock: .*\n/)))
    assert.match(found, /deadlock: ranks (0 and 1|1 and 0) wait for each other: /)
    assert.match(found, /rank 0 waits for lock '[^']*b', for which it needs rank 1/)
    assert.match(found, /rank 1 waits for lock '[^']*a', for which it needs rank 0/)
    await Promise.all([0, 1].map((rank) => says(rank, /has waited .* for lock .*: held by rank [01]\n/)))
    assert.deepEqual((await waits(2)).deadlocks, [[0, 1]])
    await ranks.on(0, 'unlock', 'a')
    await second
    await ranks.on(1, 'unlock', 'b')
    await first
    assert.deepEqual((await waits(2)).deadlocks, [])
    await ranks.on(0, 'unlock', 'b')
    await ranks.on(1, 'unlock', 'a')
  })

  test('who asks for a lock that it holds waits for itself', async () => {
    await ranks.on(2, 'lock', 'own', null, {})
    const again = ranks.on(2, 'lock', 'own', null, LONG)
    assert.match(await says(2, /deadlock: .*\n/), /rank 2 waits for itself: .*lock 'group\/own'/)
    await ranks.on(2, 'unlock', 'own')
    await again
    await ranks.on(2, 'unlock', 'own')
  })

  test('who has not come to the barrier is named, and a barrier that a lock holds up is a deadlock', async () => {
    await ranks.on(0, 'lock', 'c', null, {})
    const barriers = [0, 2].map((rank) => ranks.on(rank, 'barrier'))
    const lock = ranks.on(1, 'lock', 'c', null, LONG)
    await says(2, /rank 2 has waited .* for the barrier: rank 1 has not arrived\n/)
    const found = await Promise.any([0, 1].map((rank) => says(rank, /deadlock: .*barrier.*\n/)))
    assert.match(found, /rank 0 waits for the barrier, for which it needs rank 1/)
    assert.match(found, /rank 1 waits for lock 'group\/c', for which it needs rank 0/)
    await ranks.on(0, 'unlock', 'c')
    await lock
    await ranks.on(1, 'barrier')
    await Promise.all(barriers)
  })

  test('a region that its home has not opened is said to be', async () => {
    await ranks.on(0, 'open', 'late', { coherence: 'mesi', size: 8 * PAGE, pageSize: PAGE, placement: 'cyclic' })
    const waiting = ranks.on(0, 'fetchAdd', 'late', PAGE, 1n)
    await says(0, /page 1 of region 'late' \(to write\): its home, rank 1, has not opened the region\n/)
    await ranks.on(1, 'open', 'late', { coherence: 'mesi' })
    assert.equal(await waiting, 0n)
  })
})

test('AETHER_WATCHDOG_MS=0: nothing is told', async () => {
  await using ranks = new Ranks(fixture, 2, { AETHER_WATCHDOG_MS: '0' })
  await ranks.all('join')
  await ranks.on(0, 'lock', 'a', null, {})
  await assert.rejects(ranks.on(1, 'lock', 'a', null, { timeoutMs: 200 }))
  assert.equal(ranks.processes[1]!.err, '')
  assert.deepEqual((await ranks.on<GroupWaits>(1, 'waits')).waits, [])
})
