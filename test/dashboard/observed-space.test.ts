import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runningSpaces } from '../../src/cluster/index.ts'
import {
  FollowedSpace,
  type Frame,
  ObservedSpace,
  PageClass,
  type PageFrame,
  RecordedSession,
  SessionRecorder,
} from '../../src/dashboard/index.ts'
import { open } from '../../src/dsm/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('../dsm/coherent/fixtures/rank.js', import.meta.url)
const PAGE = 4096

describe('a group of three that somebody watches', () => {
  test('shows who is there, what goes between them, and what becomes of a page', async () => {
    await using ranks = new Ranks(fixture, 3)
    await ranks.all('join')
    await ranks.all('open', 'grid', { coherence: 'directory', size: 600 * PAGE, pageSize: PAGE, placement: 'block' })
    await ranks.on(0, 'writeBytes', 'grid', 0, new Uint8Array(8).fill(1))
    const [name = ''] = runningSpaces()
    using space = ObservedSpace.attach(name)
    let frame: Frame = space.look()
    const look = (condition: () => boolean, what: string): Promise<void> =>
      until(() => {
        frame = space.look()
        return condition()
      }, what)
    const page = (): PageFrame => space.page('grid', 0)!

    await look(
      () => frame.regions.some(({ name, openAt }) => name === 'grid' && openAt.length === 3),
      'the region is shown by all',
    )
    assert.deepEqual(
      frame.members.map(({ rank }) => rank),
      [0, 1, 2],
    )
    // What was before anybody watched is shown, too.
    await look(() => page().class === PageClass.Written, 'the page is seen to be written')
    assert.equal(page().owner, 0)

    await ranks.on(1, 'readBytes', 'grid', 0, 8)
    await ranks.on(2, 'readBytes', 'grid', 0, 8)
    await look(() => page().class === PageClass.Shared, 'the page is seen to be shared')
    assert.deepEqual(page().sharers, [0, 1, 2])

    await ranks.on(1, 'writeBytes', 'grid', 0, new Uint8Array(8).fill(2))
    await look(() => page().class === PageClass.Written, 'the page is seen to be written by another')
    assert.equal(page().owner, 1)
    assert.equal(page().home, 0)
    const { history, copies, version } = page()
    assert.ok(version !== null && version > 0)
    assert.ok(copies.find(({ rank }) => rank === 2)!.losses! >= 1, 'rank 2 has lost its copy')
    const told = (rank: number, what: string, text?: string): boolean =>
      history.some((event) => event.rank === rank && event.what === what && (text ?? event.text) === event.text)
    assert.ok(told(1, 'wanted', 'wants to write') && told(1, 'granted'), JSON.stringify(history))
    assert.ok(told(2, 'received', 'Invalidate') && told(2, 'sent', 'Acknowledge'), JSON.stringify(history))
    assert.ok(history.every((event, index) => index === 0 || event.atUs >= history[index - 1]!.atUs))

    const sent = frame.links.find(({ from, to }) => from === 0 && to === 1)
    assert.ok(sent !== undefined && sent.totalBytes >= PAGE, 'home has sent rank 1 the page')
    const { cells } = frame.regions.find(({ name }) => name === 'grid')!
    assert.ok(cells.some(({ side, event, count }) => side === 'cache' && event === 'Store' && count > 0))
    assert.ok(cells.some(({ side, event, count }) => side === 'directory' && event === 'GetShared' && count > 0))
  })

  test('shows who was killed, and forgets what that rank had', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'pair', { coherence: 'mesi', size: 8 * PAGE, pageSize: PAGE, placement: 'block' })
    await ranks.on(1, 'writeBytes', 'pair', 0, new Uint8Array(8).fill(1))
    const [name = ''] = runningSpaces()
    using space = ObservedSpace.attach(name)
    const log: string[] = []
    const look = (): Frame => {
      const frame = space.look()
      log.push(...frame.log.map(({ text }) => text))
      return frame
    }
    await until(
      () => look().regions.some(({ openAt }) => openAt.length === 2) && space.page('pair', 0)!.owner === 1,
      'shown',
    )
    await ranks.kill(1)
    await until(() => look().members.length === 1, 'one is left')
    await until(() => log.some((line) => line.startsWith('rank 1 died')), log.join('\n'))
    assert.equal(
      space.page('pair', 0)?.copies.some(({ rank }) => rank === 1),
      false,
    )
  })

  test('writes no journal when nobody watches any more', async () => {
    await using ranks = new Ranks(fixture, 1)
    await ranks.all('join')
    await ranks.all('open', 'alone', { coherence: 'mesi', size: 8 * PAGE, pageSize: PAGE })
    const { processId } = ranks.processes[0]!
    const journals = (): number =>
      readdirSync(`/proc/${processId}/fd`).filter((fd) => linkOf(processId, fd).includes('aether-journal')).length
    assert.equal(journals(), 0)
    const [name = ''] = runningSpaces()
    const space = ObservedSpace.attach(name)
    await until(() => space.look().regions.length > 0, 'shown')
    assert.equal(journals(), 1)
    space.close()
    await until(() => journals() === 0, 'the journal is thrown away')
  })
})

