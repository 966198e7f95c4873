import { type Column, formatBytes, formatRatio, formatTime, type Screen } from 'aether-dsm/internal/cli'
import type { EdgeSet } from './edge-set.ts'
import type { TogetherOutcome } from './pagerank-part.ts'

/** How many of the vertices with the highest ranks are kept, and how many of them are shown. */
const centralKept = 10
const centralShown = 5

/** One of the vertices with the highest ranks. */
export interface CentralVertex {
  readonly name: string
  readonly gloss: string
  readonly rank: number
}

/** The vertices with the highest ranks, highest first; among equals the lower number. */
export function mostCentral(edges: EdgeSet, ranks: Float64Array): CentralVertex[] {
  const best: number[] = []
  for (let vertex = 0; vertex < ranks.length; vertex += 1) {
    const worst = best.length < centralKept ? -1 : ranks[best.at(-1)!]!
    if (ranks[vertex]! <= worst) continue
    const place = best.findIndex((other) => ranks[other]! < ranks[vertex]!)
    best.splice(place === -1 ? best.length : place, 0, vertex)
    best.length = Math.min(best.length, centralKept)
  }
  return best.map((vertex) => ({ ...edges.describe(vertex), rank: ranks[vertex]! }))
}

export function showCentral(screen: Screen, central: readonly CentralVertex[]): void {
  const names = central.slice(0, centralShown).map(({ name }) => name.replace(/ \(noun\)$/, ''))
  screen.line(`  Highest ranks: ${names.join(', ')}`)
}

/** One way of doing a job. */
export interface TimedWay {
  readonly name: string
  readonly processes: number
  readonly totalMs: number
  /** Whether the result has the bits that one process found. */
  readonly same: boolean
}

/** Times beside that of one process, and whether the bits agree. */
export function showTimes(screen: Screen, aloneMs: number, ways: readonly TimedWay[]): void {
  const left = (title: string): Column => ({ title, align: 'left' })
  const right = (title: string): Column => ({ title, align: 'right' })
  const columns = [left('same job'), right('processes'), right('time'), right('speed-up'), left('result')]
  const rows = ways.map(({ name, processes, totalMs, same }) => [
    name,
    `${processes}`,
    formatTime(totalMs),
    formatRatio(aloneMs / totalMs),
    same ? screen.paint('green', 'same bits') : screen.paint('red', 'DIFFERENT'),
  ])
  screen.table(columns, [['one process', '1', formatTime(aloneMs), formatRatio(1), ''], ...rows])
}

export function wayOf({ coherence, pageBytes, members, totalMs, same }: TogetherOutcome): TimedWay {
  const name =
    coherence === 'hardware' ? 'one shared memory' : `a copy for each, ${coherence}, ${formatBytes(pageBytes)} pages`
  return { name, processes: members.length, totalMs, same }
}
