import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'aether-dsm'
import { type FailOver, type Replicated, replicate } from 'aether-dsm/consensus'
import { bytes as asBytes } from 'aether-dsm/internal/codecs'
import { native } from 'aether-dsm/internal/native'
import { answerOf, askProcess } from '../ask-process.ts'
import { SteadyLoad } from '../steady-load.ts'
import { LastCommand } from './last-command.ts'
import type { FromReplica, ReplicaPlan, ToReplica } from './replica-orders.ts'

/** Proposals under way while a leader is killed. */
const LANES = 8
/** Answers of the new leader that end a round. */
const ANSWERS = 50
/** In one group: it gives each of its ranks once. */
const KILLS_MAX = 200
/** A round begins when answers have come for this time. */
const QUIET_MS = 20

type Machine = Replicated<LastCommand>

/** How long one fail-over took, in nanoseconds. */
export interface TimedFailOver {
  /** From the last answer of the old leader to the first of the new one. */
  readonly answersNs: number
  /** From the SIGKILL to the first answer of the new one. */
  readonly killNs: number
  readonly stages: FailOver
}

/**
 * Kill the leader of a machine under load, again and again, each time with another process in its place. The program
 * that proposes is this one; it follows, and may come to vote.
 */
export async function* failOvers(replicas: number, bytes: number, kills: number): AsyncGenerator<TimedFailOver> {
  for (let left = kills; left > 0; left -= KILLS_MAX)
    yield* failOversOf(`bench-fail-over-${process.pid}-${replicas}-${left}`, replicas, bytes, Math.min(left, KILLS_MAX))
}

async function* failOversOf(
  name: string,
  replicas: number,
  bytes: number,
  kills: number,
): AsyncGenerator<TimedFailOver> {
  const plan: ReplicaPlan = { name, replicas, spinMs: 0, thread: 'own' as const, directory: undefined }
  const children = new Map<number, ChildProcess>()
  const begin = async (): Promise<void> => {
    const child = startReplica(plan)
    const { rank } = await answerOf<FromReplica, 'opened'>(child, 'opened').catch((error: unknown) => {
      child.kill('SIGKILL')
      throw error
    })
    children.set(rank, child)
  }
  try {
    await Promise.all(Array.from({ length: replicas }, begin))
    await using group = await join({ name: plan.name })
    await using machine = await replicate(group, {
      ...{ name: 'bench', machine: () => new LastCommand(), replicas, codec: asBytes },
    })
    const command = new Uint8Array(bytes).fill(1)
    await using load = new SteadyLoad(LANES, () => machine.propose(command))
    for (let kill = 0; kill < kills; kill += 1) {
      const victim = await leaderAmong(children, machine)
      await load.answers(ANSWERS)
      await sleep(QUIET_MS)
      yield await killed(victim, children, machine, load)
      await begin()
    }
  } finally {
    for (const child of children.values()) child.kill('SIGKILL')
  }
}

function startReplica(plan: ReplicaPlan): ChildProcess {
  return fork(fileURLToPath(new URL('./replica-process.js', import.meta.url)), [JSON.stringify(plan)], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** The rank that leads; this process hands over first. */
async function leaderAmong(children: ReadonlyMap<number, ChildProcess>, machine: Machine): Promise<number> {
  for (;;) {
    const { leader, voters = [] } = await machine.status()
    if (leader !== undefined && children.has(leader)) return leader
    const heir = voters.find((rank) => children.has(rank))
    if (heir !== undefined) await machine.transferLeadership(heir).catch(() => {})
    await sleep(5)
  }
}

async function killed(
  victim: number,
  children: Map<number, ChildProcess>,
  machine: Machine,
  load: SteadyLoad,
): Promise<TimedFailOver> {
  const child = children.get(victim)!
  const { term = 0 } = machine.leader ?? {}
  load.forget()
  const killedNs = native.monotonicNs()
  child.kill('SIGKILL')
  while ((machine.leader?.term ?? 0) <= term) await sleep(1)
  const { leader } = machine.leader!
  children.delete(victim)
  await load.answers(ANSWERS)
  const { beginNs, endNs } = load.longestGap()
  const heir = children.get(leader)
  const order: ToReplica = { kind: 'status' }
  const stages =
    heir === undefined
      ? (await machine.status()).lastFailOver
      : (await askProcess<FromReplica, 'status'>(heir, order, 'status')).failOver
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return { answersNs: endNs - beginNs, killNs: endNs - killedNs, stages: stages! }
}
