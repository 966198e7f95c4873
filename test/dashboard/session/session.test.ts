import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Message, RecordedSession, SessionFileError, SessionRecorder } from '../../../src/dashboard/index.ts'
import { packPart, readPartHeader, unpackPart } from '../../../src/dashboard/session/session-format.ts'
import { SyntheticSpace } from '../support/synthetic-space.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-session-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0

interface Recorded {
  readonly path: string
  readonly space: SyntheticSpace
  readonly ends: readonly string[]
}

/** A recording of so many looks, five a second. */
function record(looks: number, limitBytes = 2 ** 30, close = true, size = {}): Recorded {
  const path = join(folder, `${files++}.session`)
  const space = new SyntheticSpace({ members: 4, pages: 2000, blocksALook: 2, lookMs: 200, ...size })
  const ends: string[] = []
  const recorder = new SessionRecorder({
    path,
    limitBytes,
    source: space,
    aether: '1.2.3',
    clock: space.clock,
    onEnd: (why) => ends.push(why),
  })
  for (let look = 0; look < looks; look += 1) recorder.look(space.look())
  if (close) recorder.close()
  return { path, space, ends }
}

/** A recorder with a look that is not written yet, and the descriptor of its file. */
function recording() {
  const path = join(folder, `${files++}.session`)
  const space = new SyntheticSpace({ members: 2, pages: 256, blocksALook: 1, lookMs: 200 })
  const ends: string[] = []
  const onEnd = (why: string): void => void ends.push(why)
  const recorder = new SessionRecorder({
    path,
    limitBytes: 2 ** 30,
    source: space,
    aether: '1',
    clock: space.clock,
    onEnd,
  })
  recorder.look(space.look())
  const numbers = readdirSync('/proc/self/fd').filter((each) => isLinkTo(`/proc/self/fd/${each}`, path))
  return { recorder, ends, descriptor: Number(numbers[0]) }
}

function isLinkTo(link: string, path: string): boolean {
  try {
    return readlinkSync(link) === path
  } catch {
    return false
  }
}

function open(path: string): RecordedSession & Disposable {
  const session = RecordedSession.open(path)
  return Object.assign(session, { [Symbol.dispose]: () => session.close() })
}

function messages(session: RecordedSession): (Message & { atMs: number })[] {
  return session.facts.parts.flatMap((_, number) => [...(session.part(number)?.messages ?? [])])
}

/** Where each part of a file begins. */
function partsOf(path: string): number[] {
  const bytes = readFileSync(path)
  const begins: number[] = []
  for (let at = 0; at < bytes.length; at += readPartHeader(bytes.subarray(at))!.bytes) begins.push(at)
  return begins
}

const refused = (code: string, what: RegExp) => (error: unknown) =>
  error instanceof SessionFileError && error.code === `ERR_AETHER_SESSION_${code}` && what.test(error.message)

