import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CollectedLines, launch } from '../../src/cluster/index.ts'
import { checkTrace, mergeTrace } from '../../src/profiling/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { codeBlocks, readDocument } from '../repository/markdown.ts'

useRuntimeDirectory()
const directory = mkdtempSync(join(tmpdir(), 'aether-trace-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const script = fileURLToPath(new URL('../../examples/three-hops.js', import.meta.url))

interface Event {
  readonly name: string
  readonly cat?: string
  readonly ph: string
  readonly ts: number
  readonly dur?: number
  readonly pid: number
  readonly tid: number
  readonly id?: number
  readonly args: Record<string, unknown>
}

/** The lines of the three ranks. */
async function play(environment: Record<string, string>): Promise<string[]> {
  const lines: string[] = []
  const stderr = new CollectedLines((line) => lines.push(line))
  const { status } = await launch({ script, ranks: 3, environment, stdout: new CollectedLines(() => {}), stderr })
  assert.equal(status, 0, lines.join('\n'))
  return lines
}

test('a fault of three hops is drawn as them: from who asks to the home, to the owner, and back, on one clock', async () => {
  const file = join(directory, 'hops.json')
  await play({ AETHER_TRACE_FILE: file })
  mergeTrace(file)
  const text = readFileSync(file, 'utf8')
  const { faults, processes, unfinished } = checkTrace(text)
  assert.deepEqual(faults, [])
  assert.equal(unfinished, 0)
  assert.deepEqual([...processes].sort(), ['rank 0', 'rank 1', 'rank 2'])
  const { traceEvents: events } = JSON.parse(text) as { traceEvents: Event[] }
  const ranks = new Map(
    events.filter(({ name }) => name === 'process_name').map(({ pid, args }) => [pid, args['name']]),
  )
  const around = ({ ts, tid }: Event): Event =>
    events.find((e) => e.ph === 'X' && e.tid === tid && e.ts <= ts && ts <= e.ts + e.dur!) ??
    events.findLast((e) => e.ph === 'B' && e.tid === tid && e.ts <= ts)!

  const fault = events.find(({ ph, pid, cat }) => ph === 'B' && cat === 'dsm' && ranks.get(pid) === 'rank 0')!
  assert.deepEqual([fault.name, fault.args['cause']], ['write page 0', 'call'])
  const { id } = events.find((event) => event.ph === 's' && around(event) === fault)!
  const points = events.filter((event) => 'stf'.includes(event.ph) && event.id === id).sort((a, b) => a.ts - b.ts)
  assert.deepEqual(
    points.map((point) => [point.ph, ranks.get(point.pid), around(point).name]),
    [
      ['s', 'rank 0', 'write page 0'],
      ['t', 'rank 1', 'GetModified page 0'],
      ['t', 'rank 2', 'ForwardModified page 0'],
      ['f', 'rank 0', 'DataModified page 0'],
    ],
  )
  const end = events.find(({ ph, tid, ts }) => ph === 'E' && tid === fault.tid && ts > fault.ts)!
  assert.ok(points.at(-1)!.ts <= end.ts)
})

test('lines say who, when, what and about what; AETHER_TRACE_FILTER takes some of them; nothing of memory is in them', async () => {
  const environment = {
    AETHER_TRACE_DSM: '1',
    AETHER_TRACE_RDMA: '1',
    AETHER_TRACE_CLUSTER: '1',
    AETHER_TRACE_LEVEL: 'TRACE',
  }
  const lines = await play(environment)
  const form =
    /^\[\d\] (\d+\.\d{9}) (r\d|-) \d+\.\d+ aether:(dsm|rdma|cluster) (ERROR|WARN|INFO|DEBUG|TRACE) \w+( \w+=("[^"]*"|\S+))*$/
  for (const line of lines) assert.match(line, form)
  const has = (pattern: RegExp): boolean => lines.some((line) => pattern.test(line))
  assert.ok(has(/ r0 \S+ aether:dsm DEBUG fault region=hits page=0 access=write cause=call$/))
  assert.ok(has(/ r1 \S+ aether:dsm DEBUG received region=hits page=0 message=GetModified from=0 requester=0 copy=I$/))
  assert.ok(has(/ r1 \S+ aether:dsm DEBUG sent region=hits page=0 message=ForwardModified to=2 requester=0$/))
  assert.ok(has(/ r2 \S+ aether:dsm DEBUG invalidated region=hits page=0$/))
  assert.ok(has(/ r0 \S+ aether:dsm TRACE transition region=hits page=0 was=\w+ is=M cause=DataModified$/))
  assert.ok(has(/ r0 \S+ aether:dsm DEBUG granted region=hits page=0 access=write tookNs=\d+$/))
  assert.ok(has(/ r0 \S+ aether:rdma DEBUG state queuePair=\d+ was=INIT is=RTR$/))
  assert.ok(has(/ r2 \S+ aether:rdma TRACE post queuePair=\d+ operation=\w+ id=\d+ length=\d+$/))
  assert.ok(has(/ r0 \S+ aether:cluster INFO complete members=3 device=shm0$/))
  // Keys and addresses have no field; what the ranks wrote ('plugh', 'xyzzy') is not there either.
  const fields = new Set(lines.flatMap((line) => [...line.matchAll(/ (\w+)=/g)].map(([, field]) => field)))
  for (const field of fields) assert.doesNotMatch(field!, /key|address|secret|token|payload|bytes|frame/i)
  assert.ok(!has(/plugh|xyzzy|112,108|120,121/))

  const some = await play({ ...environment, AETHER_TRACE_FILTER: 'type=fault|granted,rank=2' })
  assert.deepEqual(
    some.map((line) =>
      line
        .split(' ')
        .slice(2, 8)
        .filter((_, at) => at !== 1)
        .join(' '),
    ),
    ['r2 aether:dsm DEBUG fault region=hits', 'r2 aether:dsm DEBUG granted region=hits'],
  )
})

test('docs/tracing.md shows the lines of a write of three hops as they are', async () => {
  const shown = codeBlocks(readDocument('docs/tracing.md')).find(({ text }) => text.includes('aether:dsm DEBUG fault'))!
  const environment = { AETHER_TRACE_DSM: '1', AETHER_TRACE_LEVEL: 'DEBUG', AETHER_TRACE_FILTER: 'page=0' }
  const command = `${Object.entries(environment)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')} npx aether-dsm run -n 3 dist/examples/three-hops.js`
  const [first, ...lines] = shown.text.trimEnd().split('\n')
  assert.equal(first, `$ ${command}`)
  // Times, processes and durations are those of one run; what ranks do at the same time comes in any order.
  const asked = (line: string): string =>
    line.replace(/^(\[\d\]) \d+\.\d{9} (r\d) \d+\./, '$1 $2 ').replace(/tookNs=\d+/, 'tookNs')
  assert.deepEqual((await play(environment)).map(asked).sort(), lines.map(asked).sort())
})

test('the part of a rank that was killed is in the file', async () => {
  const file = join(directory, 'killed.json')
  const killed = fileURLToPath(new URL('./fixtures/killed-in-trace.js', import.meta.url))
  await launch({
    script: killed,
    ranks: 2,
    environment: { AETHER_TRACE_FILE: file },
    stderr: new CollectedLines(() => {}),
    onFailure: 'continue',
  })
  mergeTrace(file)
  const text = readFileSync(file, 'utf8')
  const { faults, processes, flows } = checkTrace(text)
  assert.deepEqual(faults, [])
  assert.deepEqual([...processes].sort(), ['rank 0', 'rank 1'])
  assert.equal(flows, 1)
  const { traceEvents: events } = JSON.parse(text) as { traceEvents: Event[] }
  const ranks = new Map(
    events.filter(({ name }) => name === 'process_name').map(({ pid, args }) => [pid, args['name']]),
  )
  const of = (rank: string): string[] => events.filter(({ pid }) => ranks.get(pid) === rank).map(({ name }) => name)
  assert.ok(of('rank 1').includes('write page 0'))
  assert.ok(of('rank 0').includes('died'))
})
