import { randomBytes } from 'node:crypto'
import process from 'node:process'
import type { RecordChoice } from './dashboard-record.ts'
import { FollowedDashboard } from './followed-dashboard.ts'

/**
 * Call `run`, which starts ranks in the given space, and serve a page that shows them. The address is printed on
 * standard error before the ranks start. The page ends with the ranks, even if they fail. With `record`, what the page
 * shows is also recorded, whether or not it is open.
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
