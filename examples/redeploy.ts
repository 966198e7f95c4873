/**
 * A whole service is replaced, and its data stay: sessions and jobs are in a space in a directory, which outlives all
 * processes. Each version of the service is a process that is killed before the next one starts. Run it after
 * `npm run build`:
 *
 *     node dist/examples/redeploy.js
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'aether-dsm'
import { openStructures } from 'aether-dsm/structures'

const [version, directory] = process.argv.slice(2)

if (version !== undefined && directory !== undefined) {
  const space = await open('example-redeploy', { directory })
  const shared = await openStructures(space)
  const sessions = await shared.map<{ user: string; visits: number }>('sessions', { ttlMs: 3_600_000 })
  const mails = await shared.jobs<string>('mails')
  const session = sessions.updateSync('s1', (before) => ({ user: 'ada', visits: (before?.visits ?? 0) + 1 }))
  await mails.add(`welcome to ${version}`)
  const job = await mails.take() // the oldest that is not done
  if (version === 'version 3') await job.complete()
  console.log(
    `${version}: visit ${session?.visits} of ${session?.user}; works on '${job.data}', attempt ${job.attempt}`,
  )
  // prints version 1: visit 1 of ada; works on 'welcome to version 1', attempt 1
  // prints version 2: visit 2 of ada; works on 'welcome to version 1', attempt 2
  // prints version 3: visit 3 of ada; works on 'welcome to version 1', attempt 3
  process.send?.('ready')
  setInterval(() => {}, 1000)
} else {
  const scratch = mkdtempSync('/dev/shm/aether-redeploy-')
  try {
    for (const each of ['version 1', 'version 2', 'version 3']) {
      const service = fork(fileURLToPath(import.meta.url), [each, join(scratch, 'space')])
      await once(service, 'message')
      service.kill('SIGKILL') // worse than any redeploy
      await once(service, 'exit')
    }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}
