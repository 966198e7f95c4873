import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { checkTrace, checkTraceFile, mergeTrace, removeTraceParts, traceParts } from '../../src/profiling/index.ts'

const module = new URL('../../src/profiling/index.js', import.meta.url).href
const directory = mkdtempSync(join(tmpdir(), 'aether-trace-'))
after(() => rmSync(directory, { recursive: true, force: true }))

interface Event {
  readonly name?: string
  readonly ph: string
  readonly ts: number
  readonly pid: number
  readonly tid: number
  readonly id?: number
  readonly args?: Record<string, unknown>
}

/** Run a process that publishes so, as a rank. */
function publishing(file: string, rank: number, program: string, environment: Record<string, string> = {}): void {
  const head = `const { traceChannel, TraceLevel, traceClockNs, flushTrace } = await import(${JSON.stringify(module)})
    const trace = traceChannel('dsm')
    const begin = (id, name, flow) => trace.publish(4, 'fault', () => ({ page: id }), { phase: 'begin', name, track: 'faults', id, flow })
    const end = (id) => trace.publish(4, 'granted', () => ({ page: id }), { phase: 'end', track: 'faults', id })
    const step = (name, flow) => trace.publish(4, 'received', () => ({}), { phase: 'step', name, sinceNs: traceClockNs(), flow })
    `
  const env = { ...process.env, AETHER_TRACE_FILE: file, AETHER_RANK: String(rank), ...environment }
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', head + program], {
    env,
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
}

const eventsOf = (file: string): Event[] =>
  (JSON.parse(readFileSync(file, 'utf8')) as { traceEvents: Event[] }).traceEvents

test('each process writes a part, and the parts become one sound file', () => {
  const file = join(directory, 'two.json')
  publishing(
    file,
    0,
    `begin(1, 'one', undefined); begin(2, 'two', undefined); end(1); end(2); trace.publish(3, 'hello', () => ({ n: 12n }))`,
  )
  publishing(file, 1, `step('work', undefined)`)
  assert.equal(traceParts(file).length, 2)
  assert.equal(statSync(traceParts(file)[0]!).mode & 0o777, 0o600)
  assert.deepEqual(mergeTrace(file), { processes: 2, events: 6, flows: 0, dropped: 0, crowded: 0, writing: 0 })
  assert.deepEqual(traceParts(file), [])
  const { processes, unfinished, faults } = checkTrace(readFileSync(file, 'utf8'))
  assert.deepEqual([[...processes].sort(), unfinished, faults], [['rank 0', 'rank 1'], 0, []])
  const events = eventsOf(file)
  assert.deepEqual(events.find(({ name }) => name === 'hello')?.args, { n: '12' })
  // What overlaps lies side by side.
  const lanes = events.filter(({ ph }) => ph === 'B').map(({ tid }) => tid)
  assert.equal(new Set(lanes).size, 2)
  const names = events.filter(({ name }) => name === 'thread_name').map(({ args }) => args!['name'])
  assert.deepEqual(names.sort(), ['faults', 'faults 2', 'main', 'main'])
  assert.throws(() => mergeTrace(file), /there is no part of the trace/)
})

test('steps of one flow at other processes are joined to the beginning that was under way then, in the order of time', () => {
  const file = join(directory, 'flows.json')
  // One clock: what happens at the other process is between the two beginnings of this one.
  publishing(
    file,
    0,
    `const pause = async (ms) => await new Promise((done) => setTimeout(done, ms))
    const { spawnSync } = await import('node:child_process')
    const other = (name) => spawnSync(process.execPath, ['--input-type=module', '-e', \`
      const { traceChannel, traceClockNs } = await import(${JSON.stringify(module)})
      const trace = traceChannel('dsm')
      trace.publish(4, 'received', () => ({}), { phase: 'step', name: '\${name}', sinceNs: traceClockNs(), flow: 'page 7' })
    \`], { env: { ...process.env, AETHER_RANK: '1' } })
    other('before')
    begin(1, 'first', 'page 7'); other('of first'); step('of first too', 'page 7'); end(1)
    other('between')
    begin(2, 'second', 'page 7'); step('of another', 'page 8'); other('of second'); end(2)`,
  )
  assert.equal(mergeTrace(file).flows, 2)
  assert.deepEqual(checkTrace(readFileSync(file, 'utf8')).faults, [])
  const events = eventsOf(file)
  const sliceAt = ({ ts, tid }: Event): string | undefined =>
    events.filter((event) => (event.ph === 'X' || event.ph === 'B') && event.tid === tid && event.ts <= ts).at(-1)?.name
  const flow = (id: number): (string | undefined)[] =>
    events.filter((event) => 'stf'.includes(event.ph) && event.id === id).map(sliceAt)
  assert.deepEqual(flow(1), ['first', 'of first', 'of first too'])
  assert.deepEqual(flow(2), ['second', 'of second'])
})

