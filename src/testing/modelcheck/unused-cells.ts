import { cellsOf, cellText, isOfDeaths } from './coverage.ts'
import type { CheckTask } from './plan.ts'
import type { TaskResult } from './tasks.ts'

/**
 * Cells that need more nodes than are explored, by protocol: a page whose owner serves a reader while another one reads it has no third node left that could
 * ask meanwhile. Each is played by hand in test/dsm/coherence/races.test.ts.
 */
const beyondThreeNodes: Readonly<Record<string, readonly string[]>> = {
  moesi: ['directory O_B/GetShared', 'directory O_B/GetModified', 'directory O_B/PutStale'],
}

/**
 * Cells that no exploration of their protocol took, by protocol. Told only of protocols whose explorations were all exhaustive and went over 2 and 3
 * nodes with any number of threads: less does not reach every cell.
 */
export function unusedCells(results: readonly TaskResult<CheckTask>[]): Record<string, string[]> {
  const unused: Record<string, string[]> = {}
  for (const protocol of new Set(results.map(({ task }) => task.model.protocol))) {
    const own = results.filter(({ task }) => task.model.protocol === protocol)
    const whole = own.filter(({ task, result }) => result.exhaustive && task.model.threads === 'many')
    if (![2, 3].every((nodes) => whole.some(({ task }) => task.model.nodes === nodes))) continue
    const beyond = beyondThreeNodes[protocol.name] ?? []
    const used = new Set([...beyond, ...own.flatMap(({ result }) => result.visited)])
    const cells = cellsOf(protocol).filter((cell) => !isOfDeaths(cell) && !used.has(cellText(cell)))
    if (cells.length > 0) unused[protocol.name] = cells.map((cell) => cellText(cell))
  }
  return unused
}
