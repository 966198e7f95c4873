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
  /** When the first of those that keep to the algorithm decided, and what it had done by then. */
  readonly first: ({ readonly process: number; readonly tookMs: number } & Costs) | undefined
  /** The processes that are up and have not decided. */
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
  await crew.until(() => crew.isOver, timeoutMs)
  // What has happened until then may still be on its way here.
  await sleep(20)
  const decisions = crew.decisions.map((each) => each.map(({ value }) => value))
  events.sort((one, other) => one.at - other.at)
  const firstDecision = events.find((event) => event.type === 'decide' && crew.isCorrect(event.process))
  return {
    events,
    decisions,
    first: firstDecision?.type === 'decide' ? firstOf(crew, firstDecision.process) : undefined,
    undecided: decisions.flatMap((each, process) =>
      each.length === 0 && crew.isUp(process) && crew.isCorrect(process) ? [process] : [],
    ),
    violation: violationOf({ scene, decisions, isCorrect: (process) => crew.isCorrect(process) }),
  }
}

function firstOf(crew: AgreementCrew, process: number): RealOutcome['first'] {
  const [decision] = crew.decisions[process]!
  return decision === undefined ? undefined : { ...decision.costs, process, tookMs: decision.tookMs }
}