test('threads of a process have lines of their own, however many there are, and numbers as Perfetto takes them', () => {
  const file = join(directory, 'threads.json')
  publishing(
    file,
    0,
    `const { Worker } = await import('node:worker_threads')
    const program = \`
      const modules = [import('node:worker_threads'), import(${JSON.stringify(module)})]
      Promise.all(modules).then(([{ parentPort, threadId }, { traceChannel }]) => {
        const trace = traceChannel('dsm')
        trace.publish(4, 'fault', undefined, { phase: 'begin', name: 'of ' + threadId, track: 'faults', id: 1 })
        parentPort.once('message', () => trace.publish(4, 'granted', () => ({ thread: threadId }), { phase: 'end', track: 'faults', id: 1 }))
        parentPort.postMessage('begun')
      })\`
    const workers = Array.from({ length: 9 }, () => new Worker(program, { eval: true }))
    await Promise.all(workers.map((worker) => new Promise((done) => worker.once('message', done))))
    for (const worker of workers) {
      worker.postMessage('end')
      await new Promise((done) => worker.once('exit', done))
    }`,
  )
  mergeTrace(file)
  const events = eventsOf(file)
  const begun = events.filter(({ ph }) => ph === 'B')
  const ends = new Map(events.filter(({ ph }) => ph === 'E').map(({ tid, args }) => [tid, `of ${args?.['thread']}`]))
  assert.equal(new Set(begun.map(({ tid }) => tid)).size, 9)
  for (const { name, tid } of begun) assert.equal(ends.get(tid), name)
  // Its reader drops longer ones, and takes a thread with the number of a process for its main thread.
  for (const { tid } of events) assert.ok(tid >= 2 ** 22 && tid < 2 ** 32, `${tid}`)
  assert.deepEqual(checkTrace(readFileSync(file, 'utf8')).faults, [])
})

test('a process is named for its rank if one of its threads knows that, else for its number', () => {
  const file = join(directory, 'names.json')
  const worker = `const { Worker } = await import('node:worker_threads')
    trace.publish(3, 'here')
    new Worker('import(${JSON.stringify(module)}).then(({ traceChannel }) => traceChannel("dsm").publish(3, "there"))', { eval: true })`
  // The main thread becomes a rank by itself, as by join(), of which its Workers hear nothing.
  const known = `const { identifyTrace } = await import(${JSON.stringify(module)}); identifyTrace({ rank: 7 })\n${worker}`
  publishing(file, 0, known, { AETHER_RANK: '' })
  assert.equal(mergeTrace(file).processes, 1)
  assert.deepEqual(checkTrace(readFileSync(file, 'utf8')).processes, ['rank 7'])
  publishing(file, 0, worker, { AETHER_RANK: '' })
  assert.equal(mergeTrace(file).processes, 1)
  assert.match(checkTrace(readFileSync(file, 'utf8')).processes.join(), /^process \d+$/)
})

test('a part has a bound; what did not fit is counted, also beyond lanes', () => {
  const file = join(directory, 'bounded.json')
  publishing(
    file,
    0,
    `for (let n = 0; n < 20_000; n++) trace.publish(3, 'event', () => ({ n, text: 'x'.repeat(100) }))`,
    {
      AETHER_TRACE_FILE_MIB: '1',
    },
  )
  const bytes = statSync(traceParts(file)[0]!).size
  assert.ok(bytes > 2 ** 20 && bytes < 2 ** 20 + 1000, `${bytes}`)
  const { events, dropped } = mergeTrace(file)
  assert.equal(events + dropped, 20_000)
  assert.ok(dropped > 10_000)
  assert.equal(checkTrace(readFileSync(file, 'utf8')).dropped, dropped)
  const crowded = join(directory, 'crowded.json')
  publishing(crowded, 0, `for (let n = 0; n < 40; n++) begin(n, 'n'); for (let n = 0; n < 40; n++) end(n)`)
  // What began and found no lane is told of where it ends.
  assert.deepEqual(mergeTrace(crowded), { processes: 1, events: 72, flows: 0, dropped: 0, crowded: 8, writing: 0 })
  assert.equal(checkTrace(readFileSync(crowded, 'utf8')).crowded, 8)
})

