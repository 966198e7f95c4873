/**
 * A process that works on the jobs of one queue: `node job-worker.js JSON`, where the JSON is a {@link WorkerPlan}. It
 * counts the jobs it has done in a counter of the space, and keeps the time from add to start of each.
 */
import process from 'node:process'
import { open } from 'aether-dsm'
import { native } from 'aether-dsm/internal/native'
import { openStructures } from 'aether-dsm/structures'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import { openQueue } from './job-queues.ts'
import { BEGUN_FLAG, DONE_COUNTER, type FromJobWorker, type ToJobWorker, type WorkerPlan } from './job-worker-plan.ts'

/** Times that are kept. */
const STARTS_MAX = 100_000

async function run(plan: WorkerPlan): Promise<void> {
  const space = await open(plan.space)
  const structures = await openStructures(space)
  const done = await structures.counter(DONE_COUNTER)
  const begun = await structures.flag(BEGUN_FLAG)
  const queue = await openQueue(plan.queue, { space, structures, directory: plan.directory, name: plan.name })
  const startNs: number[] = []
  const say = (message: FromJobWorker): void => void process.send?.(message)
  process.on('message', async ({ kind }: ToJobWorker) => {
    try {
      if (kind === 'work') {
        await queue.work(({ addedNs }) => {
          if (startNs.length < STARTS_MAX) startNs.push(native.monotonicNs() - addedNs)
          done.addSync()
          begun.raiseSync()
        }, plan.concurrency)
        say({ kind: 'working' })
        return
      }
      await queue.close()
      await structures.close()
      await space.close()
      process.send?.({ kind: 'closed', startNs: Float64Array.from(startNs) } satisfies FromJobWorker, () =>
        process.exit(0),
      )
    } catch (error) {
      say({ kind: 'failed', why: whyOf(error) })
    }
  })
  say({ kind: 'opened' })
}

endWithParent()
run(JSON.parse(process.argv[2]!) as WorkerPlan).catch((error: unknown) => {
  process.send?.({ kind: 'failed', why: whyOf(error) } satisfies FromJobWorker)
})
