/**
 * A job queue that loses nothing: two workers in processes of their own, of which one is killed in the middle of a job.
 * The other takes that job, too. Run it after `npm run build`:
 *
 *     node dist/examples/jobs.js
 */
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from 'aether-dsm'
import { openStructures } from 'aether-dsm/structures'

await using space = await open('example-jobs')
await using shared = await openStructures(space)
const jobs = await shared.jobs<number, number>('squares', { keepCompletedMs: 60_000 })

if (process.argv[2] === 'slow') {
  const job = await jobs.take()
  console.log(`one worker has job ${job.id}`) // prints one worker has job 1
  process.send?.('taken')
  await sleep(60_000) // and is killed before it completes it
} else if (process.argv[2] === 'worker') {
  await jobs.work((job) => job.data ** 2, { concurrency: 4 })
} else {
  const worker = (kind: string) => fork(fileURLToPath(import.meta.url), [kind])
  const ids = [await jobs.add(2)]
  const slow = worker('slow')
  await new Promise((resolve) => slow.once('message', resolve))
  ids.push(await jobs.add(3), await jobs.add(4, { delayMs: 20 }))
  const good = worker('worker')
  slow.kill('SIGKILL')
  const squares = await Promise.all(ids.map((id) => jobs.result(id)))
  console.log(squares.join(', ')) // prints 4, 9, 16
  const first = await jobs.get(ids[0]!)
  console.log(first?.attempt, first?.losses) // prints 2 1
  good.kill()
}
