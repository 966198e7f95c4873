import type { Column, Screen } from 'aether-dsm/internal/cli'
import { formatBytes, formatCount, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import type { EdgeSet } from './edge-set.ts'
import type { AloneOutcome, TogetherOutcome } from './pagerank-part.ts'

/** How many of the most central vertices are listed. */
export const listedVertices = 10

const left = (title: string): Column => ({ title, align: 'left' })
const right = (title: string): Column => ({ title, align: 'right' })

/** One of the most central vertices. */
export interface CentralVertex {
  readonly name: string
  readonly gloss: string
  readonly rank: number
}

/** The vertices of the highest rank, highest first; among equals the lower number. */
export function mostCentral(edges: EdgeSet, ranks: Float64Array): CentralVertex[] {
  const best: number[] = []
  for (let vertex = 0; vertex < ranks.length; vertex += 1) {
    const worst = best.length < listedVertices ? -1 : ranks[best.at(-1)!]!
    if (ranks[vertex]! <= worst) continue
    const place = best.findIndex((other) => ranks[other]! < ranks[vertex]!)
    best.splice(place === -1 ? best.length : place, 0, vertex)
    best.length = Math.min(best.length, listedVertices)
  }
  return best.map((vertex) => ({ ...edges.describe(vertex), rank: ranks[vertex]! }))
}

export function showCentral(screen: Screen, central: readonly CentralVertex[]): void {
  const hasGloss = central.some(({ gloss }) => gloss !== '')
  const columns = [right(''), right('rank'), left('vertex'), ...(hasGloss ? [left('meaning')] : [])]
  screen.table(
    columns,
    central.map(({ name, gloss, rank }, index) => [`${index + 1}`, rank.toFixed(6), screen.paint('bold', name), gloss]),
  )
}

/** Time beside the single process, and whether the bits agree. */
export function showTimes(screen: Screen, alone: AloneOutcome, groups: readonly TogetherOutcome[]): void {
  const columns = [left(''), right('processes'), right('iterations'), right('time'), right('speed-up'), left('result')]
  const single = [
    'one process, its own memory',
    '1',
    `${alone.iterations}`,
    formatTime(alone.totalMs),
    formatRatio(1),
    '',
  ]
  screen.table(columns, [single, ...groups.map((group) => timesRow(screen, alone, group))])
}

function timesRow(screen: Screen, alone: AloneOutcome, group: TogetherOutcome): string[] {
  const what =
    group.coherence === 'hardware'
      ? 'hardware, one shared memory'
      : `${group.coherence}, pages of ${formatBytes(group.pageBytes)}`
  const verdict = group.same ? screen.paint('green', 'the same, bit for bit') : screen.paint('red', 'DIFFERENT')
  const speedUp = formatRatio(alone.totalMs / group.totalMs)
  return [what, `${group.members.length}`, `${group.iterations}`, formatTime(group.totalMs), speedUp, verdict]
}

/** What each member did, and what coherence cost it. */
export function showMembers(screen: Screen, group: TogetherOutcome): void {
  if (group.coherence === 'hardware') showHardware(screen, group)
  else showProtocol(screen, group)
}

function showHardware(screen: Screen, { members }: TogetherOutcome): void {
  screen.line(
    "  hardware: the processor's caches keep it coherent; only the kernel's first-touch page faults are seen.",
  )
  screen.table(
    [right('member'), right('edges'), right('compute'), right('wait'), right('faults')],
    members.map(({ edges, computeMs, waitMs, faults }, rank) => [
      `${rank}`,
      formatCount(edges),
      formatTime(computeMs),
      formatTime(waitMs),
      formatCount(faults),
    ]),
  )
}

function showProtocol(screen: Screen, { coherence, members, shareMs }: TogetherOutcome): void {
  screen.line(`  ${coherence}: each member has memory of its own; sharing the graph took ${formatTime(shareMs)}, then:`)
  const columns = ['member', 'compute', 'fetch', 'wait', 'faults', 'a page took', 'pages in', 'bytes in', 'bytes out']
  screen.table(
    columns.map(right),
    members.map((report, rank) => [
      `${rank}`,
      formatTime(report.computeMs),
      formatTime(report.fetchMs),
      formatTime(report.waitMs),
      formatCount(report.faults),
      formatTime(report.pageMs),
      formatCount(report.pagesIn),
      formatBytes(report.bytesIn),
      formatBytes(report.bytesOut),
    ]),
  )
}
