import type { Protocol } from 'aether-dsm/internal/dsm'
import { cellsOf, cellText } from './coverage.ts'
import type { Model } from './model.ts'
import { PairTable } from './pair-table.ts'
import { cellsOfPlay, type Play } from './play.ts'
import { PlaySearch } from './play-search.ts'
import { Stage, stageModel } from './stage.ts'
import { survey } from './survey.ts'
import { type WalkWatch, walkWatched } from './walk.ts'
import type { Action } from './world.ts'

/**
 * Looked through breadth first, so that ways are short: two nodes with all that may happen, three with one thread each.
 */
const surveys: readonly { readonly model: (protocol: Protocol) => Model; readonly statesMax: number }[] = [
  { model: (protocol) => ({ ...stageModel(protocol, 2), refusals: 1 }), statesMax: 400_000 },
  {
    model: (protocol) => ({ protocol, nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 0 }),
    statesMax: 150_000,
  },
]
/** Then at random, which goes far: with what only some programs do, and without. */
const walks: readonly { readonly nodes: number; readonly seed: number; readonly pins: boolean }[] = [1, 2].flatMap(
  (seed) => [3, 4].flatMap((nodes) => [false, true].map((pins) => ({ nodes, seed, pins }))),
)
const WALK_STEPS = 400_000

/** What was found to be recorded. */
export interface PlaysFound {
  readonly plays: readonly Play[]
  /** Cells that nothing was found to lead to. */
  readonly missing: readonly string[]
  /** Actions that may be left out of a cell, and nothing was found where that makes a difference. */
  readonly untold: readonly string[]
}

/**
 * Plays that take every cell of a protocol's tables. Those of `known` that still lead somewhere are kept, with what
 * comes of them now; others are looked for.
 */
export function recordPlays(protocol: Protocol, known: readonly Play[] = []): PlaysFound {
  const search = new PlaySearch(protocol)
  for (const play of known) offer(search, play)
  if (search.missing.length > 0 || known.length === 0) {
    for (const { model, statesMax } of surveys) lookAround(search, model(protocol), statesMax)
    for (const { nodes, seed, pins } of walks)
      if (search.missing.length > 0) lookFar(search, { ...stageModel(protocol, nodes), pins, losses: pins }, seed)
  }
  // In the order of the tables; what others tell already is left out, so that doing all this once more changes nothing.
  const tidy = new PlaySearch(protocol)
  for (const play of inOrder(protocol, search.plays)) offer(tidy, play)
  return { plays: tidy.plays, missing: tidy.missing, untold: tidy.untold }
}

function offer(search: PlaySearch, { nodes, way, pose }: Play): void {
  if (pose === undefined) search.offer(nodes, way)
  else search.offerPose(nodes, pose)
}

function lookAround(search: PlaySearch, model: Model, statesMax: number): void {
  const stage = new Stage(model)
  const isNew = newsAt(search)
  survey(stage.world, statesMax, (vector, action, way) => {
    if (isNew(stage, vector, action)) search.offer(model.nodes, way())
  })
}

function lookFar(search: PlaySearch, model: Model, seed: number): void {
  const isNew = newsAt(search)
  let stage: Stage | undefined
  const watch: WalkWatch = (world, vector, way) => {
    stage ??= new Stage(model, world)
    if (isNew(stage, vector, way.at(-1)!)) search.offerLong(model.nodes, way)
  }
  walkWatched(model, { steps: WALK_STEPS, seed }, watch)
}

/** Whether a step tells something new. What a node does in a state of its own is looked at once. */
function newsAt(search: PlaySearch): (stage: Stage, vector: Int32Array, action: Action) => boolean {
  const seen = new PairTable()
  return (stage, vector, action) => {
    const doing = stage.world.doingOf(vector, action)
    if (doing === undefined || seen.get(doing.local, doing.input) >= 0) return false
    seen.set(doing.local, doing.input, 0)
    return search.newsOf(stage, doing).size > 0
  }
}

function inOrder(protocol: Protocol, plays: readonly Play[]): Play[] {
  const order = new Map(cellsOf(protocol).map((cell, index) => [cellText(cell), index]))
  // What is posed comes last: it gives way to what is played.
  const placeOf = (play: Play): number =>
    play.pose === undefined ? (order.get(cellsOfPlay(play)[0]!) ?? 0) : order.size
  return [...plays].sort(
    (one, other) => placeOf(one) - placeOf(other) || one.way.length - other.way.length || one.nodes - other.nodes,
  )
}