describe('a recording of the dashboard', () => {
  test('has every look, when it was, and all that a page is told of it', () => {
    const { path, space } = record(60)
    using session = open(path)
    const { facts } = session
    assert.deepEqual([facts.end, facts.begunMs, facts.lengthMs], ['closed', 1_700_000_000_200, 59 * 200])
    assert.equal(facts.parts.length, 12)
    assert.deepEqual(facts.whole, [0, 10])
    const all = messages(session)
    const frames = all.filter(({ event }) => event === 'frame')
    assert.deepEqual(
      frames.map(({ atMs }) => atMs),
      Array.from({ length: 60 }, (_, look) => look * 200),
    )
    // What is told together is what is so.
    const states = new Uint16Array(2000)
    for (const message of all) {
      if (message.event !== 'pages') continue
      for (const [block, told] of message.data.blocks) {
        if (typeof told === 'number') states.fill(told, block * 256, block * 256 + 256)
        else {
          const bytes = Buffer.from(told, 'base64')
          for (let at = 0; at < bytes.length; at += 2) states[block * 256 + at / 2] = bytes.readUInt16LE(at)
        }
      }
    }
    assert.deepEqual(states, space.map.states)
  })

  test('goes on being written when the clock of the machine is set back, and takes no time for that', () => {
    const path = join(folder, `${files++}.session`)
    const space = new SyntheticSpace({ members: 2, pages: 256, blocksALook: 1, lookMs: 200 })
    const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source: space, aether: '1', clock: space.clock })
    for (let look = 0; look < 60; look += 1) {
      const frame = space.look()
      recorder.look({ ...frame, atMs: frame.atMs - (look < 20 ? 0 : 3_600_000) })
    }
    const written = recorder.bytes
    assert.equal(partsOf(path).length, 1 + 11, 'all but the last second is written')
    recorder.close()
    assert.ok(recorder.bytes > written)
    using session = open(path)
    assert.deepEqual([session.facts.end, session.facts.lengthMs], ['closed', 59 * 200])
    assert.equal(session.facts.parts.length, 12)
  })

  test('can be entered where it tells all anew: with all pages, histograms and the log until there', () => {
    using session = open(record(60).path)
    const told = session.part(10)!.messages
    const [frame] = told
    assert.ok(frame?.event === 'frame' && frame.data.isWhole)
    assert.equal(frame.data.links.length, 4 * 3 * 7)
    assert.ok(frame.data.log.length >= 5, 'the log from the beginning')
    const pages = told.find(({ event }) => event === 'pages')
    assert.ok(pages?.event === 'pages' && pages.data.isNew && pages.data.blocks.length === 8)
    const histograms = told.find(({ event }) => event === 'histograms')
    assert.ok(histograms?.event === 'histograms' && histograms.data.isWhole && histograms.data.histograms.length === 4)
    const operations = told.find(({ event }) => event === 'operations')
    assert.ok(operations?.event === 'operations' && operations.data.isWhole)
    assert.equal(operations.data.operations.length, 4 * 3 * 2)
  })

  test('tells the history of a page until the moment that is asked for', () => {
    using session = open(record(60).path)
    const early = session.page('grid', 3, 1000)!
    const late = session.page('grid', 3, 4000)!
    assert.ok(early.history.length > 0 && late.history.length > early.history.length)
    assert.match(late.history.at(-1)!.text, /may write after 40\.0 µs/)
    assert.deepEqual([late.version, late.home], [null, null], 'what was not recorded is not made up')
    assert.equal(session.page('grid', 2000, 4000), undefined)
    assert.equal(session.page('other', 3, 4000), undefined)
  })

  test('is not read again and again for the history of a page, however far that goes back', () => {
    const path = join(folder, `${files++}.session`)
    const space = new SyntheticSpace({ members: 2, pages: 256, blocksALook: 1, lookMs: 200 })
    // Only the first look tells of page 3.
    const none = { count: 1, left: 0, byRegion: new Map() }
    const source = {
      pages: (region: string) => space.pages(region),
      takeEvents: () => (space.looks === 1 ? space.takeEvents() : none),
    }
    const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source, aether: '1', clock: space.clock })
    for (let look = 0; look < 5 * 110; look += 1) recorder.look(space.look())
    recorder.close()
    using session = open(path)
    assert.equal(session.page('grid', 3, 108_000)?.history.length, 2)
    // What has been read already is not wanted from the file any more.
    const [, first = 0, second = 0] = partsOf(path)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0, first + 40, second))
    assert.equal(session.page('grid', 3, 109_000)?.history.length, 2, 'of the same page, a second later')
    assert.deepEqual(session.page('grid', 8, 109_000)?.history, [], 'of another page')
    assert.equal(session.part(0)?.damage, undefined, 'which did not need it anew, either')
  })

  test('is a gzip file of lines, and small', () => {
    const { path } = record(60)
    const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')
    assert.equal((JSON.parse(lines[0]!) as { format: string }).format, 'aether-dashboard-session')
    const plain = lines.reduce((sum, line) => sum + line.length, 0)
    assert.ok(statSync(path).size * 4 < plain, `${statSync(path).size} bytes of ${plain}`)
    assert.equal(statSync(path).mode & 0o777, 0o600, 'others do not read it')
  })

  test('never grows beyond its limit, and says that it ends there', () => {
    const whole = record(200)
    const limit = Math.floor(statSync(whole.path).size / 2)
    const { path, ends } = record(200, limit)
    assert.ok(statSync(path).size <= limit)
    assert.equal(ends.length, 1)
    assert.match(ends[0]!, /has reached its limit/)
    using session = open(path)
    assert.equal(session.facts.end, 'limit')
    assert.ok(session.facts.parts.length > 5 && session.facts.parts.length < 40)
    assert.ok(messages(session).length > 0)
  })

  test('opens up to wherever it is cut off, and says that it is', () => {
    const { path } = record(40)
    const begins = partsOf(path)
    const size = statSync(path).size
    using whole = open(path)
    const expected = messages(whole)
    for (let cut = begins[2]!; cut < size; cut += 131) {
      const copy = `${path}.cut`
      copyFileSync(path, copy)
      truncateSync(copy, cut)
      using session = open(copy)
      assert.equal(session.facts.end, 'cut', `cut at ${cut} of ${size}`)
      assert.equal(session.facts.parts.length, begins.filter((begin) => begin <= cut).length - 2)
      const read = messages(session)
      assert.deepEqual(read, expected.slice(0, read.length))
    }
  })

  test('of a recorder that was killed has all but the last second', () => {
    const { path } = record(40, 2 ** 30, false)
    using session = open(path)
    assert.equal(session.facts.end, 'cut')
    assert.ok(session.facts.lengthMs >= 7000, `${session.facts.lengthMs} ms of 8000`)
  })

  test('with a damaged part shows the others, and says which one is lost', () => {
    const { path } = record(40)
    const begins = partsOf(path)
    const bytes = readFileSync(path)
    bytes[begins[4]! + 60]! ^= 0xff
    writeFileSync(path, bytes)
    using session = open(path)
    assert.match(session.part(3)?.damage ?? '', /damaged/)
    assert.deepEqual(session.part(3)?.messages, [])
    assert.ok(session.part(4)!.messages.length > 0)
    // Of a part that told all anew: what came before it is better than nothing.
    const long = record(75, 2 ** 30, true, { pages: 100 * 256, blocksALook: 1 }).path
    const longer = readFileSync(long)
    longer[partsOf(long)[11]! + 60]! ^= 0xff
    writeFileSync(long, longer)
    using other = open(long)
    assert.ok(other.facts.whole.includes(10) && other.part(10)?.damage !== undefined)
    assert.deepEqual(other.page('grid', 3, 14_000)?.class, other.page('grid', 3, 8000)?.class)
    assert.notEqual(other.page('grid', 3, 14_000)?.class, 0, 'not untouched')
    bytes.fill(0, begins[5]!, begins[5]! + 20)
    writeFileSync(path, bytes)
    using shorter = open(path)
    assert.deepEqual([shorter.facts.end, shorter.facts.parts.length], ['damaged', 4])
  })

  test('is of format 5, and those of format 1 are read', () => {
    const [{ path }, old] = [record(5), join(folder, 'format-1')]
    const [, first] = partsOf(path)
    const bytes = readFileSync(path)
    const header = JSON.parse(unpackPart(bytes.subarray(0, first))) as { version: number }
    assert.equal(header.version, 5)
    const place = { isWhole: false, isEnd: false, atMs: 0 }
    writeFileSync(
      old,
      Buffer.concat([packPart(`${JSON.stringify({ ...header, version: 1 })}\n`, place), bytes.subarray(first)]),
    )
    using before = open(old)
    using now = open(path)
    assert.deepEqual(messages(before), messages(now))
  })

  test('of format 2, which has no structures, is read', () => {
    const [{ path }, old] = [record(5), join(folder, 'format-2')]
    const bytes = readFileSync(path)
    const starts = [...partsOf(path), bytes.length]
    const parts = starts.slice(1).map((end, index) => {
      const part = bytes.subarray(starts[index], end)
      const lines = unpackPart(part)
        .split('\n')
        .filter((line) => !line.includes('"event":"structures"'))
      return packPart(lines.join('\n').replace('"version":4', '"version":2'), readPartHeader(part)!)
    })
    writeFileSync(old, Buffer.concat(parts))
    using now = open(path)
    using before = open(old)
    const kept = messages(now).filter(({ event }) => event !== 'structures')
    assert.ok(kept.length < messages(now).length)
    assert.deepEqual(messages(before), kept)
  })

  test('is refused where it is none, foreign, empty or of another version, with what to do', () => {
    const file = (name: string, content: string | Buffer): string => {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    }
    const header = (fields: object): Buffer =>
      packPart(`${JSON.stringify(fields)}\n`, { isWhole: false, isEnd: false, atMs: 0 })
    const known = { format: 'aether-dashboard-session', aether: '9.9.9', begunMs: 1 }
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [join(folder, 'nowhere'), 'IO', /cannot be read/],
      [folder, 'FOREIGN', /--record FILE/],
      [file('empty', ''), 'DAMAGED', /empty.*record again/],
      [file('text', 'hello, I am a text\n'.repeat(9)), 'FOREIGN', /--record FILE/],
      [file('short', 'x'), 'FOREIGN', /--record FILE/],
      [file('gzip', gzipSync('hello')), 'FOREIGN', /--record FILE/],
      [file('member', '{"format":"aether-recording","version":1}\n'), 'FOREIGN', /npx aether-dsm replay FILE/],
      [file('other', header({ format: 'something' })), 'FOREIGN', /--record FILE/],
      [
        file('newer', header({ ...known, version: 6 })),
        'VERSION',
        /Aether 9\.9\.9 in format 6.*reads formats 1, 2, 3, 4, 5/,
      ],
      [file('older', header({ ...known, version: 0, aether: '<b>' })), 'VERSION', /another version.*format 0/],
      [file('timeless', header({ ...known, version: 1, begunMs: 'x' })), 'DAMAGED', /no start time/],
      [file('nothing', header({ ...known, version: 1 })), 'DAMAGED', /cut off before anything was recorded/],
      [file('cut', header({ ...known, version: 1 }).subarray(0, 50)), 'DAMAGED', /cut off at its start/],
    ]
    for (const [path, code, what] of cases) assert.throws(() => RecordedSession.open(path), refused(code, what), path)
  })

  test('with a bad line loses that line, with too many all after those that a part may have, and says so', () => {
    const source = open(record(10).path)
    const good = JSON.stringify(source.part(0)!.messages[0])
    source.close()
    const header = JSON.stringify({ format: 'aether-dashboard-session', version: 1, aether: '1', begunMs: 1 })
    const place = { isWhole: true, isEnd: false, atMs: 0 }
    const [one, many] = [[good, '{}', good], Array.from({ length: 20_001 }, () => '{}').toSpliced(20_000, 1, good)]
    const path = join(folder, 'lines')
    const parts = [[header], one, many].map((lines) => packPart(`${lines.join('\n')}\n`, place))
    writeFileSync(path, Buffer.concat(parts))
    using session = open(path)
    assert.equal(session.part(0)?.messages.length, 2)
    assert.match(session.part(0)?.damage ?? '', /damaged/)
    assert.equal(session.part(1)?.messages.length, 0)
    assert.match(session.part(1)?.damage ?? '', /damaged/)
  })

  test('is damaged where too many parts would have to be read to know a moment', () => {
    const header = JSON.stringify({ format: 'aether-dashboard-session', version: 1, aether: '1', begunMs: 1 })
    const parts = Array.from({ length: 200 }, (_, number) =>
      packPart('\n', { isWhole: number === 0 || number === 40, isEnd: false, atMs: number }),
    )
    const path = join(folder, 'apart')
    writeFileSync(path, Buffer.concat([packPart(header, { isWhole: false, isEnd: false, atMs: 0 }), ...parts]))
    using session = open(path)
    assert.deepEqual([session.facts.end, session.facts.parts.length], ['damaged', 40 + 64])
  })

  test('has what a reader takes, and leaves the rest out with a note', () => {
    const path = join(folder, `${files++}.session`)
    const space = new SyntheticSpace({ members: 2, pages: 1000, blocksALook: 2, lookMs: 200 })
    space.logText = 'x'.repeat(5000)
    const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source: space, aether: '1', clock: space.clock })
    for (let look = 0; look < 20; look += 1) {
      const frame = space.look()
      const huge = { ...frame.regions[0]!, name: 'huge', pages: 2 ** 26 }
      recorder.look({ ...frame, regions: [...frame.regions, huge], lostEvents: look === 3 ? Number.NaN : 0 })
    }
    recorder.close()
    using session = open(path)
    for (const number of session.facts.parts.keys()) assert.equal(session.part(number)?.damage, undefined)
    const all = messages(session)
    const frames = all.flatMap((message) => (message.event === 'frame' ? [message.data] : []))
    assert.equal(frames.length, 19, 'all but the look that no reader takes')
    const log = frames.flatMap((frame) => frame.log.map(({ text }) => text)).join('\n')
    assert.match(log, /region 'huge' is left out of the recording: it has 67108864 pages/)
    assert.match(log, /what was seen of 'frame' is left out/)
    assert.match(log, /x{4000}/)
    assert.equal(session.page('grid', 3, 3000)?.class, 4)
  })

  test('has a large region in several lines', () => {
    using session = open(record(2, 2 ** 30, true, { members: 2, pages: 5000 * 256, blocksALook: 5000 }).path)
    const told = messages(session).flatMap((message) => (message.event === 'pages' ? [message.data] : []))
    assert.deepEqual(
      told.slice(0, 2).map(({ isNew, blocks }) => [isNew, blocks.length]),
      [
        [true, 4096],
        [false, 904],
      ],
    )
    assert.ok(session.page('grid', 4999 * 256, 0) !== undefined)
  })

  test('that was ended before anything was seen says so, and not that it was cut off', () => {
    assert.throws(
      () => RecordedSession.open(record(0).path),
      refused('DAMAGED', /is complete.*seen anything: record again/),
    )
    const full = record(6, 700).path
    assert.throws(
      () => RecordedSession.open(full),
      refused('DAMAGED', /before the first look was written: .*--record-limit/),
    )
  })

  test('from a stranger gives the page nothing that is not of its kind', () => {
    const operation = { from: 0, to: 1, layer: 'verbs', name: 'x', rate: 1, bytes: 1, p50Ns: null, p99Ns: null }
    const header = { format: 'aether-dashboard-session', version: 1, aether: '1', begunMs: 1 }
    const frame = {
      atMs: 1,
      space: 's',
      epoch: 1,
      running: true,
      isWhole: true,
      members: [],
      regions: [],
      log: [],
      lostEvents: 0,
      links: [],
    }
    const pages = { region: 'r', pages: 300, isNew: true, blocks: [] as unknown[] }
    const bad: readonly unknown[] = [
      { atMs: 0, event: 'frame', data: { ...frame, members: [{}] } },
      { atMs: 0, event: 'frame', data: { ...frame, space: { toString: 1 } } },
      { atMs: 0, event: 'frame', data: { ...frame, links: [1, 2] } },
      { atMs: 0, event: 'frame', data: { ...frame, log: [{ atMs: 1, kind: 'x" onload="', text: '' }] } },
      { atMs: 0, event: 'pages', data: { ...pages, pages: 2 ** 40 } },
      { atMs: 0, event: 'pages', data: { ...pages, blocks: [[9, 1]] } },
      { atMs: 0, event: 'pages', data: { ...pages, blocks: [[0, 'AAAA']] } },
      { atMs: 0, event: 'pages', data: { ...pages, blocks: [[0, 70_000]] } },
      // One byte too few for 256 pages, in as many letters.
      { atMs: 0, event: 'pages', data: { ...pages, blocks: [[0, `${'A'.repeat(682)}==`]] } },
      { atMs: 0, event: 'pages', data: { ...pages, blocks: [[0, 'A'.repeat(684)]] } },
      { atMs: 0, event: 'pages', data: { ...pages, blocks: [[1, `${'A'.repeat(115)}=A===`]] } },
      { atMs: 0, event: 'constructor', data: {} },
      { atMs: 0, event: 'histograms', data: { isWhole: true, histograms: [{ name: 'x' }] } },
      { atMs: 0, event: 'operations', data: { isWhole: true, operations: [{ ...operation, layer: '<b>' }] } },
      { atMs: 0, event: 'operations', data: { isWhole: true, operations: [{ ...operation, from: -1 }] } },
      { atMs: Number.NaN, event: 'frame', data: frame },
      { atMs: 0, event: 'frame', data: { ...frame, more: [] } },
      { atMs: 0, event: 'frame', data: frame, more: [] },
      null,
    ]
    const place = { isWhole: true, isEnd: false, atMs: 0 }
    const lines = [{ atMs: 0, event: 'frame', data: frame }, ...bad]
    const bomb = packPart(' '.repeat(33 * 2 ** 20), place)
    const path = join(folder, 'stranger')
    writeFileSync(
      path,
      Buffer.concat([
        packPart(`${JSON.stringify(header)}\n`, place),
        ...lines.map((line) => packPart(`${JSON.stringify(line)}\n`, place)),
        packPart('no JSON\n', place),
        bomb,
      ]),
    )
    using session = open(path)
    assert.equal(session.part(0)?.messages.length, 1)
    for (let number = 1; number < bad.length + 3; number += 1)
      assert.match(session.part(number)?.damage ?? `part ${number} was taken`, /damaged/)
  })

  test('whose file fails at the end ends, and nothing else does', () => {
    const { recorder, ends, descriptor } = recording()
    closeSync(descriptor)
    recorder.close()
    recorder.close()
    assert.equal(ends.length, 1)
    assert.match(ends[0]!, /cannot be written.*EBADF/)
  })

  test('is not written over another file', () => {
    const { path, space } = record(1)
    const before = readFileSync(path)
    const options = { path, limitBytes: 2 ** 20, source: space, aether: '1' }
    assert.throws(() => new SessionRecorder(options), refused('EXISTS', /remove it, or record to another file/))
    assert.deepEqual(readFileSync(path), before)
    assert.throws(
      () => new SessionRecorder({ ...options, path: join(folder, 'no', 'such', 'folder') }),
      refused('IO', /cannot be written/),
    )
  })
})
