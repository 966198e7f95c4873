import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { BUSY_PAGES_MAX, BusyPages } from '../../../src/dsm/coherent/busy-pages.ts'
import {
  type CountersJson,
  Profile,
  type ProfileJson,
  setProfiling,
  threadProfile,
} from '../../../src/profiling/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()

const readings = (profile: Profile, region: string) =>
  profile.counters().filter(({ name, label }) => name === 'dsm.pages.busy' && label.endsWith(` ${region}`))

describe('the busiest pages', () => {
  before(() => setProfiling(true))
  after(() => setProfiling(false))

  test('are found among many others, with blocks that stay bounded', () => {
    const pages = new BusyPages('sought')
    for (let time = 0; time < 40_000; time += 1) {
      pages.count(1000 + time, 'readFaults')
      // By now the places are taken.
      if (time < 2000) continue
      if (time % 4 === 0) pages.count(7, 'writeFaults')
      if (time % 8 === 0) pages.count(9, 'invalidations')
    }
    const found = readings(threadProfile(), 'sought')
    assert.ok(found.length <= BUSY_PAGES_MAX)
    const of = (page: number) => found.find(({ label }) => label === `${page} sought`)?.values
    for (const [page, counter, all] of [
      [7, 'writeFaults', 9500],
      [9, 'invalidations', 4750],
    ] as const) {
      const values = of(page)
      assert.ok(values !== undefined)
      const counted = values[counter]!
      assert.ok(counted > 0 && counted <= all && counted + values['before']! >= all, JSON.stringify(values))
    }
    pages.close()
    assert.deepEqual(readings(threadProfile(), 'sought'), [])
  })

  test('nobody is counted where nobody profiles', () => {
    setProfiling(false)
    assert.equal(BusyPages.of('silent'), undefined)
    setProfiling(true)
    assert.notEqual(BusyPages.of('silent'), undefined)
  })
})

describe('the busiest pages of real ranks', () => {
  const fixture = new URL('../advice/fixtures/rank.js', import.meta.url)
  const busy = (json: ProfileJson): readonly CountersJson[] =>
    json.counters.filter(({ name, rest }) => name === 'dsm.pages.busy' && !rest)

  test('are in the profile of each, in its JSON, its differences and its sums', async () => {
    await using ranks = new Ranks(fixture, 2, { AETHER_PROFILE: '1' })
    await ranks.all('join')
    await ranks.all('open', 'busy', { coherence: 'directory', size: '1MiB' })
    const fill = () =>
      Promise.all([0, 1].map((rank) => ranks.on(rank, 'fill', 'busy', 'call', 4096 * 11 + rank, 1, 3000)))
    await ranks.all('sweep', 'busy', 100, 1)
    await fill()
    const earlier = Profile.fromJSON(await ranks.on(0, 'profile'))
    let profiles: ProfileJson[] = []
    const ofPage = (json: ProfileJson) => busy(json).find(({ label }) => label === '11 busy')?.values
    for (let round = 0; ; round += 1) {
      assert.ok(round < 100, `page 11 is not the busiest: ${JSON.stringify(profiles.map(busy))}`)
      await fill()
      profiles = await ranks.all<ProfileJson>('profile')
      if (profiles.every((json) => (ofPage(json)?.['calls'] ?? 0) > 20 && (ofPage(json)?.['invalidations'] ?? 0) > 20))
        break
    }
    for (const json of profiles) assert.ok(busy(json).length <= BUSY_PAGES_MAX)
    const sum = Profile.merge(profiles.map((json) => Profile.fromJSON(json))).toJSON()
    const calls = profiles.map((json) => ofPage(json)?.['calls'] ?? 0)
    assert.equal(ofPage(sum)?.['calls'], calls[0]! + calls[1]!)
    const since = Profile.fromJSON(profiles[0]).since(earlier).toJSON()
    const before = ofPage(earlier.toJSON())?.['calls'] ?? 0
    assert.equal(ofPage(since)?.['calls'], calls[0]! - before)
    assert.match(String(Profile.fromJSON(profiles[0])), /dsm\.pages\.busy invalidations +11 busy/)
  })

  test('are not counted where nobody profiles', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'quiet', { coherence: 'mesi', size: '64KiB' })
    await Promise.all([0, 1].map((rank) => ranks.on(rank, 'fill', 'quiet', 'call', rank, 1, 100)))
    for (const json of await ranks.all<ProfileJson>('profile')) assert.deepEqual(busy(json), [])
  })
})
