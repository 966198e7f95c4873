/** What the tests of leader elections share. */
import { Random } from '../../../../src/runtime/index.ts'
import type { OmegaProcess } from '../../../../tools/agreement/graph/omega-process.ts'
import { type Pace, playPaced, timelyPace } from '../../../../tools/agreement/graph/paced-play.ts'
import { drawCrashes, playRandomly } from '../../../../tools/agreement/graph/random-play.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import { AgreementWorld, type WorldEvent } from '../../../../tools/agreement/play/world.ts'

/** A world of an election, and what memories have done in it since it was asked last. */
export class ElectionPlay {
  readonly world: AgreementWorld
  #operations: Extract<WorldEvent, { type: 'operation' }>[] = []

  constructor(algorithm: Algorithm, processes: number) {
    const watch = (event: WorldEvent): void => {
      if (event.type === 'operation') this.#operations.push(event)
    }
    const setting = { processes, memories: processes }
    this.world = new AgreementWorld({ algorithm, setting, inputs: new Array<string>(processes).fill(''), watch })
  }

  get correct(): number[] {
    return this.world.up.flatMap((up, process) => (up ? [process] : []))
  }

  badnessOf(process: number): number {
    return (this.world.processes[process] as OmegaProcess).badness
  }

  takeOperations(): Extract<WorldEvent, { type: 'operation' }>[] {
    const operations = this.#operations
    this.#operations = []
    return operations
  }

  /**
   * What is wrong with an election that should be over: plays on from here for a time in which it is to be stable. What
   * it may do then must happen as well, unless `leniently`.
   */
  instability(untilDelays: number, pace: Pace, leniently = false): string | undefined {
    const { world, correct } = this
    const leaders = correct.map((process) => world.leaders[process])
    const [leader] = leaders
    if (leader === undefined || new Set(leaders).size > 1) return `leaders are ${leaders.join()} at ${correct.join()}`
    if (!world.up[leader]) return `${leader} leads and has crashed`
    const { messages } = world.costs
    const badness = this.badnessOf(leader)
    this.takeOperations()
    playPaced(world, untilDelays, pace)
    if (correct.some((process) => world.leaders[process] !== leader)) return `${leader} no longer leads`
    if (world.costs.messages !== messages) return `${world.costs.messages - messages} more messages`
    if (this.badnessOf(leader) !== badness) return 'the badness of the leader grows'
    return this.#wrongOperation(leader, leniently)
  }

  #wrongOperation(leader: number, leniently: boolean): string | undefined {
    const seen = new Set(
      this.takeOperations().map(({ process, memory, operation }) => {
        const register =
          operation.do === 'read' ? operation.registers[0]! : (operation as { register: { region: string } }).register
        const [what] = register.region.split('/')
        const whose = memory === process ? 'its own' : memory === leader ? 'the leader’s' : 'another’s'
        return `${process === leader ? 'the leader' : 'a follower'} ${operation.do}s ${whose} ${what}`
      }),
    )
    const { algorithm, setting } = this.world.scene
    const notices = algorithm.name === 'omega-fair-lossy' && setting.processes > 1
    const expected = [
      'the leader writes its own candidacy',
      ...(this.correct.length > 1 ? ['a follower reads the leader’s candidacy'] : []),
      ...(notices ? ['the leader reads its own notices'] : []),
      ...(notices && this.correct.length > 1 ? ['a follower reads its own notices'] : []),
    ]
    const wrong =
      [...seen].find((each) => !expected.includes(each)) ?? expected.find((each) => !leniently && !seen.has(each))
    return wrong === undefined ? undefined : `${seen.has(wrong) ? 'it happens' : 'it does not happen'} that ${wrong}`
  }
}

export interface ElectionSeed {
  readonly algorithm: Algorithm
  readonly seed: number
  readonly lossPercent: number
  /** How it goes on after the disorder. */
  readonly pace?: Pace
  readonly stableAt?: number
  readonly leniently?: boolean
}

const CHAOS_STEPS = 600

/**
 * Any order with crashes and lost messages at first, and timers that run as they like. Then everything is in time, and
 * the election has to be over by `stableAt`. Says what is wrong, if anything is.
 */
export function playElectionSeed({
  algorithm,
  seed,
  lossPercent,
  pace = timelyPace,
  stableAt = 1500,
  leniently = false,
}: ElectionSeed): string | undefined {
  const random = new Random(seed)
  const processes = 2 + random.below(4)
  const play = new ElectionPlay(algorithm, processes)
  const crashes = drawCrashes(random, processes, random.below(processes), 60)
  playRandomly(play.world, { seed, stepsMax: random.below(CHAOS_STEPS), crashes, lossPercent })
  playPaced(play.world, stableAt, pace)
  return play.instability(stableAt + 300, pace, leniently)
}

/** A number that looks random, of what a pace is told. */
const mixed = (...numbers: readonly number[]): number =>
  new Random(numbers.reduce((sum, each) => Math.imul(sum, 31) + Math.round(each * 8), 17)).below(1_000_000)

/** Operations and steps are in time; each message takes up to `most` delays. */
export const slowLinks =
  (most: number): Pace =>
  (pending) =>
    pending.kind === 'message' ? 1 + (mixed(pending.since, pending.process) % most) : timelyPace(pending)

/** No message ever arrives. */
export const deadLinks: Pace = (pending) => (pending.kind === 'message' ? Infinity : timelyPace(pending))

/** Each process is slow in its turn: it takes ten times as long then. */
export const slowInTurns =
  (processes: number): Pace =>
  (pending) =>
    (Math.floor(pending.since / 100) % processes === pending.process ? 10 : 1) * timelyPace(pending)

/** Only one process is in time. All others are the slower the longer it goes on. */
export const oneTimely =
  (timely: number): Pace =>
  (pending) =>
    pending.process === timely ? timelyPace(pending) : timelyPace(pending) + 1 + pending.since / 12
