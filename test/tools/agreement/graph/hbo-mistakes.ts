/** Mistakes that one may make in HBO. Each is the real process with one thing wrong. */
import type { Neighbours } from '../../../../tools/agreement/graph/graphs.ts'
import { hboOf } from '../../../../tools/agreement/graph/hbo.ts'
import { type HboOptions, HboProcess, objectsOf } from '../../../../tools/agreement/graph/hbo-process.ts'
import { type HboReport, phaseOf, roundOf } from '../../../../tools/agreement/graph/hbo-values.ts'
import type { CrashInStep } from '../../../../tools/agreement/graph/random-play.ts'
import type { Tally } from '../../../../tools/agreement/graph/tally.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import type { Acts } from '../../../../tools/agreement/model/process.ts'

export interface HboMistake {
  readonly name: string
  readonly process: new (options: HboOptions) => HboProcess
  /** What shows it, if one looks: exploration of few processes, or seeds. */
  readonly shownBy: 'exploration' | 'seeds'
  /** Where it is looked for. */
  readonly graph: Neighbours
  /** How processes crash in the play of a seed, where that is not drawn. */
  readonly crashes?: (seed: number) => readonly CrashInStep[]
}

const ROUNDS = 64

/** HBO of such processes. */
export const mistaken = (process: new (options: HboOptions) => HboProcess): Algorithm => ({
  ...hboOf({ rounds: ROUNDS }),
  create: (me, { processes, neighbours }) =>
    new process({ me, processes, neighbours: neighbours![me]!, rounds: ROUNDS }),
})

const none2: Neighbours = [[], []]
const none3: Neighbours = [[], [], []]
const none4: Neighbours = [[], [], [], []]
const path3: Neighbours = [[1], [0, 2], [1]]
const path4: Neighbours = [[1], [0, 2], [1, 3], [2]]
const complete3: Neighbours = [
  [1, 2],
  [0, 2],
  [0, 1],
]

class HalfIsEnough extends HboProcess {
  override isQuorum(count: number): boolean {
    return 2 * count >= this.processes
  }
}

/** Sends its own value for all that it represents, without asking their objects. */
abstract class ObjectsSkipped extends HboProcess {
  abstract readonly skipped: string

  override propose(acts: Acts): void {
    if (phaseOf(this.stage) !== this.skipped) {
      super.propose(acts)
      return
    }
    this.own = []
    for (const process of this.represents) this.learn(process, `${this.stage}`, null, acts)
  }
}

class ReportObjectsSkipped extends ObjectsSkipped {
  get skipped(): string {
    return 'report'
  }
}

class ProposalObjectsSkipped extends ObjectsSkipped {
  get skipped(): string {
    return 'proposal'
  }
}

class WritesForClaims extends HboProcess {
  override propose(acts: Acts): void {
    this.own = []
    const region = (process: number): string => objectsOf(phaseOf(this.stage), process)
    for (const process of this.represents)
      acts.write(process, { region: region(process), index: roundOf(this.stage) - 1 }, this.value, `${this.stage}`)
  }

  override learn(process: number, tag: string, _before: string | null, acts: Acts): void {
    super.learn(process, tag, null, acts)
  }
}

class OwnValueForThatOfObject extends HboProcess {
  override learn(process: number, tag: string, _before: string | null, acts: Acts): void {
    super.learn(process, tag, null, acts)
  }
}

class CoinInSpiteOfValue extends HboProcess {
  override endRound(proposals: Tally, acts: Acts): boolean {
    if (super.endRound(proposals, acts)) return true
    this.value = acts.flip() ? '1' : '0'
    return false
  }
}

class DecidesWhatIsSeen extends HboProcess {
  override endRound(proposals: Tally, acts: Acts): boolean {
    const seen = ['0', '1'].find((value) => proposals.count(value) > 0)
    if (seen === undefined) return super.endRound(proposals, acts)
    this.finish(seen, acts)
    return true
  }
}

