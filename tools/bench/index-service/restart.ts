import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectIndex } from 'aether-dsm/index-service'
import { AetherError, native } from 'aether-dsm/internal/native'
import { RedisServer, redisProvider, redisSocket } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { keyName } from '../structures/measurement.ts'
import { aetherKeys } from './aether-keys.ts'
import { fillKeys } from './filling.ts'
import { IndexNodes } from './index-nodes.ts'
import { stageRow } from './index-row.ts'
import { openRedisKeys } from './redis-keys.ts'
import type { SectionPlan } from './section.ts'

/** Of values. */
const BYTES = 1000
const replicaCounts: readonly number[] = [1, 3]
/** What a node may take beyond what is stored. */
const MORE_BYTES = 2 ** 28
const RETRY_MS = 1

/** All nodes are killed and started again on their files: from then until a client has its first answer. */
export async function benchRestart(plan: SectionPlan): Promise<void> {
  for (const replicas of replicaCounts) await restartNodes(plan, replicas)
  if (plan.peers.includes('Redis')) await unlessMissing('Redis', plan.onMissing, () => restartRedis(plan))
}

async function restartNodes({ restartBytes, keep }: SectionPlan, replicas: number): Promise<void> {
  using scratch = new ScratchDirectory()
  const keys = Math.ceil(restartBytes / BYTES)
  const nodesPlan = { replicas, directory: scratch.path, memoryBytes: 2 * restartBytes + MORE_BYTES }
  const name = await killedAfterFill(nodesPlan, keys)
  const began = native.monotonicNs()
  await using nodes = await IndexNodes.start(nodesPlan, name)
  await using index = await connectIndex(name)
  const value = await index.get(keyName(keys - 1))
  const answeredNs = native.monotonicNs() - began
  if (value?.length !== BYTES) throw new AetherError('ERR_AETHER_BENCH', 'a value is lost')
  const { joinedNs, openedNs } = nodes.stages
  const stages = { aether: answeredNs, 'until joined': joinedNs, 'until opened': openedNs }
  for (const [provider, ns] of Object.entries(stages))
    keep(stageRow({ op: `restart-${replicas}`, provider, bytes: restartBytes, clients: 1 }, Float64Array.of(ns)))
}

/** Their name. */
async function killedAfterFill(plan: Parameters<typeof IndexNodes.start>[0], keys: number): Promise<string> {
  await using nodes = await IndexNodes.start(plan)
  await using index = await connectIndex(nodes.name)
  await fillKeys(aetherKeys(index), keys, BYTES)
  await nodes.killAll()
  return nodes.name
}

/** It keeps a log of commands, too, and does not wait for the disk. */
async function restartRedis({ restartBytes, keep }: SectionPlan): Promise<void> {
  using scratch = new ScratchDirectory()
  const place = { name: '', directory: scratch.path }
  const files = ['--appendonly', 'yes', '--appendfsync', 'no']
  const keys = Math.ceil(restartBytes / BYTES)
  {
    await using _server = await RedisServer.start(place.directory, files)
    const store = await openRedisKeys(place)
    await fillKeys(store, keys, BYTES)
    await store.close()
  }
  rmSync(redisSocket(place.directory), { force: true })
  const began = native.monotonicNs()
  await using _server = await RedisServer.start(place.directory, files)
  const store = await openRedisKeys(place)
  // It refuses calls while it loads.
  while (!(await Promise.resolve(store.get(keyName(keys - 1))).catch(() => false))) await sleep(RETRY_MS)
  const ns = native.monotonicNs() - began
  await store.close()
  keep(stageRow({ op: 'restart-1', provider: redisProvider(), bytes: restartBytes, clients: 1 }, Float64Array.of(ns)))
}
