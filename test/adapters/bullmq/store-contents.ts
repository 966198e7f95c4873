import { JobText, type JobTextName, QueueOffset, states } from '../../../src/adapters/bullmq/queue/layout.ts'
import { readMetrics } from '../../../src/adapters/bullmq/queue/metrics.ts'
import type { QueueState } from '../../../src/adapters/bullmq/queue/queue-state.ts'
import type { Queues } from '../../../src/adapters/bullmq/queue/queues.ts'
import { stateOfJob } from '../../../src/adapters/bullmq/queue/reading.ts'

const childTables = ['dependencies', 'processed', 'failed', 'unsuccessful'] as const
const numbers = ['timestamp', 'delay', 'priority', 'processedOn', 'finishedOn', 'attemptsMade'] as const

/** All that a store says of its queues, but the locks, which end with a restore. */
export async function contentsOf(queues: Queues): Promise<Record<string, unknown>> {
  return await queues.store.transaction(() =>
    Object.fromEntries([...queues.all()].map((queue) => [queue.name, contentsOfQueue(queue)])),
  )
}

function contentsOfQueue(queue: QueueState): unknown {
  const { memory, tables, texts } = queue.store
  const pairs = (offset: number): unknown[] => {
    const found: unknown[] = []
    const table = queue.at + offset
    for (let entry = tables.first(table); entry !== 0; entry = tables.next(entry)) found.push(texts.at(entry))
    return found
  }
  return {
    ids: [QueueOffset.Id, QueueOffset.Priorities, QueueOffset.Flags].map((at) => memory.float(queue.at + at)),
    meta: queue.meta.all(),
    jobs: [...queue.entries()].map((job) => contentsOfJob(queue, job)),
    orders: Object.fromEntries(states.map((state) => [state, queue.range(state, 0, -1).map((job) => queue.idOf(job))])),
    events: queue.events.after('0-0'),
    metrics: (['completed', 'failed'] as const).map((state) => readMetrics(queue, state, 0, -1)),
    deduplication: pairs(QueueOffset.Deduplication),
    next: pairs(QueueOffset.Next),
  }
}

function contentsOfJob(queue: QueueState, job: number): unknown {
  return {
    id: queue.idOf(job),
    state: stateOfJob(queue, queue.idOf(job)),
    exists: queue.exists(job),
    numbers: numbers.map((name) => queue.number(job, name)),
    texts: Object.keys(JobText).map((name) => queue.text(job, name as JobTextName)),
    scores: states.map((state) => queue.has(state, job) && queue.score(state, job)),
    children: childTables.map((name) => queue.children.list(job, name)),
    logs: queue.logs.rows(job),
    scheduler: queue.scheduler(job),
  }
}
