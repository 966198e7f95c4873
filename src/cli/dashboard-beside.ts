import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { DashboardServer, FollowedSpace } from '../dashboard/index.ts'
import { type RecordChoice, startRecorder } from './dashboard-record.ts'

/**
 * Start ranks in a space of a name that is given, with the page that shows it beside them: its address is said on standard error before they begin, and it ends
 * when they have ended, however they ended. `record`: what it shows is written down, too, whether or not a page is open.
 */
export async function withDashboard<T>(
  run: (space: string) => Promise<T>,
  record: RecordChoice | undefined,
): Promise<T> {
  const space = `run-${randomBytes(8).toString('hex')}`
  const source = new FollowedSpace(space)
  const recorder = record && startRecorder(source, record)
  const server = await DashboardServer.start({
    source,
    metrics: () => source.metrics(),
    ...(recorder && { always: true, onLook: (frame) => recorder.look(frame) }),
  })
  try {
    process.stderr.write(`aether: open ${server.url}\n`)
    return await run(space)
  } finally {
    recorder?.close()
    await server.close()
  }
}
