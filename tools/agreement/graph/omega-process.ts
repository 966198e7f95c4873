import type { Acts, AgreementEvent, Data, Process } from '../model/process.ts'
import type { Notices } from './notices.ts'

/** How long a leader waits after a heartbeat has been written until the next, in delays. */
const BEAT_DELAYS = 2
/** How long a process is given between two looks at its heartbeat, in delays, before it has ever been accused. */
const PATIENCE_DELAYS = 8

/** What a process lets others read of itself: STATE in the paper. */
export interface Candidacy {
  readonly heartbeat: number
  /** How often it has been accused. */
  readonly badness: number
  /** Whether it takes itself for the leader. */
  readonly active: boolean
}

/** Another process that contends for leadership. */
export interface Contender {
  /** Unknown until it has been read. */
  badness: number | null
  /** What was read last. */
  heartbeat: number | null
  /** The number of the look that is under way: answers of earlier ones are out of date. */
  look: number
}

export interface OmegaOptions {
  readonly me: number
  readonly processes: number
  readonly notices: Notices
}

export const candidacyOf = (process: number): { region: string; index: number } => ({
  region: `candidacy/${process}`,
  index: 0,
})

/**
 * A process of both leader elections (PODC'18, section 5). Those that contend are compared by badness, and then by
 * number; each process takes the best that it knows of for the leader, itself included.
 *
 * 1. A process that takes itself for the leader is active. It writes heartbeats into its own register, and gives notice
 *    to all others once the first one has been written.
 * 2. A process that gets such a notice reads that register, again and again, while it says that its owner is active.
 * 3. If there is no new heartbeat since the last look, it strikes the owner off, and accuses it by a notice. From then
 *    on it is more patient with it. An owner counts as badness how often it is accused.
 * 4. An owner that is still active then gives notice again, so that it is not forgotten.
 *
 * A process that takes steps in time is accused only until all others are patient enough. So its badness is bounded,
 * and in the end a process leads whose badness is bounded, too. How long messages take does not matter.
 */
export class OmegaProcess implements Process {
  leader: number | null = null
  active = false
  /** How often it has become active. */
  term = 0
  /** Whether it has given notice of this term. */
  announced = false
  heartbeat = 0
  badness = 0
  contenders: Record<number, Contender> = {}
  patience: number[]
  looks = 0
  readonly me: number
  readonly processes: number
  readonly notices: Notices

  constructor({ me, processes, notices }: OmegaOptions) {
    this.me = me
    this.processes = processes
    this.notices = notices
    this.patience = new Array<number>(processes).fill(PATIENCE_DELAYS)
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') {
      this.notices.begin(acts)
      this.choose(acts)
      return
    }
    for (const { kind, from } of this.notices.hear(event, acts)) {
      if (kind === 'contend') this.lookAt(from, acts)
      else this.bearAccusation(from, acts)
    }
    if (event.type === 'timer') this.wakeUp(event.tag, acts)
    if (event.type === 'answer') this.learn(event.tag, event.values[0] ?? null, acts)
  }

  wakeUp(tag: string, acts: Acts): void {
    const [what, one, look] = tag.split('/')
    if (what === 'beat' && this.active && Number(one) === this.term) this.beat(acts)
    if (what === 'look' && this.contenders[Number(one)]?.look === Number(look)) this.readOf(Number(one), acts)
  }

  learn(tag: string, value: Data, acts: Acts): void {
    const [what, one, look] = tag.split('/')
    if (what === 'beat' && this.active && Number(one) === this.term) {
      this.announce(acts)
      acts.wake(BEAT_DELAYS, tag)
    }
    if (what === 'look') this.see(Number(one), Number(look), value as unknown as Candidacy | null, acts)
  }

  /** Takes the best contender for the leader, and becomes active or passive as that is this process or not. */
  choose(acts: Acts): void {
    let [best, badness] = [this.me, this.badness]
    for (const [name, contender] of Object.entries(this.contenders)) {
      const process = Number(name)
      if (contender.badness === null || !this.isBetter(process, contender.badness, best, badness)) continue
      best = process
      badness = contender.badness
    }
    if (best !== this.leader) acts.elect(best)
    this.leader = best
    if (best === this.me && !this.active) this.becomeActive(acts)
    if (best !== this.me && this.active) this.becomePassive(acts)
  }

  isBetter(one: number, badnessOfOne: number, other: number, badnessOfOther: number): boolean {
    return badnessOfOne < badnessOfOther || (badnessOfOne === badnessOfOther && one < other)
  }

  becomeActive(acts: Acts): void {
    this.active = true
    this.announced = false
    this.term += 1
    this.beat(acts)
  }

  becomePassive(acts: Acts): void {
    this.active = false
    this.write('passive', acts)
  }

  beat(acts: Acts): void {
    this.heartbeat += 1
    this.write(`beat/${this.term}`, acts)
  }

  write(tag: string, acts: Acts): void {
    const { heartbeat, badness, active } = this
    acts.write(this.me, candidacyOf(this.me), { heartbeat, badness, active }, tag)
  }

  /** Gives notice to all, once in a term. Its register says by then that it is active: the write has been answered. */
  announce(acts: Acts): void {
    if (this.announced) return
    this.announced = true
    for (let process = 0; process < this.processes; process += 1)
      if (process !== this.me) this.notices.send('contend', process, acts)
  }

  /** Gives notice to one that may not know, or no longer. */
  remind(process: number, acts: Acts): void {
    if (this.active && this.announced) this.notices.send('contend', process, acts)
  }

  bearAccusation(from: number, acts: Acts): void {
    this.badness += 1
    this.choose(acts)
    this.remind(from, acts)
  }

  /** Reads a register as if for the first time: whatever was read of it before may be out of date. */
  lookAt(process: number, acts: Acts): void {
    this.looks += 1
    const badness = this.contenders[process]?.badness ?? null
    this.contenders[process] = { badness, heartbeat: null, look: this.looks }
    this.readOf(process, acts)
  }

  readOf(process: number, acts: Acts): void {
    acts.read(process, [candidacyOf(process)], `look/${process}/${this.contenders[process]!.look}`)
  }

  see(process: number, look: number, candidacy: Candidacy | null, acts: Acts): void {
    const contender = this.contenders[process]
    if (contender === undefined || contender.look !== look) return
    if (candidacy === null || !candidacy.active) {
      delete this.contenders[process]
      this.choose(acts)
    } else if (candidacy.heartbeat === contender.heartbeat) {
      this.accuse(process, acts)
    } else {
      const isFirst = contender.heartbeat === null
      this.contenders[process] = { badness: candidacy.badness, heartbeat: candidacy.heartbeat, look }
      acts.wake(this.patience[process]!, `look/${process}/${look}`)
      this.choose(acts)
      // It contends and is not better, so it may not know of this process.
      if (isFirst) this.remind(process, acts)
    }
  }

  accuse(process: number, acts: Acts): void {
    delete this.contenders[process]
    this.patience[process]! += 1
    this.notices.send('accuse', process, acts)
    this.choose(acts)
  }
}
