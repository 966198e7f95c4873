import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { DashboardServer, FollowedSpace } from '../../src/dashboard/index.ts'
import { open } from '../../src/dsm/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { type Answer, ask } from '../support/ask.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('../dsm/coherent/fixtures/rank.js', import.meta.url)
const PAGE = 4096
const Authorization = 'Bearer a-token-of-a-test'

describe('/metrics of the dashboard', () => {
  const source = new FollowedSpace()
  let server: DashboardServer
  /** Of two ranks, for promtool. */
  let said = ''
  const scrape = (headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    ask(Number(new URL(server.url).port), '/metrics', { headers: { Authorization, ...headers } })

  before(async () => {
    server = await DashboardServer.start({ source, token: 'a-token-of-a-test', metrics: () => source.metrics() })
  })
  after(() => server.close())

  test('has the figures of every rank, though no page listens', async () => {
    const none = await scrape()
    assert.deepEqual([none.status, none.text], [200, '# no space of yours is running on this machine\n'])

    await using ranks = new Ranks(fixture, 2, { AETHER_PROFILE: '1' })
    await ranks.all('join')
    await ranks.all('open', 'grid', { coherence: 'mesi', size: 8 * PAGE, pageSize: PAGE, placement: 'block' })
    await ranks.on(0, 'writeBytes', 'grid', 0, new Uint8Array(8).fill(1))
    await ranks.on(1, 'readBytes', 'grid', 0, 8)
    const space = ranks.rendezvous.replace('local:', '')
    const sent = `aether_dsm_pages_bytes_sent_total{space="${space}",rank="0",region="grid"} ${PAGE}\n`
    const received = `aether_dsm_pages_pages_received_total{space="${space}",rank="1",region="grid"} 1\n`
    // A page is counted a moment after it was sent.
    await until(() => [sent, received].every((line) => source.metrics().includes(line)), 'the page is counted')
    const { status, headers, text } = await scrape()
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    assert.ok(text.includes(sent) && text.includes(received), text)
    assert.match(text, /^# TYPE aether_dsm_fault_seconds histogram$/m)
    assert.match(text, /^aether_dsm_transitions_mesi_cache\S*\{.*rank="1".*\} [1-9]/m)
    said = text
  })

  test('promtool accepts what all ranks say', (context) => {
    if (spawnSync('promtool', ['--version']).error !== undefined) {
      context.skip('promtool is not installed (Debian: prometheus)')
      return
    }
    const check = (input: string) => spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    const { status, stdout, stderr } = check(said)
    assert.notEqual(said, '')
    assert.deepEqual([status, stdout + stderr], [0, ''])
    assert.notEqual(check(said.replace('_total', '')).status, 0, 'it would accept anything')
  })

  test('tells members of a space that are in no group by their slots', async () => {
    await using space = await open('shop')
    assert.match((await scrape()).text, /^aether_profile_unplaced\{space="shop",member="0"\} 0$/m)
    assert.equal(space.name, 'shop')
  })

  test('is for those who bring the token, from here', async () => {
    assert.equal((await scrape({ Authorization: '' })).status, 401)
    assert.equal((await scrape({ Authorization: 'Bearer another-token' })).status, 401)
    assert.equal((await scrape({ Host: 'evil.example' })).status, 421)
    assert.equal((await scrape({ Origin: 'http://evil.example' })).status, 403)
  })
})

test('of a space that was named there are only its own', async () => {
  await using other = await open('other')
  const source = new FollowedSpace('mine')
  assert.equal(source.metrics(), "# no process of yours is in a space 'mine' on this machine\n")
  await using mine = await open('mine')
  assert.match(source.metrics(), new RegExp(`space="${mine.name}"`))
  assert.doesNotMatch(source.metrics(), new RegExp(`space="${other.name}"`))
})
