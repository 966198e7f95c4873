import { fileURLToPath } from 'node:url'
import { launch } from 'aether-dsm/internal/cluster'
import { type BodiesPlan, coordinates, placeBodies, runBodies } from './bodies.ts'
import { DemoError } from './demo-error.ts'
import { digestOf, type RankLine, RankLines } from './printed-report.ts'

const script = fileURLToPath(new URL('./bodies-process.js', import.meta.url))

export const bodiesPlanDefault = { bodies: 6144, steps: 2, pageBytes: 16_384 } as const

/** Bodies moved by one process and by several with copies of their own. */
export interface BodiesOutcome {
  readonly plan: BodiesPlan
  readonly aloneMs: number
  readonly processes: number
  /** Of the slowest rank. */
  readonly totalMs: number
  /** Pages that were sent, to all ranks together. */
  readonly pagesIn: number
  /** Whether every position has the bits that one process alone found. */
  readonly same: boolean
}

/** Move them in this process, then in ranks. @throws DemoError if a rank fails. */
export async function runBodiesPart(plan: BodiesPlan, processes: number): Promise<BodiesOutcome> {
  const length = plan.bodies * coordinates
  const positions = [new Float64Array(length), new Float64Array(length)] as const
  placeBodies(positions[0])
  const start = performance.now()
  const expected = digestOf(runBodies(positions, { first: 0, end: plan.bodies }, plan.steps))
  const aloneMs = performance.now() - start
  const lines: Extract<RankLine, { type: 'bodies' }>[] = []
  const stdout = new RankLines((line) => {
    if (line.type === 'bodies') lines.push(line)
  })
  const { status, failures } = await launch({ script, args: [JSON.stringify(plan)], ranks: processes, stdout })
  if (status !== 0) throw new DemoError(failures[0]?.message ?? `the ranks were stopped (status ${status})`)
  if (lines.length < processes) throw new DemoError('a rank ended without a report')
  return {
    plan,
    aloneMs,
    processes,
    totalMs: Math.max(...lines.map(({ totalMs }) => totalMs)),
    pagesIn: lines.reduce((sum, { pagesIn }) => sum + pagesIn, 0),
    same: lines.some(({ digest }) => digest === expected),
  }
}
