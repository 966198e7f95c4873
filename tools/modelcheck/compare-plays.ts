import type { Protocol } from 'aether-dsm/internal/dsm'
import { cellsOf, cellText } from './coverage.ts'
import { cellsTaken } from './outcome.ts'
import { cellsOfPlay, type Play } from './play.ts'
import { type Pose, posed, poseTrace } from './pose.ts'
import { Stage, stageModel } from './stage.ts'
import type { Action } from './world.ts'

/** A play in which something else comes of the last step than was recorded, or which cannot be played any more. */
interface PlayDifference {
  /** The first cell that does something else. */
  readonly cell: string
  readonly recorded: readonly string[]
  /** What comes of it now. */
  readonly now: readonly string[]
  /** The way there as a sequence diagram. */
  readonly trace: string
  /** How many steps it has. */
  readonly steps: number
  /** The way does not lead to its end any more: then it is another cell that does something else, on the way. */
  readonly isCutOff: boolean
}

/** A protocol's tables beside the record of its plays. */
export interface PlaysComparison {
  /** Those with the shortest ways first, those that are cut off behind all others. */
  readonly differences: readonly PlayDifference[]
  /** Cells to which no recorded play leads. */
  readonly unplayed: readonly string[]
}

/** Plays what was recorded of a protocol by its tables as they are now. `only` those plays whose cells it wants. */
export function comparePlays(
  protocol: Protocol,
  plays: readonly Play[],
  only: (cells: readonly string[]) => boolean = () => true,
): PlaysComparison {
  const stages = new Map<number, Stage>()
  const stageFor = (nodes: number): Stage => {
    const stage = stages.get(nodes) ?? new Stage(stageModel(protocol, nodes))
    stages.set(nodes, stage)
    return stage
  }
  const taken = new Set(plays.flatMap((play) => cellsOfPlay(play)))
  const cells = cellsOf(protocol).map((cell) => cellText(cell))
  return {
    differences: plays
      .filter((play) => only(cellsOfPlay(play)))
      .flatMap((play) => differenceIn(stageFor(play.nodes), play) ?? [])
      .sort((one, other) => Number(one.isCutOff) - Number(other.isCutOff) || one.steps - other.steps),
    unplayed: cells.filter((cell) => !taken.has(cell)),
  }
}

function differenceIn(stage: Stage, play: Play): PlayDifference | undefined {
  const { outcome: recorded, way } = play
  const { now, trace, isCutOff } = play.pose === undefined ? played(stage, way) : posing(stage, play.nodes, play.pose)
  if (now.join('\n') === recorded.join('\n')) return undefined
  const same = [...recorded, undefined].findIndex((line, index) => line !== now[index])
  // What is done stands below the cell that does it.
  const cell = cellsTaken(recorded.slice(0, same + 1)).at(-1) ?? cellsTaken(recorded)[0] ?? ''
  return { cell, recorded, now, trace: trace(), steps: Math.max(1, way.length), isCutOff }
}

type Now = { readonly now: readonly string[]; readonly isCutOff: boolean; readonly trace: () => string }

function played(stage: Stage, way: readonly Action[]): Now {
  const { outcome, steps, what } = stage.perform(way)
  const now = [...(outcome ?? []), ...(what === undefined ? [] : [`! ${what}`])]
  return { now, isCutOff: outcome === undefined, trace: () => stage.trace(steps) }
}

function posing(stage: Stage, nodes: number, pose: Pose): Now {
  const { message, ...stepping } = posed(stage.world.model.protocol, nodes, pose)
  return { now: stage.outcomes.of(stepping, message), isCutOff: false, trace: () => poseTrace(nodes, pose) }
}
