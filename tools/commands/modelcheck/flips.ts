import { ExitCode, formatCount, Screen } from 'aether-dsm/internal/cli'
import type { Protocol } from 'aether-dsm/internal/dsm'
import { checkFlips, type FlipReport } from '../../modelcheck/index.ts'

const columns = [
  { title: 'protocol', align: 'left' },
  { title: 'flips', align: 'right' },
  { title: 'safety', align: 'right' },
  { title: 'progress', align: 'right' },
  { title: 'dead cells', align: 'right' },
  { title: 'three nodes', align: 'right' },
  { title: 'record: deeds', align: 'right' },
  { title: 'record: words', align: 'right' },
  { title: 'UNNOTICED', align: 'right' },
  { title: 'in cells beyond two nodes', align: 'right' },
] as const

/** Which flips to check, and how to print the result. */
export interface FlipsWanted {
  /** Only flips whose name contains this. */
  readonly only: string
  /** Also check with three nodes. */
  readonly far: boolean
  readonly json: boolean
}

/** Put single mistakes into the tables and report what detects them. */
export async function runFlips(protocols: readonly Protocol[], { only, far, json }: FlipsWanted): Promise<number> {
  const screen = new Screen(json ? undefined : process.stdout)
  const reports: FlipReport[] = []
  for (const protocol of protocols) {
    const report = await checkFlips(protocol, {
      only: ({ name }) => name.includes(only),
      far,
      onProgress: (done, all) =>
        screen.progress(`${protocol.name}: ${formatCount(done)} of ${formatCount(all)} explorations …`),
    })
    reports.push(report)
  }
  if (json) process.stdout.write(`${JSON.stringify(reports, undefined, 2)}\n`)
  show(screen, reports)
  return reports.every(({ unnoticed }) => unnoticed.length === 0) ? ExitCode.Done : ExitCode.Failed
}

function show(screen: Screen, reports: readonly FlipReport[]): void {
  screen.table(
    columns,
    reports.map(({ protocol, flips, found, unnoticed, beyond }) => {
      const { safety, progress, dead, far, deeds, words } = found
      const counts = [flips, safety, progress, dead, far, deeds, words, unnoticed.length, beyond]
      return [protocol, ...counts.map((count) => formatCount(count))]
    }),
  )
  for (const { protocol, unnoticed } of reports)
    for (const name of unnoticed) screen.line(`${protocol}: ${screen.paint('red', 'unnoticed')}: ${name}`)
}
