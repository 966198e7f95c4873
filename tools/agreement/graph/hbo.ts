import type { Algorithm, Setting } from '../model/algorithm.ts'
import type { RegionRule } from '../model/memory.ts'
import { EXPANSION_PROCESSES_MAX, exactTolerance } from './expansion.ts'
import { completeGraph, type Neighbours, wrongNeighbours } from './graphs.ts'
import { HboProcess, objectsOf } from './hbo-process.ts'

/**
 * Far more than a play on a connected graph needs, which is seldom more than ten. Without shared memory, the rounds to
 * expect grow exponentially with the processes, as most of their coins have to show one side.
 */
const ROUNDS = 256

const neighboursOf = ({ neighbours, processes }: Setting): Neighbours => neighbours ?? completeGraph(processes)

/** The consensus objects of all rounds: a register each, in the memory of their process, for it and its neighbours. */
function hboRegions(setting: Setting, rounds: number): RegionRule[] {
  return neighboursOf(setting).flatMap((neighbours, process) =>
    ['report', 'proposal'].map((phase): RegionRule => {
      const sharers = [process, ...neighbours]
      return {
        name: objectsOf(phase, process),
        registers: rounds,
        writers: sharers,
        readers: sharers,
        changes: 'none',
        at: [process],
      }
    }),
  )
}

function refusalOf(setting: Setting): string | undefined {
  const { processes, memories } = setting
  if (memories !== processes) return `each process has a memory: there are ${memories} for ${processes} processes`
  if (processes > EXPANSION_PROCESSES_MAX)
    return `the tolerance of a graph is found for at most ${EXPANSION_PROCESSES_MAX} processes`
  return wrongNeighbours(neighboursOf(setting), processes)
}

/**
 * HBO with registers for that number of rounds. The algorithm has no bound: a process that needs more throws
 * `RoundsExhaustedError`. Registers are not used again, because a slow process may claim one of any earlier round.
 *
 * The paper asks for wait-free consensus objects, and builds them of registers and coins. Here a register with
 * compare-and-swap is one: the first value stays, and everyone gets it in one operation.
 */
export const hboOf = ({ rounds }: { readonly rounds: number }): Algorithm => ({
  name: 'hbo',
  title: 'Hybrid Ben-Or',
  source: 'Aguilera et al., Passing Messages while Sharing Memory, PODC 2018, section 4',
  failures: 'crash',
  task: 'consensus',
  onGraph: true,
  resilience: 'as many as leave a majority represented: correct ones and their neighbours',
  bound: (setting) => ({ processes: exactTolerance(neighboursOf(setting)), memories: 0 }),
  commonCase: { delays: 6, signatures: 0 },
  refuse: refusalOf,
  regions: (setting) => hboRegions(setting, rounds),
  create: (me, setting) =>
    new HboProcess({
      me,
      processes: setting.processes,
      neighbours: neighboursOf(setting)[me]!,
      rounds,
      ...(setting.quorum === undefined ? {} : { quorum: setting.quorum }),
    }),
})

/** *Hybrid Ben-Or*: binary consensus of values '0' and '1'. */
export const hbo: Algorithm = hboOf({ rounds: ROUNDS })
