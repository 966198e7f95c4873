/** A node of `aether bench index`: `node node-process.js JSON`, where the JSON is a {@link NodePlan}. */
import process from 'node:process'
import { join } from 'aether-dsm'
import { openNode } from 'aether-dsm/internal/index-service'
import { native } from 'aether-dsm/internal/native'
import { RedisDoor } from 'aether-dsm/internal/redis-door'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import type { FromIndexNode, NodePlan, ToIndexNode } from './node-orders.ts'

const doorSettings = {
  ...{ address: '127.0.0.1', announce: '127.0.0.1', port: 0, password: undefined },
  ...{ clientsMax: 10_000, timeoutMs: 30_000, isCluster: false },
}

async function run(plan: NodePlan): Promise<void> {
  const say = (message: FromIndexNode): void => void process.send?.(message)
  const { name, replicas, memoryBytes, directory } = plan
  const group = await join({ name: plan.group })
  const joinedNs = native.monotonicNs()
  const node = await openNode(group, {
    ...{ name, replicas, memoryBytes },
    // As `aether serve` has it.
    thread: 'program',
    ...(directory === undefined ? {} : { directory }),
  })
  const openDoor = (front: 'native' | 'node'): Promise<RedisDoor> => RedisDoor.open(node, { ...doorSettings, front })
  const doors = plan.hasDoor ? { native: await openDoor('native'), node: await openDoor('node') } : undefined
  const doorPorts = doors && { native: doors.native.port, node: doors.node.port }
  const follow = async ({ kind }: ToIndexNode): Promise<void> => {
    if (kind === 'status') {
      const only = node.held.get(0)!
      const { lastFailOver } = await only.status()
      const { keys, heldBytes } = only.figures
      const rssBytes = process.memoryUsage.rss()
      return say({ kind, leader: only.leader, failOver: lastFailOver, keys, heldBytes, rssBytes })
    }
    for (const door of Object.values(doors ?? {})) await door.close()
    await node.close()
    await group.close()
    process.send?.({ kind: 'closed' } satisfies FromIndexNode, () => process.exit(0))
  }
  process.on('message', (told: ToIndexNode) => {
    follow(told).catch((error: unknown) => say({ kind: 'failed', why: whyOf(error) }))
  })
  say({ kind: 'opened', rank: group.rank, joinedNs, openedNs: native.monotonicNs(), doorPorts })
}

endWithParent()
run(JSON.parse(process.argv[2]!) as NodePlan).catch((error: unknown) => {
  process.send?.({ kind: 'failed', why: whyOf(error) } satisfies FromIndexNode)
})
