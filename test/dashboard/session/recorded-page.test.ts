import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { RecordedSession, SessionRecorder } from '../../../src/dashboard/index.ts'
import { PageMap } from '../../../src/dashboard/page-map.ts'
import { PageHistories } from '../../../src/dashboard/session/page-histories.ts'
import { describeRecordedPage } from '../../../src/dashboard/session/recorded-page.ts'
import {
  EVENT_NUMBERS,
  packPart,
  readPartHeader,
  type SessionRecord,
  unpackPart,
} from '../../../src/dashboard/session/session-format.ts'
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
  /**
   * The region is another one from then on, of the same name; or there is none at that look, and another one after it.
   */
  readonly becomes?: 'other' | 'none'
  /** Who has the region open from then on. */
  readonly openAt?: readonly number[]
}

/** A recording of some ranks and a region of which nobody but those of `happenings` touches anything. */
function recordingOf(
  name: string,
  looks: number,
  happenings: readonly Happening[],
  members = 3,
): RecordedSession & Disposable {
  const path = join(folder, name)
  const space = new SyntheticSpace({ members, pages: 256, blocksALook: 0, lookMs: LOOK_MS })
  let map = space.map
  let openAt: readonly number[] | undefined
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
    pages: () => map,
    takeEvents: () => ({ count: 0, left: happening?.left ?? 0, byRegion: new Map([['grid', events()]]) }),
  }
  const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source, aether: '1', clock: space.clock })
  let lostEvents = 0
  for (let look = 0; look < looks; look += 1) {
    happening = happenings.find((each) => each.look === look)
    lostEvents += happening?.lostEvents ?? 0
    if (happening?.becomes !== undefined) {
      map = new PageMap(256, directory)
      copies.clear()
    }
    openAt = happening?.openAt ?? openAt
    for (let rank = 0; rank < members; rank += 1) {
      if (openAt?.includes(rank) !== false) continue
      map.forget(rank)
      copies.delete(rank)
    }
    for (const [rank, state] of Object.entries(happening?.copies ?? {})) {
      const entries = new DataView(new ArrayBuffer(256 * PAGE_ENTRY_BYTES))
      entries.setUint8(PAGE * PAGE_ENTRY_BYTES, stateNumber(state))
      map.take(Number(rank), 0, entries)
    }
    const frame = space.look()
    const regions = frame.regions.map((region) => ({ ...region, openAt: openAt ?? region.openAt }))
    recorder.look({ ...frame, lostEvents, regions: happening?.becomes === 'none' ? [] : regions })
  }
  recorder.close()
  return opened(path)
}

function opened(path: string): RecordedSession & Disposable {
  const session = RecordedSession.open(path)
  return Object.assign(session, { [Symbol.dispose]: () => session.close() })
}

const [SHARED, WRITTEN] = [3, 4]

function partsOf(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += parts.at(-1)!.length)
    parts.push(bytes.subarray(at, at + readPartHeader(bytes.subarray(at))!.bytes))
  return parts
}

