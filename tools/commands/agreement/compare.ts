import { type Column, formatTable } from 'aether-dsm/internal/cli'
import {
  AgreementWorld,
  algorithms,
  ElectionPlay,
  exactTolerance,
  graphAlgorithms,
  graphNamed,
  hbo,
  type Neighbours,
  playPaced,
  playTimely,
  sharedMemoryCut,
  timelyPace,
  toleranceByExpansion,
  vertexExpansion,
} from '../../agreement/index.ts'
import { DELAYS_MAX, inputsOf } from './plays.ts'

/** How many were asked for. */
export interface Members {
  readonly processes: number | undefined
  readonly memories: number | undefined
}

/** A row of a table, by the titles of its columns. */
type Row = Readonly<Record<string, string | number>>

const MEMBERS = 3
/** Graphs of three processes hardly differ. */
const PROCESSES_ON_GRAPH = 8

/** Compares what all algorithms cost where nothing fails. Returns the exit status. */
export function compareAll({ processes, memories = MEMBERS }: Members, json: boolean): number {
  const members = processes ?? MEMBERS
  const shared = costsWithSharedMemories(members, memories)
  const onGraphs = costsOnGraphs(processes ?? PROCESSES_ON_GRAPH)
  const elections = costsOfElections(members)
  if (json) console.log(JSON.stringify({ algorithms: shared, hbo: onGraphs, elections }, undefined, 2))
  else
    console.log(`${tableOf(shared)}

Until the first process decides, in the common case. P and M: how many may fail.

${tableOf(onGraphs)}

Until all have decided, with equal inputs and ${processes ?? PROCESSES_ON_GRAPH} processes. h: vertex expansion of the graph. Crashes: how many it
withstands, and from how many on no algorithm does.

${tableOf(elections)}

Until all have elected one process. Then registers are written and read, and this many messages sent in 300 delays.`)
  return 0
}

/** Columns of words. */
const WORDS = new Set(['algorithm', 'failures', 'hbo on', 'election'])

function tableOf(rows: readonly Row[]): string {
  const titles = Object.keys(rows[0] ?? {})
  const columns = titles.map((title): Column => ({ title, align: WORDS.has(title) ? 'left' : 'right' }))
  return formatTable(
    columns,
    rows.map((row) => titles.map((title) => String(row[title]))),
  ).join('\n')
}

function costsWithSharedMemories(processes: number, memories: number): Row[] {
  const setting = { processes, memories }
  return algorithms
    .filter((algorithm) => algorithm.refuse(setting) === undefined)
    .map((algorithm) => {
      const world = new AgreementWorld({ algorithm, setting, inputs: inputsOf(processes) })
      const first = playTimely(world, DELAYS_MAX)
      const bound = algorithm.bound(setting)
      return {
        algorithm: algorithm.name,
        failures: algorithm.failures,
        P: `${bound.processes} of ${processes}`,
        M: `${bound.memories} of ${memories}`,
        delays: first?.delays ?? 'never',
        messages: first?.messages ?? '',
        writes: first?.writes ?? '',
        reads: first?.reads ?? '',
        permissions: first?.permissions ?? '',
        signatures: first?.signatures ?? '',
      }
    })
}

function costsOnGraphs(processes: number): Row[] {
  return ['none', 'ring', 'hypercube', 'random-3', 'margulis', 'complete'].flatMap((name) => {
    const neighbours = graphIfThereIs(name, processes)
    if (neighbours === undefined) return []
    const expansion = vertexExpansion(neighbours)
    const world = new AgreementWorld({
      algorithm: hbo,
      setting: { processes, memories: processes, neighbours },
      inputs: neighbours.map(() => '1'),
    })
    playTimely(world, DELAYS_MAX)
    const impossible = [...neighbours.keys()].find((crashes) => sharedMemoryCut(neighbours, crashes) !== undefined)
    return {
      'hbo on': name,
      neighbours: Math.max(...neighbours.map(({ length }) => length)),
      h: expansion.toFixed(2),
      'crashes, by h': toleranceByExpansion(processes, expansion),
      exactly: exactTolerance(neighbours),
      'impossible from': impossible ?? 'never',
      delays: world.now,
      messages: world.costs.messages,
      claims: world.costs.claims,
    }
  })
}

/** Not every number of processes makes each graph. */
function graphIfThereIs(name: string, processes: number): Neighbours | undefined {
  try {
    return graphNamed(name, processes)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** By when an election has to be stable, and how long it is watched then, in delays. */
const STABLE_AT = 200
const WATCHED = 300

function costsOfElections(processes: number): Row[] {
  return graphAlgorithms
    .filter(({ task }) => task === 'election')
    .map((algorithm) => {
      let [delays, messages] = [0, 0]
      const play = new ElectionPlay(algorithm, processes, ({ type, at }) => {
        if (type === 'lead') [delays, messages] = [at, play.world.costs.messages]
      })
      playPaced(play.world, STABLE_AT, timelyPace)
      const unstable = play.instability(STABLE_AT + WATCHED, timelyPace)
      return {
        election: algorithm.name,
        P: `${algorithm.bound({ processes, memories: processes }).processes} of ${processes}`,
        delays: unstable ?? delays,
        messages,
        afterwards: play.watched?.messages ?? '',
      }
    })
}
