import { UsageError } from 'aether-dsm/internal/cli'
import { Random } from 'aether-dsm/internal/runtime'
import {
  AgreementWorld,
  type Algorithm,
  ElectionPlay,
  exactTolerance,
  graphNamed,
  type Neighbours,
  omegaFairLossy,
  playElectionSeed,
  playHboSeed,
  playPaced,
  playTimely,
  representedBy,
  type TimelyCrash,
  timelyPace,
  toleranceByExpansion,
  vertexExpansion,
  type WorldEvent,
} from '../../agreement/index.ts'
import { countText } from './outcome.ts'
import { DELAYS_MAX, type PlayedWorld, undecidedText } from './plays.ts'

export interface GraphPlay {
  readonly algorithm: Algorithm
  readonly graph: string
  readonly processes: number
  readonly kills: readonly TimelyCrash[]
  readonly seed: number | undefined
}

/** A play of an algorithm on a graph. @throws UsageError where there is no such graph, or the algorithm refuses it. */
export function graphPlay(play: GraphPlay): PlayedWorld {
  const neighbours = graphOf(play)
  const { algorithm, processes } = play
  const refusal = algorithm.refuse({ processes, memories: processes, neighbours })
  if (refusal !== undefined) throw new UsageError(`${algorithm.name}: ${refusal}`, 'agreement')
  return algorithm.task === 'election' ? electionPlay(play) : hboPlay(play, neighbours)
}

function graphOf({ graph, processes, seed }: GraphPlay): Neighbours {
  try {
    return graphNamed(graph, processes, seed)
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--graph ${graph}: ${error.message}`, 'agreement')
    throw error
  }
}

function hboPlay({ algorithm, graph, processes, kills, seed }: GraphPlay, neighbours: Neighbours): PlayedWorld {
  const events: WorldEvent[] = []
  const watch = (event: WorldEvent): number => events.push(event)
  const world =
    seed === undefined
      ? timelyHbo(algorithm, neighbours, kills, watch)
      : playHboSeed({ algorithm, neighbours, seed, watch })
  const expansion = vertexExpansion(neighbours)
  const notes = [
    `${graph} of ${processes}: withstands ${countText(exactTolerance(neighbours), 'crashes')}, and by its expansion ${expansion.toFixed(2)} at least ${toleranceByExpansion(processes, expansion)}`,
  ]
  const correct = [...neighbours.keys()].filter((process) => world.up[process])
  if (correct.length < processes)
    notes.push(`${correct.length} that are up represent ${representedBy(neighbours, correct).length} of ${processes}`)
  return { world, events, isTimed: seed === undefined, liars: [], notes, violation: undecidedText(world) }
}

/** Inputs alternate, and coins are those of one seed. */
function timelyHbo(
  algorithm: Algorithm,
  neighbours: Neighbours,
  kills: readonly TimelyCrash[],
  watch: (event: WorldEvent) => void,
): AgreementWorld {
  const { length } = neighbours
  const setting = { processes: length, memories: length, neighbours }
  const inputs = neighbours.map((_, process) => String(process % 2))
  const world = new AgreementWorld({ algorithm, setting, inputs, watch })
  const coins = new Random(1)
  world.coin = () => coins.below(2) === 1
  playTimely(world, DELAYS_MAX, kills)
  return world
}

/** How long after the last crash an election has to be over, and how long it is watched from then on, in delays. */
const SETTLED = 200
const WATCHED = 100
/** How long it is drawn after it has changed last. */
const DRAWN = 16
const LOSS_PERCENT = 40

function electionPlay({ algorithm, processes, kills, seed }: GraphPlay): PlayedWorld {
  const events: WorldEvent[] = []
  const watch = (event: WorldEvent): number => events.push(event)
  const lossPercent = algorithm === omegaFairLossy ? LOSS_PERCENT : 0
  const { play, violation } =
    seed === undefined
      ? timelyElection(algorithm, processes, kills, watch)
      : playElectionSeed({ algorithm, seed, processes, lossPercent, watch })
  const changed = Math.max(0, ...events.filter((event) => !isSteady(event)).map(({ at }) => at))
  return {
    world: play.world,
    events: events.filter(({ at }) => at <= changed + DRAWN),
    isTimed: seed === undefined,
    liars: [],
    notes: [...leadersText(play), ...steadyText(play, changed)],
    violation,
  }
}

/** What goes on for ever: writing registers, and reading them. */
const isSteady = ({ type }: WorldEvent): boolean => type === 'operation' || type === 'answer'

function timelyElection(
  algorithm: Algorithm,
  processes: number,
  kills: readonly TimelyCrash[],
  watch: (event: WorldEvent) => void,
): { play: ElectionPlay; violation: string | undefined } {
  const play = new ElectionPlay(algorithm, processes, watch)
  const { world } = play
  for (const { process, memory, at } of [...kills].sort((one, other) => one.at - other.at)) {
    // Crashes come before everything else of their time.
    playPaced(world, at - 1, timelyPace)
    world.now = at
    world.perform(process === undefined ? { do: 'crash-memory', memory: memory! } : { do: 'crash', process })
  }
  playPaced(world, world.now + SETTLED, timelyPace)
  return { play, violation: play.instability(world.now + WATCHED, timelyPace) }
}

function leadersText({ world, correct }: ElectionPlay): string[] {
  const followers = new Map<string, number[]>()
  for (const process of correct) {
    const leader = world.leaders[process]
    const name = leader === undefined ? 'no one' : `P${leader}`
    followers.set(name, [...(followers.get(name) ?? []), process])
  }
  return [...followers].map(([leader, processes]) => {
    const names = processes.map((process) => `P${process}`).join(', ')
    return `${names} ${processes.length === 1 ? 'takes' : 'take'} ${leader} for the leader`
  })
}

function steadyText({ watched }: ElectionPlay, changed: number): string[] {
  if (watched === undefined) return []
  const { from, to, messages, writes, reads } = watched
  const counted = [countText(messages, 'messages'), countText(writes, 'writes'), countText(reads, 'reads')]
  return [
    `nothing but registers is used after ${countText(changed, 'delays')}; drawn until ${changed + DRAWN}`,
    `watched from ${from} to ${to} delays, when it has to be stable: ${counted.join(', ')}`,
  ]
}
