import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Profile } from '../../../src/profiling/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)

let ranks: Ranks
before(async () => {
  ranks = new Ranks(fixture, 2, { AETHER_PROFILE: '1' })
  await ranks.all('join')
})
after(() => ranks[Symbol.asyncDispose]())

test('a rank of the group reads what another has counted: by region, by transition, by queue pair', async () => {
  for (const name of ['first', 'second']) await ranks.all('open', name, { coherence: 'mesi', size: '64KiB' })
  await ranks.on(0, 'fillPages', 'first', 0, 16, 1)
  await ranks.on(1, 'readBytes', 'first', 0, 65_536)
  const profile = Profile.fromJSON(await ranks.on(0, 'profileJson', 1))
  const pagesOf = (region: string) =>
    profile.counters().find(({ name, label }) => name === 'dsm.pages' && label === region)?.values ?? {}
  assert.ok((pagesOf('first')['pagesReceived'] ?? 0) >= 8, JSON.stringify(pagesOf('first')))
  assert.ok((pagesOf('first')['demands'] ?? 0) >= 8)
  assert.equal(pagesOf('second')['pagesReceived'], 0)
  const waits = profile.histograms().find(({ name, label }) => name === 'dsm.fault' && label === 'first')
  assert.ok((waits?.count ?? 0) >= 8)
  const cells = profile.counters().find(({ name }) => name === 'dsm.transitions.mesi.cache')
  assert.equal(cells?.spread, 'transition')
  const loads = Object.entries(cells?.values ?? {}).filter(([cell]) => cell.endsWith(' Load'))
  assert.ok(loads.reduce((sum, [, count]) => sum + count, 0) >= 8, JSON.stringify(loads))
  assert.ok(profile.total('verbs.queuePair', 'receives') > 0)
  assert.ok(profile.total('verbs.device', 'completions') > 0)
})

test('the figures of a region that is closed are kept, among the others', async () => {
  const counted = async () => Profile.fromJSON(await ranks.on(0, 'profileJson', 1))
  const earlier = await counted()
  await ranks.all('close', 'first')
  await ranks.all('barrier')
  const later = await counted()
  const regions = later.counters().filter(({ name, rest }) => name === 'dsm.pages' && !rest)
  assert.deepEqual(
    regions.map(({ label }) => label),
    ['second'],
  )
  const received = (profile: Profile) => profile.total('dsm.pages', 'bytesReceived')
  assert.ok(received(earlier) >= 8 * 4096)
  assert.equal(received(later), received(earlier))
  assert.equal(later.histogram('dsm.fault').count, earlier.histogram('dsm.fault').count)
})