test('of a process that was killed there is what it had written, but for a line that was cut', () => {
  const file = join(directory, 'killed.json')
  publishing(
    file,
    0,
    `begin(1, 'wait', 'page 1'); step('done', 'page 1'); flushTrace(); begin(2, 'lost'); process.kill(process.pid, 'SIGKILL')`,
  )
  appendFileSync(traceParts(file)[0]!, '{"name":"cut","ph"')
  assert.equal(mergeTrace(file).events, 2)
  const { unfinished, flows, faults } = checkTrace(readFileSync(file, 'utf8'))
  assert.deepEqual({ unfinished, flows, faults }, { unfinished: 1, flows: 1, faults: [] })
})

test('parts stay while a process writes them, so that the file can be made again, whole', async () => {
  const file = join(directory, 'writing.json')
  publishing(file, 0, `trace.publish(3, 'over')`)
  const program = `const { traceChannel, flushTrace } = await import(${JSON.stringify(module)})
    const trace = traceChannel('dsm')
    const say = (type) => { trace.publish(3, type); flushTrace(); console.log(type) }
    say('before')
    process.stdin.once('data', () => { say('after'); process.exit() })`
  const env = { ...process.env, AETHER_TRACE_FILE: file, AETHER_RANK: '1' }
  const writer = spawn(process.execPath, ['--input-type=module', '-e', program], { env })
  const types = (): (string | undefined)[] =>
    eventsOf(file)
      .filter(({ ph }) => ph === 'i')
      .map(({ name }) => name)
      .sort()
  try {
    await once(writer.stdout, 'data')
    for (let time = 0; time < 2; time += 1) {
      const { events, writing } = mergeTrace(file)
      assert.deepEqual([events, writing, traceParts(file).length], [2, 1, 2])
      assert.deepEqual(types(), ['before', 'over'])
      assert.deepEqual(checkTrace(readFileSync(file, 'utf8')).faults, [])
    }
    writer.stdin.write('go on\n')
    await once(writer, 'close')
  } finally {
    writer.kill('SIGKILL')
  }
  assert.equal(mergeTrace(file).writing, 0)
  assert.deepEqual([types(), traceParts(file)], [['after', 'before', 'over'], []])
})

test('a program goes on where its part cannot be written and nobody reads what that says', async () => {
  const program = `process.stdin.once('data', async () => {
      const { traceChannel, TraceLevel, flushTrace } = await import(${JSON.stringify(module)})
      traceChannel('dsm').publish(TraceLevel.Info, 'event')
      flushTrace()
      console.log('went on')
      process.stdin.destroy()
    })
    console.log('ready')`
  const cases = {
    'no such directory': { AETHER_TRACE_FILE: join(directory, 'missing', 'x.json') },
    'settings that are not understood': { AETHER_TRACE_FILE: join(directory, 'x.json'), AETHER_TRACE_LEVEL: 'LOUD' },
  }
  for (const [name, environment] of Object.entries(cases)) {
    const env = { ...process.env, ...environment }
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env })
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    try {
      await once(child.stdout, 'data')
      child.stderr.destroy()
      await once(child.stderr, 'close')
      child.stdin.end('go on\n')
      const [code] = (await once(child, 'close')) as [number | null]
      assert.deepEqual([said, code], ['ready\nwent on\n', 0], name)
    } finally {
      child.kill('SIGKILL')
    }
  }
})

test('what is no part of a trace is refused, and parts of an earlier run can be removed', () => {
  const file = join(directory, 'wrong.json')
  writeFileSync(`${file}.1.0.part`, 'something else\n')
  writeFileSync(`${file}.notes.part`, 'not ours\n')
  assert.throws(() => mergeTrace(file), /not a part of a trace/)
  removeTraceParts(file)
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('wrong.json')),
    ['wrong.json.notes.part'],
  )
})

