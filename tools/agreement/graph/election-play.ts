import type { Algorithm } from '../model/algorithm.ts'
import { AgreementWorld, type WorldEvent } from '../play/world.ts'
import type { OmegaProcess } from './omega-process.ts'
import { type Pace, playPaced } from './paced-play.ts'

const namesOf = (processes: readonly (number | undefined)[]): string =>
  processes.map((process) => (process === undefined ? 'none' : `P${process}`)).join(', ')

type OperationEvent = Extract<WorldEvent, { type: 'operation' }>

/** What was done in a time in which an election was to be stable. */
interface WatchedElection {
  readonly from: number
  readonly to: number
  readonly messages: number
  readonly writes: number
  readonly reads: number
}

/** A world of an election, and what memories have done in it since it was asked last. */
export class ElectionPlay {
  readonly world: AgreementWorld
  /** What was done while it was to be stable: see {@link ElectionPlay.instability}. */
  watched: WatchedElection | undefined
  #operations: OperationEvent[] = []

  constructor(algorithm: Algorithm, processes: number, watch?: (event: WorldEvent) => void) {
    this.world = new AgreementWorld({
      algorithm,
      setting: { processes, memories: processes },
      inputs: new Array<string>(processes).fill(''),
      watch: (event) => {
        if (event.type === 'operation') this.#operations.push(event)
        watch?.(event)
      },
    })
  }

  get correct(): number[] {
    return this.world.up.flatMap((up, process) => (up ? [process] : []))
  }

  badnessOf(process: number): number {
    return (this.world.processes[process] as OmegaProcess).badness
  }

  #takeOperations(): OperationEvent[] {
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
    if (leader === undefined || new Set(leaders).size > 1)
      return `leaders are ${namesOf(leaders)} at ${namesOf(correct)}`
    if (!world.up[leader]) return `P${leader} leads and has crashed`
    const { now, costs } = world
    const { messages, writes, reads } = costs
    const badness = this.badnessOf(leader)
    this.#takeOperations()
    playPaced(world, untilDelays, pace)
    this.watched = {
      from: now,
      to: world.now,
      messages: world.costs.messages - messages,
      writes: world.costs.writes - writes,
      reads: world.costs.reads - reads,
    }
    if (correct.some((process) => world.leaders[process] !== leader)) return `P${leader} no longer leads`
    if (this.watched.messages > 0) return `${this.watched.messages} more messages`
    if (this.badnessOf(leader) !== badness) return 'the badness of the leader grows'
    return this.#wrongOperation(leader, leniently)
  }

  #wrongOperation(leader: number, leniently: boolean): string | undefined {
    const seen = new Set(
      this.#takeOperations().map(({ process, memory, operation }) => {
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