class ProposesWhatIsSeen extends HboProcess {
  override proposalOf(reports: Tally): string {
    return reports.count('1') > reports.count('0') ? '1' : '0'
  }
}

class SpeaksForItselfAlone extends HboProcess {
  constructor(options: HboOptions) {
    super({ ...options, neighbours: [] })
  }
}

/** Counts what it is told, where a process that two speak for counts twice. */
class CountsTwice extends HboProcess {
  told = 0

  override hear(report: HboReport, acts: Acts): void {
    if (report.stage === this.stage) this.told += report.values.length
    super.hear(report, acts)
  }

  override hasHeardEnough(): boolean {
    return this.isQuorum(this.told)
  }

  override propose(acts: Acts): void {
    this.told = 0
    super.propose(acts)
  }
}

class ForgetsEarlyReports extends HboProcess {
  override hear(report: HboReport, acts: Acts): void {
    if (report.stage <= this.stage) super.hear(report, acts)
  }
}

class SilentOnceDecided extends HboProcess {
  override finish(value: string, acts: Acts): void {
    this.decided = value
    acts.decide(value)
  }
}

/** Tells the others only of a decision of its own. */
class DoesNotPassOn extends HboProcess {
  override finish(value: string, acts: Acts): void {
    if (this.isClaiming || !this.isQuorum(this.tallyOf(this.stage).count(value))) {
      this.decided = value
      acts.decide(value)
    } else super.finish(value, acts)
  }
}

export const hboMistakes: readonly HboMistake[] = [
  { name: 'half of the processes is enough', process: HalfIsEnough, shownBy: 'exploration', graph: none2 },
  { name: 'reports skip the objects', process: ReportObjectsSkipped, shownBy: 'exploration', graph: path4 },
  { name: 'proposals skip the objects', process: ProposalObjectsSkipped, shownBy: 'exploration', graph: path4 },
  { name: 'writes instead of claims', process: WritesForClaims, shownBy: 'exploration', graph: complete3 },
  {
    name: 'its own value, not that of the object',
    process: OwnValueForThatOfObject,
    shownBy: 'exploration',
    graph: complete3,
  },
  { name: 'a coin although a value was seen', process: CoinInSpiteOfValue, shownBy: 'exploration', graph: none3 },
  { name: 'decides a value that one has proposed', process: DecidesWhatIsSeen, shownBy: 'exploration', graph: none3 },
  { name: 'proposes the more frequent value', process: ProposesWhatIsSeen, shownBy: 'exploration', graph: none4 },
  { name: 'counts a process twice', process: CountsTwice, shownBy: 'exploration', graph: [[1], [0], [3], [2], []] },
  { name: 'speaks for itself alone', process: SpeaksForItselfAlone, shownBy: 'exploration', graph: path3 },
  { name: 'forgets reports of a later stage', process: ForgetsEarlyReports, shownBy: 'seeds', graph: none3 },
  { name: 'is silent once it has decided', process: SilentOnceDecided, shownBy: 'seeds', graph: none3 },
  {
    name: 'does not pass on a decision that it has heard',
    process: DoesNotPassOn,
    shownBy: 'seeds',
    graph: none3,
    // One decides, tells one other, and crashes.
    crashes: (seed) => [{ process: seed % 3, step: 'decision', acts: 1 }],
  },
]

/** Hears everything twice, and asks the objects in another order: that is harmless. */
class HearsTwice extends HboProcess {
  constructor(options: HboOptions) {
    super({ ...options, neighbours: options.neighbours.toReversed() })
  }

  override hear(report: HboReport, acts: Acts): void {
    super.hear(report, acts)
    if (this.decided === null) super.hear(report, acts)
  }
}

export const hboCanary: Omit<HboMistake, 'shownBy'> = {
  name: 'hears everything twice, and asks in another order',
  process: HearsTwice,
  graph: path4,
}
