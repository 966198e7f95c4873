import { readFileSync } from 'node:fs'
import { connectIndex } from 'aether-dsm/index-service'
import { RedisServer, redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { aetherKeys } from './aether-keys.ts'
import { fillKeys } from './filling.ts'
import { IndexNodes } from './index-nodes.ts'
import { memoryRow } from './index-row.ts'
import { openRedisKeys } from './redis-keys.ts'
import type { SectionPlan } from './section.ts'

/** Of values. */
const BYTES = 100
const KIB = 1024

/** What a key with its value takes: by how much the process that holds them grows. */
export async function benchMemory(plan: SectionPlan): Promise<void> {
  await memoryOfNode(plan)
  if (plan.peers.includes('Redis')) await unlessMissing('Redis', plan.onMissing, () => memoryOfRedis(plan))
}

async function memoryOfNode({ keys, keep }: SectionPlan): Promise<void> {
  await using nodes = await IndexNodes.start({ replicas: 1 })
  await using index = await connectIndex(nodes.name)
  const before = await nodes.status()
  await fillKeys(aetherKeys(index), keys, BYTES)
  const after = await nodes.status()
  const perKey = (of: 'rssBytes' | 'heldBytes'): number => Math.max(0, after[of] - before[of]) / keys
  const row = { op: 'memory', bytes: BYTES, clients: 0 }
  keep(memoryRow({ ...row, provider: 'aether' }, perKey('rssBytes')))
  keep(memoryRow({ ...row, provider: 'shared memory of aether' }, perKey('heldBytes')))
}

async function memoryOfRedis({ keys, keep }: SectionPlan): Promise<void> {
  using scratch = new ScratchDirectory()
  await using server = await RedisServer.start(scratch.path)
  const store = await openRedisKeys({ name: '', directory: scratch.path })
  try {
    const before = residentBytes(server.pid)
    await fillKeys(store, keys, BYTES)
    const perKey = Math.max(0, residentBytes(server.pid) - before) / keys
    keep(memoryRow({ op: 'memory', provider: redisProvider(), bytes: BYTES, clients: 0 }, perKey))
  } finally {
    await store.close()
  }
}

/** What `used_memory_rss` of Redis is, too. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return KIB * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
}
