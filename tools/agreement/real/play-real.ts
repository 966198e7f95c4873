import { setTimeout as sleep } from 'node:timers/promises'
import { violationOf } from '../play/judge.ts'
import type { Costs, WorldEvent } from '../play/world.ts'
import { AgreementCrew, type RealScene } from './agreement-crew.ts'
import { machineNow } from './plan.ts'

/** A process or a memory is killed that long after the beginning. */
export interface RealKill {
  readonly process?: number
  readonly memory?: number
  readonly atMs: number
}

export interface RealOutcome {
  /** In the order of their times, which are in ms. */
  readonly events: readonly WorldEvent[]
  /** By process: what it has decided. */
  readonly decisions: readonly (readonly string[])[]
  /** By process: when it decided first. */
  readonly decidedAt: readonly (number | undefined)[]
  /** What was carried out until the end, and the signatures that were made until the decisions. */
  readonly costs: Costs
  /** When the first of those that keep to the algorithm decided, and what it had done by then. */
  readonly first: ({ readonly process: number; readonly tookMs: number } & Costs) | undefined
  /** By process: the one that it takes for the leader in the end, where that is the task. */
  readonly leaders: readonly (number | undefined)[]
  /** The processes that are up and have not decided, or have no common leader. */
  readonly undecided: readonly number[]
  /** What must not be. */
  readonly violation: string | undefined
}

/**
 * Runs an algorithm between processes and memories of this machine until all that are left have decided, and kills some
 * meanwhile.
 * @throws AetherError if they cannot be started or one of them fails.
 */
export async function playReal(
  scene: Omit<RealScene, 'watch' | 'rounds'>,
  kills: readonly RealKill[],
  timeoutMs: number,
): Promise<RealOutcome> {
  const events: WorldEvent[] = []
  await using crew = await AgreementCrew.start({ ...scene, watch: (event) => events.push(event) })
  const startedAt = crew.begin(0)
  const killed = kills.map(async ({ atMs, ...victim }) => {
    await sleep(Math.max(0, atMs - (machineNow() - startedAt)))
    await crew.kill(victim)
    events.push({ type: 'crash', ...victim, at: machineNow() - startedAt })
  })
  await Promise.all(killed)
  if (scene.algorithm.task === 'election') await elect(crew, scene.delayMs, timeoutMs)
  else await crew.until(() => crew.isOver, timeoutMs)
  const decisions = crew.decisions.map((each) => each.map(({ value }) => value))
  events.sort((one, other) => one.at - other.at)
  const firstDecision = events.find((event) => event.type === 'decide' && crew.isCorrect(event.process))
  const isElection = scene.algorithm.task === 'election'
  const isDone = (process: number, values: readonly string[]): boolean =>
    isElection ? crew.leaders[process] !== undefined && crew.leaders[process] === crew.commonLeader : values.length > 0
  return {
    events,
    decisions,
    decidedAt: decisions.map(
      (_, process) => events.find((event) => event.type === 'decide' && event.process === process)?.at,
    ),
    costs: costsOf(crew, events),
    first: firstDecision?.type === 'decide' ? firstOf(crew, firstDecision.process) : undefined,
    leaders: crew.leaders.map((leader, process) => (crew.isUp(process) ? leader : undefined)),
    undecided: decisions.flatMap((each, process) =>
      !isDone(process, each) && crew.isUp(process) && crew.isCorrect(process) ? [process] : [],
    ),
    violation: violationOf({ scene, decisions, isCorrect: (process) => crew.isCorrect(process) }),
  }
}

/** How long a leader has to stay one, in delays. */
const SETTLED = 40

/** Until all have had the same leader for a while. */
async function elect(crew: AgreementCrew, delayMs: number, timeoutMs: number): Promise<void> {
  const endsAt = machineNow() + timeoutMs
  while (machineNow() < endsAt) {
    await crew.until(() => crew.commonLeader !== undefined, endsAt - machineNow())
    const leader = crew.commonLeader
    if (leader !== undefined && !(await crew.until(() => crew.commonLeader !== leader, SETTLED * delayMs))) return
  }
}

function costsOf(crew: AgreementCrew, events: readonly WorldEvent[]): Costs {
  const operations = (what: string): number =>
    events.filter((event) => event.type === 'operation' && event.operation.do === what).length
  return {
    messages: events.filter(({ type }) => type === 'message').length,
    writes: operations('write'),
    reads: operations('read'),
    claims: operations('claim'),
    permissions: operations('permit'),
    signatures: crew.decisions.reduce((sum, [decision]) => sum + (decision?.costs.signatures ?? 0), 0),
  }
}

function firstOf(crew: AgreementCrew, process: number): RealOutcome['first'] {
  const [decision] = crew.decisions[process]!
  return decision === undefined ? undefined : { ...decision.costs, process, tookMs: decision.tookMs }
}