const withBadLine = (part: Buffer): Buffer => packPart(`${unpackPart(part)}{}\n`, readPartHeader(part)!)

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

  test('is not known whole where others had it already when the recording began, however soon that is seen', () => {
    const before = { copies: { 0: 'S', 1: 'S', 2: 'S' }, isUntold: true }
    const cases: Readonly<Record<string, readonly Happening[]>> = {
      'at its first look': [{ look: 0, ...before }],
      'at its second, for journals come a moment after they are asked for': [
        { look: 0, copies: {}, becomes: 'none' },
        { look: 1, ...before },
      ],
      'later, for a journal tells of its pages one after the other': [{ look: 2, ...before }],
      'later, for a journal came late': [
        { look: 0, copies: {}, openAt: [3, 4] },
        { look: 2, ...before, openAt: [0, 1, 2, 3, 4] },
      ],
    }
    for (const [when, happenings] of Object.entries(cases)) {
      using session = recordingOf(`before ${when}`, 30, [...happenings, { look: 20, copies: { 3: 'S', 4: 'S' } }], 5)
      const page = session.page('grid', PAGE, 5000)!
      assert.deepEqual([page.class, page.sharers], [SHARED, null], when)
      const told = page.copies.map(({ rank, state }) => [rank, state])
      assert.deepEqual(
        told,
        [
          [3, 'S'],
          [4, 'S'],
        ],
        when,
      )
    }
    using session = recordingOf(
      'before',
      30,
      [
        { look: 0, ...before },
        { look: 20, copies: { 3: 'S', 4: 'S' } },
      ],
      5,
    )
    const { copies } = session.page('grid', PAGE, 5000)!
    assert.deepEqual(
      copies.map(({ faults, losses }) => [faults, losses]),
      [
        [null, null],
        [null, null],
      ],
    )
  })

  test('has nothing of an earlier region of its name: of an earlier run, or one that was closed', () => {
    const early = { look: 10, copies: { 1: 'S', 2: 'S' } }
    const gone = [20, 21, 22].map((look): Happening => ({ look, copies: {}, becomes: 'none' }))
    const [written, replaced] = [{ copies: { 0: 'M' } }, { look: 25, copies: {}, becomes: 'other' } as const]
    const cases: Readonly<Record<string, readonly Happening[]>> = {
      'of an earlier run': [early, ...gone, { look: 30, ...written }],
      'closed and opened anew between two looks': [early, replaced, { look: 30, ...written }],
    }
    for (const [name, happenings] of Object.entries(cases)) {
      using session = recordingOf(name, 40, happenings)
      const { class: kind, sharers, copies, history } = session.page('grid', PAGE, 7000)!
      assert.deepEqual([kind, sharers, history.length], [WRITTEN, [0], 2], name)
      assert.deepEqual(copies, [{ rank: 0, state: 'M', faults: 1, losses: 0 }], name)
    }
    using session = recordingOf('written at once', 40, [early, { look: 30, ...written, becomes: 'other' }])
    const { sharers, copies, history } = session.page('grid', PAGE, 7000)!
    assert.deepEqual([sharers, history.length], [null, 2], 'who had it open is not heard of yet')
    assert.deepEqual(copies, [{ rank: 0, state: 'M', faults: null, losses: null }])
  })

  test('has nothing of a rank that has closed the region', () => {
    using session = recordingOf('closed', 30, [
      { look: 10, copies: { 1: 'S', 2: 'S' } },
      { look: 20, copies: {}, openAt: [0, 1] },
    ])
    assert.deepEqual(session.page('grid', PAGE, 3000)?.sharers, [1, 2])
    const { sharers, copies } = session.page('grid', PAGE, 5000)!
    assert.deepEqual([sharers, copies.map(({ rank }) => rank)], [[1], [1]])
  })

  test('knows nothing from before another began to look: who counts missing events from nothing', () => {
    const looks = [
      { look: 0, copies: {}, lostEvents: 7 },
      { look: 10, copies: { 1: 'S', 2: 'S' } },
      { look: 20, copies: {}, lostEvents: -7 },
    ]
    using session = recordingOf('another', 30, looks)
    assert.deepEqual(session.page('grid', PAGE, 3000)?.sharers, [1, 2])
    assert.equal(session.page('grid', PAGE, 5000)?.sharers, null)
  })

  test('is not known whole in a part of which something is damaged, wherever in it that is', () => {
    const path = join(folder, 'bad-line')
    recordingOf('bad-line', 30, [{ look: 6, copies: { 1: 'S', 2: 'S' } }])[Symbol.dispose]()
    writeFileSync(
      path,
      Buffer.concat(partsOf(readFileSync(path)).map((part, index) => (index === 2 ? withBadLine(part) : part))),
    )
    using session = opened(path)
    assert.match(session.part(1)?.damage ?? '', /damaged/)
    for (const atMs of [1200, 1500, 1800, 2500]) {
      const { sharers, copies } = session.page('grid', PAGE, atMs)!
      assert.deepEqual([sharers, copies], [null, []], `${atMs} ms`)
    }
  })

  test('of a recording that has as many ranks as events is told by going through these a few times', () => {
    let reads = 0
    const nothing = { region: 0, page: PAGE, peer: -1, requester: -1, bytes: 0, tookNs: 0, before: 0, after: 2 }
    const events = Array.from({ length: 5000 }, (_, number): ReadEvent => {
      const event = { ...nothing, timeNs: number, what: EventKind.Copy }
      const get = (): number => {
        reads += 1
        return number
      }
      return Object.defineProperty(event, 'rank', { get }) as typeof event & ReadEvent
    })
    const look = { atMs: 0, events, left: 0, lost: 0, openAt: [0], state: SHARED, isWhole: true, isNew: true }
    const at = { region: 'grid', page: PAGE, state: SHARED, coherence: 'directory', openAt: [0] }
    assert.equal(describeRecordedPage(at, directory, [look]).copies.length, 5000)
    assert.ok(reads <= 20 * events.length, `${reads} reads of ${events.length} ranks`)
  })

  test('is not taken for untouched where its state comes a look late, after those of many others', () => {
    const page = 520 * 256 + PAGE
    const region = { name: 'grid', coherence: 'directory', openAt: [0, 1], hasPages: true }
    const frame = (regions: readonly object[]) =>
      ({ event: 'frame', data: { lostEvents: 0, isWhole: false, regions } }) as unknown as SessionRecord
    const blocks = (first: number, count: number, isNew: boolean) => {
      const told = Array.from({ length: count }, (_, index) => [first + index, SHARED] as const)
      return { event: 'pages', data: { region: 'grid', pages: 600 * 256, isNew, blocks: told } } as const
    }
    const nothing = [page, -1, 0, stateNumber('S'), 0, 0]
    const events = [1, 0, EventKind.Wanted, ...nothing, 1, 1, EventKind.Copy, ...nothing]
    const records = [
      { ...frame([]), atMs: 0 },
      { ...frame([region]), atMs: 200 },
      { ...blocks(0, 512, true), atMs: 200 },
      { ...frame([region]), atMs: 400 },
      { ...blocks(512, 88, false), atMs: 400 },
      { atMs: 400, event: 'events', data: { region: 'grid', left: 0, beginNs: 0, events } } as const,
    ]
    const { looks } = new PageHistories(10).of('grid', page, 0, () => ({ records, bytes: 1 }))
    const at = { region: 'grid', page, state: SHARED, coherence: 'directory', openAt: [0, 1] }
    const { copies } = describeRecordedPage(at, directory, looks)
    assert.deepEqual(copies, [{ rank: 1, state: 'S', faults: null, losses: null }])
  })

  test('is not known whole from a look on of which events are missing, though nobody had touched it when that began', () => {
    const events = Array.from({ length: 300 }, (_, at) => [
      ...[1, 2 * at, EventKind.Wanted, PAGE, -1, 1, 0, 0, 0],
      ...[1, 2 * at + 1, EventKind.Copy, PAGE, -1, 1, stateNumber('S'), 0, 0],
    ]).flat()
    const region = { name: 'grid', coherence: 'directory', openAt: [1], hasPages: true }
    const pages = { region: 'grid', pages: 256, isNew: true, blocks: [] }
    const records = [
      {
        atMs: 0,
        event: 'frame',
        data: { lostEvents: 0, isWhole: true, regions: [region] },
      } as unknown as SessionRecord,
      { atMs: 0, event: 'pages', data: pages } as const,
      { atMs: 0, event: 'events', data: { region: 'grid', left: 0, beginNs: 0, events } } as const,
    ]
    const { looks } = new PageHistories(10).of('grid', PAGE, 0, () => ({ records, bytes: 1 }))
    const at = { region: 'grid', page: PAGE, state: 2, coherence: 'directory', openAt: [1] }
    const { copies } = describeRecordedPage(at, directory, looks)
    assert.deepEqual(copies, [{ rank: 1, state: 'S', faults: null, losses: null }])
  })

  test('has nothing of ranks that no group has', () => {
    const ranks = [-1, 0.5, 65_535, 1e300, 1, 65_534]
    const events = ranks.flatMap((rank, at) => [rank, at, EventKind.Copy, PAGE, -1, 0, stateNumber('S'), 0, 0])
    const data = { region: 'grid', left: 0, beginNs: 0, events }
    const records: readonly SessionRecord[] = [{ atMs: 0, event: 'events', data }]
    const { looks } = new PageHistories(10).of('grid', PAGE, 0, () => ({ records, bytes: 1 }))
    assert.deepEqual(
      looks[0]!.events.map(({ rank }) => rank),
      [1, 65_534],
    )
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
