import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { RecordedSession, SessionRecorder } from '../../../src/dashboard/index.ts'
import { PageHistories } from '../../../src/dashboard/session/page-histories.ts'
import { EVENT_NUMBERS, type SessionRecord } from '../../../src/dashboard/session/session-format.ts'
import { directory, EventKind, PAGE_ENTRY_BYTES, type ReadEvent } from '../../../src/dsm/index.ts'
import { SyntheticSpace } from '../support/synthetic-space.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-recorded-page-'))
after(() => rmSync(folder, { recursive: true }))

const LOOK_MS = 200
const PAGE = 3
const stateNumber = (name: string): number => 1 + Object.keys(directory.cache.states).indexOf(name)

/** What happened at a look: who had what copy of the page then, and events that were too many. */
interface Happening {
  readonly look: number
  readonly copies: Readonly<Record<number, string>>
  readonly left?: number
  /** Nothing is told of how that came about. */
  readonly isUntold?: boolean
  readonly lostEvents?: number
}

/** A recording of three ranks and a region of which nobody but those of `happenings` touches anything. */
function recordingOf(name: string, looks: number, happenings: readonly Happening[]): RecordedSession & Disposable {
  const path = join(folder, name)
  const space = new SyntheticSpace({ members: 3, pages: 256, blocksALook: 0, lookMs: LOOK_MS })
  const copies = new Map<number, number>()
  let happening: Happening | undefined
  const events = (): ReadEvent[] =>
    Object.entries(happening?.isUntold === true ? {} : (happening?.copies ?? {})).flatMap(([number, state]) => {
      const [rank, timeNs] = [Number(number), space.looks * LOOK_MS * 1e6]
      const nothing = { rank, region: 0, timeNs, page: PAGE, peer: -1, requester: -1, bytes: 0, tookNs: 0 }
      const [before, now] = [copies.get(rank) ?? 0, stateNumber(state)]
      copies.set(rank, now)
      return [
        { ...nothing, what: EventKind.Wanted, before: 1, after: 0 },
        { ...nothing, what: EventKind.Copy, before, after: now },
      ]
    })
  const source = {
    pages: (region: string) => space.pages(region),
    takeEvents: () => ({ count: 0, left: happening?.left ?? 0, byRegion: new Map([['grid', events()]]) }),
  }
  const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source, aether: '1', clock: space.clock })
  let lostEvents = 0
  for (let look = 0; look < looks; look++) {
    happening = happenings.find((each) => each.look === look)
    lostEvents += happening?.lostEvents ?? 0
    for (const [rank, state] of Object.entries(happening?.copies ?? {})) {
      const entries = new DataView(new ArrayBuffer(256 * PAGE_ENTRY_BYTES))
      entries.setUint8(PAGE * PAGE_ENTRY_BYTES, stateNumber(state))
      space.map.take(Number(rank), 0, entries)
    }
    recorder.look({ ...space.look(), lostEvents })
  }
  recorder.close()
  const session = RecordedSession.open(path)
  return Object.assign(session, { [Symbol.dispose]: () => session.close() })
}

const SHARED = 3

describe('a page of a recording', () => {
  const reads = { look: 25, copies: { 1: 'S', 2: 'S' } }

  test('has who may read it and what each waited for as long as its history reaches the beginning, and then says that it does not know', () => {
    using session = recordingOf('two-readers', 1000, [reads])
    const early = session.page('grid', PAGE, 10_000)!
    assert.deepEqual([early.class, early.sharers], [SHARED, [1, 2]])
    assert.deepEqual(
      early.copies.map(({ rank, state, faults, losses }) => [rank, state, faults, losses]),
      [
        [1, 'S', 1, 0],
        [2, 'S', 1, 0],
      ],
    )
    const late = session.page('grid', PAGE, 199_000)!
    assert.deepEqual([late.class, late.sharers, late.copies], [SHARED, null, []])
  })

  test('has who may read it again where every rank has been heard of, but not how often each waited', () => {
    const all = { look: 900, copies: { 0: 'I', 1: 'S', 2: 'S' } }
    using session = recordingOf('all-heard', 1000, [reads, all])
    const { sharers, copies } = session.page('grid', PAGE, 199_000)!
    assert.deepEqual(sharers, [1, 2])
    assert.deepEqual(
      copies.map(({ faults, losses }) => [faults, losses]),
      [
        [null, null],
        [null, null],
        [null, null],
      ],
    )
  })

  test('knows nothing from before events that are missing', () => {
    for (const [name, gap] of Object.entries({ left: { left: 7 }, lost: { lostEvents: 7 } })) {
      const one = { look: 30, copies: { 2: 'S' }, ...gap }
      using session = recordingOf(name, 60, [reads, one])
      const { sharers, copies, history } = session.page('grid', PAGE, 8000)!
      assert.equal(sharers, null, name)
      assert.deepEqual(
        copies.map(({ rank, faults }) => [rank, faults]),
        [[2, null]],
        name,
      )
      assert.equal(history.length, 6, 'the history shows what there is')
    }
  })

  test('is not said to be read by nobody where it was shared before the recording began', () => {
    using session = recordingOf('late', 30, [{ look: 0, copies: { 1: 'S', 2: 'S' }, isUntold: true }])
    const page = session.page('grid', PAGE, 5000)!
    assert.deepEqual([page.class, page.sharers], [SHARED, null])
  })

  test('that is hot has as much kept of each look as is shown', () => {
    const numbers = Array.from({ length: 2000 }, (_, at) => [1, at, EventKind.Wanted, PAGE, -1, 1, 0, 0, 0]).flat()
    assert.equal(numbers.length, 2000 * EVENT_NUMBERS)
    const records = Array.from({ length: 5 }, (_, look): SessionRecord => {
      const data = { region: 'grid', left: 0, beginNs: look * 2e8, events: numbers }
      return { atMs: look * LOOK_MS, event: 'events', data }
    })
    const { looks } = new PageHistories(10).of('grid', PAGE, 0, () => ({ records, bytes: 1 }))
    assert.deepEqual(
      looks.map(({ events }) => events.length),
      [240, 240, 240, 240, 240],
    )
    assert.equal(looks[4]!.events.at(-1)!.timeNs, 4 * 2e8 + 1999, 'the last of them')
  })
})
