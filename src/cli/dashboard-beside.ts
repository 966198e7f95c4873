import { randomBytes } from 'node:crypto'
import process from 'node:process'
import type { RecordChoice } from './dashboard-record.ts'
import { FollowedDashboard } from './followed-dashboard.ts'

/**
 * Start ranks in a space of a name that is given, with the page that shows it beside them: its address is said on
 * standard error before they begin, and it ends when they have ended, however they ended. `record`: what it shows is
 * written down, too, whether or not a page is open.
 */
export async function withDashboard<T>(
  run: (space: string) => Promise<T>,
  record: RecordChoice | undefined,
): Promise<T> {
  const space = `run-${randomBytes(8).toString('hex')}`
  const dashboard = await FollowedDashboard.start(space, record)
  try {
    process.stderr.write(`aether: open ${dashboard.url}\n`)
    return await run(space)
  } finally {
    await dashboard.close()
  }
}
