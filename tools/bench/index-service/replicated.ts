import { connectIndex } from 'aether-dsm/index-service'
import { type Lane, runLanes, warmLanes } from '../lanes.ts'
import { RedisReplicas } from '../peers/redis-replicas.ts'
import { redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { keyName } from '../structures/measurement.ts'
import { IndexNodes } from './index-nodes.ts'
import { timedRow } from './index-row.ts'
import type { SectionPlan } from './section.ts'

const REPLICAS = 3
/** Operations under way for the second row of each. */
const DEPTH = 64
/** Replicas of Redis that have to have the value: a majority with its leader, and all. */
const waits: readonly number[] = [1, 2]

/** Three nodes and one client, this process: `set-1` one after the other, `set-64` with 64 under way. */
export async function benchReplicated(plan: SectionPlan): Promise<void> {
  await benchNodes(plan)
  if (plan.peers.includes('Redis')) await unlessMissing('Redis', plan.onMissing, () => benchRedisReplicas(plan))
}

async function benchNodes(plan: SectionPlan): Promise<void> {
  await using nodes = await IndexNodes.start({ replicas: REPLICAS })
  await using index = await connectIndex(nodes.name)
  for (const bytes of plan.sizes) {
    const value = Buffer.alloc(bytes, 1)
    await measureLanes(plan, 'aether', bytes, (lane) => index.set(keyName(lane), value))
  }
}

async function benchRedisReplicas(plan: SectionPlan): Promise<void> {
  using scratch = new ScratchDirectory()
  await using redis = await RedisReplicas.start(scratch.path, REPLICAS, DEPTH)
  for (const bytes of plan.sizes) {
    const value = Buffer.alloc(bytes, 1)
    for (const replicas of waits)
      await measureLanes(plan, `${redisProvider()} with WAIT ${replicas}`, bytes, (lane) =>
        redis.put(lane, value, replicas),
      )
  }
}

async function measureLanes(
  { timeMs, keep }: SectionPlan,
  provider: string,
  bytes: number,
  set: (lane: number) => Promise<unknown>,
): Promise<void> {
  for (const depth of [1, DEPTH]) {
    const lanes = Array.from(
      { length: depth },
      (_, lane): Lane =>
        () =>
          set(lane),
    )
    await warmLanes(lanes, timeMs)
    keep(timedRow({ op: `set-${depth}`, provider, bytes, clients: 1 }, [await runLanes(lanes, timeMs)]))
  }
}
