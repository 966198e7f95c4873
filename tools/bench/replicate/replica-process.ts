/** A replica of `aether bench replicate`: `node replica-process.js JSON`, where the JSON is a {@link ReplicaPlan}. */
import process from 'node:process'
import { join } from 'aether-dsm'
import { replicate } from 'aether-dsm/consensus'
import { bytes as asBytes } from 'aether-dsm/internal/codecs'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import { type Lane, runLanes, warmLanes } from '../lanes.ts'
import { LastCommand } from './last-command.ts'
import type { FromReplica, ReplicaPlan, ToReplica } from './replica-orders.ts'

async function run({ name, replicas, spinMs, thread, directory }: ReplicaPlan): Promise<void> {
  const group = await join({ name })
  const machine = await replicate(group, {
    ...{ name: 'bench', machine: () => new LastCommand(), replicas, codec: asBytes, spinMs, thread },
    ...(directory === undefined ? {} : { directory }),
  })
  const say = (message: FromReplica): void => void process.send?.(message)
  let lanes: readonly Lane[] = []
  let timeMs = 0
  const follow = async (told: ToReplica): Promise<void> => {
    if (told.kind === 'prepare') {
      const command = new Uint8Array(told.bytes).fill(1)
      lanes = new Array<Lane>(told.depth).fill(() => machine.propose(command))
      timeMs = told.timeMs
      await warmLanes(lanes, timeMs)
      return say({ kind: 'prepared' })
    }
    if (told.kind === 'status') return say({ kind: 'status', failOver: (await machine.status()).lastFailOver })
    if (told.kind === 'propose') return say({ kind: 'proposed', run: await runLanes(lanes, timeMs) })
    await machine.close()
    await group.close()
    process.send?.({ kind: 'closed' } satisfies FromReplica, () => process.exit(0))
  }
  process.on('message', (told: ToReplica) => {
    follow(told).catch((error: unknown) => say({ kind: 'failed', why: whyOf(error) }))
  })
  say({ kind: 'opened', rank: group.rank, leads: machine.leader?.isSelf === true })
}

endWithParent()
run(JSON.parse(process.argv[2]!) as ReplicaPlan).catch((error: unknown) => {
  process.send?.({ kind: 'failed', why: whyOf(error) } satisfies FromReplica)
})
