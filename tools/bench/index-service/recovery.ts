import { setTimeout as sleep } from 'node:timers/promises'
import { connectIndex, IndexError } from 'aether-dsm/index-service'
import { native } from 'aether-dsm/internal/native'
import { SteadyLoad } from '../steady-load.ts'
import { IndexNodes } from './index-nodes.ts'
import { stageRow } from './index-row.ts'
import type { NodeStatus } from './node-orders.ts'
import type { SectionPlan } from './section.ts'

const REPLICAS = 3
/** Of values. */
const BYTES = 100
/** Writes under way while a leader is killed. */
const LANES = 8
/** Answers that begin and end a round. */
const ANSWERS = 50
/** A round begins when answers have come for this time. */
const QUIET_MS = 20

/** One recovery, in nanoseconds. */
interface TimedRecovery {
  /** From the last answer of the old leader to the first of the new one. */
  readonly answersNs: number
  /** From the SIGKILL to the first answer of the new one. */
  readonly killNs: number
  /** Until the process that was killed had ended. */
  readonly endedNs: number
  readonly failOver: NonNullable<NodeStatus['failOver']>
}

/** What is told of recoveries. Stages after the process has ended count from when the next leader saw none. */
const times: Readonly<Record<string, (timed: TimedRecovery) => number>> = {
  'last answer to first': ({ answersNs }) => answersNs,
  'SIGKILL to first answer': ({ killNs }) => killNs,
  'SIGKILL to its end': ({ endedNs }) => endedNs,
  'until candidate': ({ failOver }) => failOver.campaignMs * 1e6,
  'until promised': ({ failOver }) => failOver.promisedMs * 1e6,
  'until caught up': ({ failOver }) => failOver.caughtUpMs * 1e6,
  'until decided': ({ failOver }) => failOver.decidedMs * 1e6,
}

/**
 * The leader of three nodes is killed while a client writes, again and again, each time with another process in its
 * place. The client is this process.
 */
export async function benchRecovery({ kills, keep }: SectionPlan): Promise<void> {
  const timed: TimedRecovery[] = []
  await using nodes = await IndexNodes.start({ replicas: REPLICAS })
  await using index = await connectIndex(nodes.name)
  const value = Buffer.alloc(BYTES, 1)
  let isOver = false
  await using load = new SteadyLoad(LANES, () =>
    untilAnswered(
      () => index.set('key', value),
      () => isOver,
    ),
  )
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const leader = await leaderOf(nodes)
      await load.answers(ANSWERS)
      await sleep(QUIET_MS)
      timed.push(await killed(leader, nodes, load))
      await nodes.add()
    }
  } finally {
    isOver = true
  }
  for (const [provider, timeOf] of Object.entries(times))
    keep(stageRow({ op: `recovery-${REPLICAS}`, provider, bytes: BYTES, clients: 1 }, Float64Array.from(timed, timeOf)))
}

/** A write whose node is killed fails, and it is not known what became of it. The next one may be answered. */
async function untilAnswered(write: () => Promise<unknown>, isOver: () => boolean): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (!(error instanceof IndexError) || isOver()) throw error
    }
  }
}

async function killed(leader: number, nodes: IndexNodes, load: SteadyLoad): Promise<TimedRecovery> {
  load.forget()
  const killedNs = native.monotonicNs()
  await nodes.kill(leader)
  const endedNs = native.monotonicNs() - killedNs
  const next = await leaderOf(nodes)
  await load.answers(ANSWERS)
  const { beginNs, endNs } = load.longestGap()
  const { failOver } = await nodes.status(next)
  return { answersNs: endNs - beginNs, killNs: endNs - killedNs, endedNs, failOver: failOver! }
}

/** Asked of one of them, again until it is a node that runs. */
async function leaderOf(nodes: IndexNodes): Promise<number> {
  for (;;) {
    const { leader } = await nodes.status()
    if (leader !== undefined && nodes.ranks.includes(leader)) return leader
    await sleep(1)
  }
}