test('the filter and the level hold for the file, too', () => {
  const file = join(directory, 'filtered.json')
  const program = `for (const page of [1, 2]) for (const level of [3, 4, 5]) trace.publish(level, 'event', () => ({ page, level }))`
  publishing(file, 0, program, { AETHER_TRACE_FILTER: 'page=2', AETHER_TRACE_LEVEL: 'INFO' })
  assert.equal(mergeTrace(file).events, 1)
  publishing(file, 0, program)
  assert.equal(mergeTrace(file).events, 4)
})

test('what the filter lets begin ends, whatever the filter says of its end; an end alone is a moment', () => {
  const file = join(directory, 'ends.json')
  const program = `for (let n = 0; n < 100; n++) { begin(n, 'n'); end(n) }`
  for (const AETHER_TRACE_FILTER of ['type=fault', 'type=fault,page=0..99', 'type=granted']) {
    publishing(file, 0, program, { AETHER_TRACE_FILTER })
    const { events, dropped, crowded } = mergeTrace(file)
    const phases = AETHER_TRACE_FILTER === 'type=granted' ? ['i'] : ['B', 'E']
    assert.deepEqual([events, dropped, crowded], [100 * phases.length, 0, 0], AETHER_TRACE_FILTER)
    assert.deepEqual([...new Set(eventsOf(file).map(({ ph }) => ph))], ['M', ...phases])
    const { unfinished, faults } = checkTrace(readFileSync(file, 'utf8'))
    assert.deepEqual([unfinished, faults], [0, []])
  }
})

test('the checker finds what breaks the rules of the format', () => {
  const event = { name: 'a', ph: 'X', ts: 10, dur: 10, pid: 1, tid: 1 }
  const faultsOf = (...events: object[]): readonly string[] =>
    checkTrace(JSON.stringify({ traceEvents: events })).faults
  assert.deepEqual(faultsOf(event), [])
  assert.match(faultsOf({ ...event, ph: 'Q' })[0]!, /phase/)
  assert.match(faultsOf({ ...event, ts: 'soon' })[0]!, /microseconds/)
  assert.match(faultsOf({ ...event, pid: undefined })[0]!, /integers/)
  assert.match(faultsOf({ ...event, dur: -1 })[0]!, /duration/)
  assert.match(faultsOf(event, { ...event, ts: 15 })[0]!, /overlap/)
  assert.deepEqual(faultsOf(event, { ...event, ts: 12, dur: 3 }), [])
  assert.match(faultsOf({ ph: 'E', ts: 1, pid: 1, tid: 1 })[0]!, /ends a slice that has not started/)
  const [s, f] = ['s', 'f'].map((ph, at) => ({ name: 'a', ph, id: 1, ts: 12 + at, pid: 1, tid: 1, bp: 'e' }))
  assert.deepEqual(faultsOf(event, s!, f!), [])
  assert.match(faultsOf(event, s!)[0]!, /one f/)
  assert.match(faultsOf(event, { ...s, ts: 14 }, f!)[0]!, /has the order fs/)
  assert.match(faultsOf(event, s!, { ...f, ts: 30 })[0]!, /outside the slices/)
  assert.match(checkTrace('{}').faults[0]!, /traceEvents/)
})

test('a file is checked line by line if it has an event a line, else as a whole, with the same outcome', () => {
  const file = join(directory, 'lines.json')
  publishing(file, 0, `begin(1, 'one', 'page 1'); step('two', 'page 1'); end(1); begin(2, 'never')`)
  mergeTrace(file)
  const text = readFileSync(file, 'utf8')
  assert.deepEqual(checkTraceFile(file), checkTrace(text))
  const { flows, unfinished } = checkTraceFile(file)
  assert.deepEqual([flows, unfinished], [1, 1])
  const whole = join(directory, 'whole.json')
  writeFileSync(whole, JSON.stringify(JSON.parse(text)))
  assert.deepEqual(checkTraceFile(whole), checkTrace(text))
  for (const cut of [text.slice(0, -3), text.slice(0, -20)]) {
    writeFileSync(whole, cut)
    assert.match(checkTraceFile(whole).faults.join(), /its end is missing/)
  }
  writeFileSync(whole, text.replace('"ph":"E"', '"ph":"E'))
  assert.throws(() => checkTraceFile(whole), SyntaxError)
})