test('a recording that begins when some have a page already says nothing whole of that page, and all of one that nobody had touched', async () => {
  await using ranks = new Ranks(fixture, 3)
  await ranks.all('join')
  await ranks.all('open', 'grid', { coherence: 'directory', size: 4 * PAGE, pageSize: PAGE, placement: 'block' })
  const folder = mkdtempSync(join(tmpdir(), 'aether-recorded-late-'))
  try {
    await ranks.on(0, 'readBytes', 'grid', 0, 8)
    await ranks.on(1, 'readBytes', 'grid', 0, 8)
    const [name = ''] = runningSpaces()
    const space = new FollowedSpace(name)
    const path = join(folder, 'late.session')
    let looks = 0
    const clock = (): number => looks * 200
    const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source: space, aether: '1', clock })
    let frame: Frame | undefined
    const look = (condition: () => boolean, what: string): Promise<void> =>
      until(() => {
        looks += 1
        frame = space.look()
        recorder.look(frame)
        return condition()
      }, what)
    const kind = (page: number): number => space.page('grid', page)?.class ?? PageClass.Untouched
    await look(
      () => frame?.regions[0]?.openAt.length === 3 && kind(0) === PageClass.Shared,
      'shown by all, page by page',
    )
    for (const page of [0, 3]) await ranks.on(2, 'readBytes', 'grid', page * PAGE, 8)
    const readers = (page: number): number => space.page('grid', page)?.sharers?.length ?? 0
    await look(() => readers(0) === 3 && readers(3) > 0, 'rank 2 has read both')
    // A touch between the reading of states and of events is told by the next look.
    const last = looks + 1
    await look(() => looks > last, 'looks more')
    const live = space.page('grid', 3)!
    recorder.close()
    space.close()
    const session = RecordedSession.open(path)
    const [shared, fresh] = [0, 3].map((page) => session.page('grid', page, looks * 200)!)
    session.close()
    assert.deepEqual([shared!.class, shared!.sharers], [PageClass.Shared, null])
    assert.ok(shared!.copies.every(({ faults, losses }) => faults === null && losses === null))
    assert.deepEqual(fresh!.sharers, live.sharers)
    // On a busy machine, a thread may fault once more before it sees the page that came.
    const faultsOf = (page: typeof live) => page.copies.find(({ rank }) => rank === 2)?.faults
    assert.ok(faultsOf(live)! > 0)
    assert.equal(faultsOf(fresh!), faultsOf(live))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a space without ranks shows its members and regions, and that it is over', async () => {
  const space = await open('shop')
  await using region = await space.openRegion('hits', { size: 2 * PAGE })
  using observed = ObservedSpace.attach('shop')
  const frame = observed.look()
  assert.equal(frame.members.length, 1)
  assert.equal(frame.members[0]!.processId, process.pid)
  assert.equal(frame.members[0]!.rank, null)
  assert.deepEqual(
    frame.regions.map(({ name, coherence, openAt, hasPages }) => ({ name, coherence, openAt, hasPages })),
    [{ name: 'hits', coherence: 'hardware', openAt: [0], hasPages: false }],
  )
  await region.close()
  await space.close()
  assert.equal(observed.look().running, false)
  assert.throws(() => ObservedSpace.attach('shop'), { code: 'ERR_AETHER_SPACE_UNREACHABLE' })
})

test('looking changes nothing: a name that nobody has leaves no file, and a name that no space can have is refused', () => {
  assert.throws(() => ObservedSpace.attach('nobody'), { code: 'ERR_AETHER_SPACE_UNREACHABLE' })
  assert.deepEqual(runningSpaces(), [])
  assert.throws(() => ObservedSpace.attach('../etc'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

/** A descriptor may be gone by now. */
function linkOf(processId: number, descriptor: string): string {
  try {
    return readlinkSync(`/proc/${processId}/fd/${descriptor}`)
  } catch {
    return ''
  }
}

test('a space that is waited for is found, though the clock of the machine was set back meanwhile', async (context) => {
  const followed = new FollowedSpace('awaited')
  assert.equal(followed.look().running, false)
  await using space = await open('awaited')
  const { now } = Date
  context.mock.method(Date, 'now', () => now() - 3_600_000)
  await until(() => followed.look().running, `'${space.name}' is found`)
  followed.close()
})
