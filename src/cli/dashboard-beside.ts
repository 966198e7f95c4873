import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { DashboardServer, FollowedSpace } from '../dashboard/index.ts'

/**
 * Start ranks in a space of a name that is given, with the page that shows it beside them: its address is said on standard error before they begin, and it ends
 * when they have ended, however they ended.
 */
export async function withDashboard<T>(run: (space: string) => Promise<T>): Promise<T> {
  const space = `run-${randomBytes(8).toString('hex')}`
  const source = new FollowedSpace(space)
  const server = await DashboardServer.start({ source, metrics: () => source.metrics() })
  try {
    process.stderr.write(`aether: open ${server.url}\n`)
    return await run(space)
  } finally {
    await server.close()
  }
}
