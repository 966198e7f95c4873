import type { Protocol } from '../../dsm/index.ts'
import { checkFlips, type FlipReport } from '../../testing/index.ts'
import { ExitCode } from '../command.ts'
import { Screen } from '../output/screen.ts'
import { formatCount } from '../output/units.ts'

/** Put single mistakes into tables and tell which go unnoticed. */
export async function runFlips(protocols: readonly Protocol[], only: string, json: boolean): Promise<number> {
  const screen = new Screen(json ? undefined : process.stdout)
  const reports: FlipReport[] = []
  for (const protocol of protocols) {
    const report = await checkFlips(protocol, {
      only: ({ name }) => name.includes(only),
      onProgress: (done, all) =>
        screen.progress(`${protocol.name}: ${formatCount(done)} of ${formatCount(all)} flips …`),
    })
    reports.push(report)
    show(screen, report)
  }
  if (json) process.stdout.write(`${JSON.stringify(reports, undefined, 2)}\n`)
  const isWell = reports.every(({ unexplained, stale }) => unexplained.length === 0 && stale.length === 0)
  return isWell ? ExitCode.Done : ExitCode.Failed
}

function show(
  screen: Screen,
  { protocol, flips, found, foundByDeadCells, equivalent, unreached, unexplained, stale }: FlipReport,
): void {
  const dead = Object.keys(foundByDeadCells).length
  screen.line(
    `${protocol}: ${formatCount(flips)} flips: ${formatCount(found)} break an invariant, ${dead} leave cells that nothing leads to, ${equivalent.length} change nothing (explained), ${unreached.length} are in cells that were not reached, ${unexplained.length} unnoticed`,
  )
  const cells = new Set(unreached.map((name) => name.split(/ ->| without/)[0]))
  if (cells.size > 0) screen.line(`  cells that no exploration and no walk at random led to: ${[...cells].join(', ')}`)
  for (const name of unexplained) screen.line(`  ${screen.paint('red', 'unnoticed')}: ${name}`)
  for (const name of stale) screen.line(`  ${screen.paint('red', 'said to change nothing, but noticed')}: ${name}`)
}
