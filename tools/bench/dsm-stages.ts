import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CollectedLines, launch } from 'aether-dsm/internal/cluster'
import { AetherError } from 'aether-dsm/internal/native'
import { mergeTrace } from 'aether-dsm/internal/profiling'
import { type DsmBenchPlan, type DsmRow, nameOf, type RowHead, rowFrom } from './dsm-row.ts'
import { FETCH } from './dsm-scenario.ts'
import { ScratchDirectory } from './scratch-directory.ts'

/** What rank 0 tells of one region: when each access began and ended, CLOCK_MONOTONIC in nanoseconds. */
export interface TracedAccesses {
  readonly coherence: string
  readonly region: string
  readonly page: number
  readonly pageBytes: number
  readonly times: readonly (readonly [beganNs: number, endedNs: number])[]
}

/** A line of a trace, as far as stages are read from it. */
export interface TraceLine {
  readonly name?: string
  /** Microseconds. */
  readonly ts: number
  readonly ph: string
  readonly pid: number
  readonly args?: Readonly<Record<string, unknown>>
}

/** The stages of a page miss that the home answers alone, in order. */
export const stageNames: readonly string[] = [
  'stage 1, the fault wakes the agent',
  'stage 2, it asks the home',
  'stage 3, the message wakes the agent of the home',
  'stage 4, it takes the right and sends the page',
  'stage 5, the message wakes the agent that asked',
  'stage 6, it opens the page',
  'stage 7, the thread runs again',
]

const WHOLE = `${FETCH}, traced`

/** Measure the stages of {@link FETCH} between two ranks that write a trace: a row each, and one of the whole. */
export async function measureStages(plan: DsmBenchPlan): Promise<DsmRow[]> {
  using scratch = new ScratchDirectory()
  const file = join(scratch.path, 'trace.json')
  const told: TracedAccesses[] = []
  const complaints: string[] = []
  const { status } = await launch({
    script: fileURLToPath(new URL('./dsm-rank.js', import.meta.url)),
    args: [JSON.stringify({ ...plan, traced: true })],
    ranks: 2,
    environment: { AETHER_TRACE_FILE: file },
    stdout: new CollectedLines((line) => told.push(JSON.parse(line.slice(line.indexOf('{'))) as TracedAccesses)),
    stderr: new CollectedLines((line) => complaints.push(line)),
  })
  if (status !== 0) throw new AetherError('ERR_AETHER_BENCH', `the ranks failed:\n${complaints.join('\n')}`)
  mergeTrace(file)
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8')) as { traceEvents: readonly TraceLine[] }
  return told.flatMap((accesses) => stageRows(accesses, traceEvents))
}

/** The rows of one region. An access of whose trace a line is missing is left out. */
export function stageRows(accesses: TracedAccesses, lines: readonly TraceLine[]): DsmRow[] {
  const { coherence, region, page, pageBytes, times } = accesses
  const own = lines.filter(({ args }) => args?.['region'] === region && args['page'] === page)
  own.sort((a, b) => a.ts - b.ts)
  const stages = stageNames.map((): number[] => [])
  const wholes: number[] = []
  for (const [beganNs, endedNs] of times) {
    const marks = marksBetween(own, beganNs / 1e3, endedNs / 1e3)
    if (marks === undefined) continue
    wholes.push(endedNs - beganNs)
    for (const [index, samples] of stages.entries()) samples.push(1e3 * (marks[index + 1]! - marks[index]!))
  }
  if (wholes.length === 0) return []
  const head: Omit<RowHead, 'op'> = { coherence, ranks: 2, pageBytes }
  const baseline = nameOf({ op: WHOLE, coherence })
  return [
    rowFrom({ op: WHOLE, ...head }, Float64Array.from(wholes)),
    ...stages.map((samples, index) =>
      rowFrom({ op: stageNames[index]!, ...head, baseline }, Float64Array.from(samples)),
    ),
  ]
}

/** Where the stages begin, and the end of the last; microseconds. Undefined if a line is missing. */
function marksBetween(lines: readonly TraceLine[], begin: number, end: number): number[] | undefined {
  const during = lines.filter(({ ts }) => ts >= begin && ts <= end)
  const fault = during.find(({ ph }) => ph === 'B')
  if (fault === undefined) return undefined
  const after = (from: TraceLine | undefined, is: (line: TraceLine) => boolean): TraceLine | undefined =>
    from && during.find((line) => line.ts > from.ts && is(line))
  const asked = after(fault, ({ name, pid }) => name === 'sent' && pid === fault.pid)
  const received = after(asked, ({ ph, pid }) => ph === 'X' && pid !== fault.pid)
  const answered = after(received, ({ name, pid, args }) => name === 'sent' && pid !== fault.pid && args?.['to'] === 0)
  const came = after(answered, ({ ph, pid }) => ph === 'X' && pid === fault.pid)
  const granted = after(came, ({ ph, pid }) => ph === 'E' && pid === fault.pid)
  if (granted === undefined) return undefined
  return [begin, ...[fault, asked, received, answered, came, granted].map((line) => line!.ts), end]
}
