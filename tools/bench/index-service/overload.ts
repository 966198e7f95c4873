import { joined } from '../quantiles.ts'
import { ClientCrew } from './client-crew.ts'
import { IndexNodes } from './index-nodes.ts'
import { type IndexRow, stageRow } from './index-row.ts'
import type { SectionPlan } from './section.ts'

const CLIENTS = 2
/** Of values. */
const BYTES = 100
const nodeCounts: readonly number[] = [1, 3]
/** Of what the index can do; the first is what the others are held against. */
const loads: readonly number[] = [0.5, 1, 2, 4]
/** Loads last longer than other measurements, and before them until a queue that stays is kept short. */
const TIMES = 4

/**
 * Writes come at a rate of their own, above and below what the index can do. That is measured first, with as many under
 * way as are no queue. Each load has a row of writes that were answered, and one of those that were refused.
 */
export async function benchOverload(plan: SectionPlan): Promise<void> {
  for (const nodes of nodeCounts) await benchLoads(plan, nodes)
}

async function benchLoads({ timeMs, keep }: SectionPlan, replicas: number): Promise<void> {
  await using nodes = await IndexNodes.start({ replicas })
  await using crew = await ClientCrew.start(CLIENTS, { name: nodes.name, directory: '' })
  const capacity = await crew.capacity(BYTES, timeMs * TIMES)
  let atHalf: IndexRow | undefined
  for (const share of loads) {
    const warmMs = timeMs
    const runs = await crew.offer(BYTES, { perSecond: (share * capacity) / CLIENTS, warmMs, timeMs: timeMs * TIMES })
    const where = `at ${share} of capacity, ${replicas} ${replicas === 1 ? 'node' : 'nodes'}`
    const rowOf = (op: string, samples: Float64Array): IndexRow => ({
      ...stageRow({ op: `${op} ${where}`, provider: 'aether', bytes: BYTES, clients: CLIENTS }, samples),
      opsPerSec: Math.round((samples.length * 1000) / (timeMs * TIMES)),
    })
    const answered = rowOf('write', joined(runs.map((run) => run.answered)))
    atHalf ??= answered
    const ratio = Number((answered.p99Ns! / atHalf.p99Ns!).toPrecision(4))
    keep(answered === atHalf ? answered : { ...answered, baseline: `${atHalf.op}, aether`, ratio })
    const refused = joined(runs.map((run) => run.refused))
    if (refused.length > 0) keep(rowOf('refused', refused))
  }
}
