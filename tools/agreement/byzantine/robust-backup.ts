import type { Acts, AgreementEvent, Data, Process } from '../model/process.ts'
import { copyOf } from '../play/copy.ts'
import type { NonEquivocatingBroadcast } from './broadcast.ts'
import { hasTexts } from './has-texts.ts'

/** Why a process took a step, as the others can check it. */
type Cause =
  | { readonly why: 'begin'; readonly input: string }
  | { readonly why: 'leader'; readonly leader: number }
  | { readonly why: 'timer'; readonly tag: string }
  /** The `index`th message in the broadcast with that number. */
  | { readonly why: 'heard'; readonly from: number; readonly number: number; readonly index: number }

/** What a process broadcasts: all that it was told since it broadcast last, and what it sends because of that. */
interface Report {
  readonly causes: readonly Cause[]
  readonly sends: readonly (readonly [to: number, message: Data])[]
}

/** Another process as it would be if it kept to the algorithm. */
interface Shadow {
  readonly process: Process
  /** Reports that name a broadcast that has not been delivered here yet, and those behind them. */
  readonly waiting: { readonly number: number; readonly report: Report }[]
  timers: string[]
  begun: boolean
  /** It has sent what the algorithm would not send: nothing of it counts any more. */
  convicted: boolean
  /** What it has already given as a cause. */
  used: string[]
}

/**
 * Makes an algorithm for crashes one for Byzantine processes (PODC'19, section 4.1: *Robust Backup*, by the translation
 * of Clement et al., PODC 2012). Every message is broadcast so that no one can say different things to different
 * processes, with its causes. Each receiver runs a copy of the sender with the same causes, and believes only
 * what that copy sends as well. So a Byzantine process can do no more than crash, or suspect others.
 *
 * The paper sends the whole history with each message. Here a report names the broadcasts that it follows from, which
 * everyone gets anyway.
 */
export class RobustBackup {
  readonly me: number
  readonly broadcast: NonEquivocatingBroadcast
  readonly own: Process
  readonly shadows: Shadow[]
  causes: Cause[] = []
  /** Messages of reports that were checked, by `from/number/index`. */
  sent: Record<string, { readonly to: number; readonly message: Data }> = {}
  /** Messages to this process, in the order in which they are to be heard. */
  arrived: { readonly from: number; readonly number: number; readonly index: number; readonly message: Data }[] = []
  decided: string | null = null
  begun = false
  /** The leader of which it was told before it began. */
  leader: number | null = null

  constructor(
    me: number,
    processes: number,
    broadcast: NonEquivocatingBroadcast,
    create: (process: number) => Process,
  ) {
    this.me = me
    this.broadcast = broadcast
    this.own = create(me)
    this.shadows = Array.from({ length: processes }, (_, process) => ({
      process: create(process),
      waiting: [],
      timers: [],
      begun: false,
      convicted: false,
      used: [],
    }))
  }

  begin(input: string, acts: Acts): void {
    this.begun = true
    this.broadcast.start(acts)
    this.take({ why: 'begin', input }, { type: 'begin', input }, acts)
    const { leader } = this
    if (leader !== null) this.take({ why: 'leader', leader }, { type: 'leader', leader }, acts)
  }

  /** Returns the value once it is decided, and only then. */
  step(event: AgreementEvent, acts: Acts): string | undefined {
    const before = this.decided
    if (!this.begun) {
      if (event.type === 'leader') this.leader = event.leader
      return undefined
    }
    if (event.type === 'leader') this.take({ why: 'leader', leader: event.leader }, event, acts)
    else if (event.type === 'timer' && event.tag.startsWith(TIMER)) {
      const tag = event.tag.slice(TIMER.length)
      this.take({ why: 'timer', tag }, { type: 'timer', tag }, acts)
    } else {
      for (const { from, number, message } of this.broadcast.hear(event, acts))
        if (isReport(message)) this.shadows[from]!.waiting.push({ number, report: message })
        else this.shadows[from]!.convicted = true
      this.check(acts)
      while (this.arrived.length > 0) {
        const { from, number, index, message } = this.arrived.shift()!
        this.take({ why: 'heard', from, number, index }, { type: 'message', from, message }, acts)
      }
    }
    return before === null && this.decided !== null ? this.decided : undefined
  }

  /** One step of the process itself. */
  private take(cause: Cause, event: AgreementEvent, acts: Acts): void {
    this.causes.push(cause)
    const inner = new InnerActs(acts)
    this.own.step(event, inner)
    for (const [delays, tag] of inner.wakes) acts.wake(delays, `${TIMER}${tag}`)
    if (inner.decided !== undefined) this.decided ??= inner.decided
    if (inner.sends.length === 0) return
    const report: Report = { causes: this.causes, sends: inner.sends }
    this.causes = []
    this.broadcast.broadcast(report as unknown as Data, acts)
  }

  /** Checks the reports of all that can be checked by now. */
  private check(acts: Acts): void {
    for (let goesOn = true; goesOn; ) {
      goesOn = false
      for (const [from, shadow] of this.shadows.entries()) {
        const [next] = shadow.waiting
        if (next === undefined || shadow.convicted) continue
        if (!next.report.causes.every((cause) => this.isKnown(cause))) continue
        shadow.waiting.shift()
        goesOn = true
        if (!this.replay(from, shadow, next.report, acts)) {
          shadow.convicted = true
          continue
        }
        next.report.sends.forEach(([to, message], index) => {
          this.sent[`${from}/${next.number}/${index}`] = { to, message }
          if (to === this.me) this.arrived.push({ from, number: next.number, index, message })
        })
      }
    }
  }

  /** A cause that no one has sent yet may still come. */
  private isKnown(cause: Cause): boolean {
    return cause.why !== 'heard' || this.sent[`${cause.from}/${cause.number}/${cause.index}`] !== undefined
  }

  /** True if the process sends just that for these causes. */
  private replay(from: number, shadow: Shadow, { causes, sends }: Report, acts: Acts): boolean {
    const inner = new InnerActs(acts)
    for (const cause of causes) {
      // Only the last of them sends anything: what was sent before has been reported before.
      if (inner.sends.length > 0) return false
      const event = this.eventOf(from, shadow, cause)
      if (event === undefined) return false
      shadow.process.step(event, inner)
      for (const [, tag] of inner.wakes) shadow.timers.push(tag)
      inner.wakes.length = 0
    }
    return JSON.stringify(inner.sends) === JSON.stringify(sends)
  }

  /** What a cause tells a process; undefined if it cannot have been told that. */
  private eventOf(from: number, shadow: Shadow, cause: Cause): AgreementEvent | undefined {
    if ((cause.why === 'begin') === shadow.begun) return undefined
    switch (cause.why) {
      case 'begin':
        shadow.begun = true
        return { type: 'begin', input: cause.input }
      case 'leader':
        return { type: 'leader', leader: cause.leader }
      case 'timer': {
        const at = shadow.timers.indexOf(cause.tag)
        if (at < 0) return undefined
        shadow.timers.splice(at, 1)
        return { type: 'timer', tag: cause.tag }
      }
      case 'heard': {
        const name = `${cause.from}/${cause.number}/${cause.index}`
        const sent = this.sent[name]
        if (sent === undefined || sent.to !== from || shadow.used.includes(name)) return undefined
        shadow.used.push(name)
        return { type: 'message', from: cause.from, message: copyOf(sent.message) }
      }
    }
  }
}

const TIMER = 'inner '
const NO_MEMORIES = 'a process in a robust backup has no memories'

function isReport(data: Data): data is Data & Report {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return false
  const { causes, sends } = data as { readonly causes?: Data; readonly sends?: Data }
  return (
    Array.isArray(causes) &&
    causes.every(isCause) &&
    Array.isArray(sends) &&
    sends.every((send: Data) => Array.isArray(send) && Number.isSafeInteger(send[0]))
  )
}

function isCause(data: Data): boolean {
  if (!hasTexts(data, ['why'])) return false
  if (data['why'] === 'begin') return typeof data['input'] === 'string'
  if (data['why'] === 'leader') return Number.isSafeInteger(data['leader'])
  if (data['why'] === 'timer') return typeof data['tag'] === 'string'
  return data['why'] === 'heard' && ['from', 'number', 'index'].every((name) => Number.isSafeInteger(data[name]))
}

/** What a process inside does. It has messages, and no memories. */
class InnerActs implements Acts {
  readonly sends: [to: number, message: Data][] = []
  readonly wakes: [delays: number, tag: string][] = []
  decided: string | undefined
  readonly #acts: Acts

  constructor(acts: Acts) {
    this.#acts = acts
  }

  get now(): number {
    return this.#acts.now
  }

  send(to: number, message: Data): void {
    this.sends.push([to, message])
  }

  wake(delays: number, tag: string): void {
    this.wakes.push([delays, tag])
  }

  decide(value: string): void {
    this.decided ??= value
  }

  verify(process: number, text: string, signature: string): boolean {
    return this.#acts.verify(process, text, signature)
  }

  sign(): never {
    throw new TypeError('a process in a robust backup signs nothing: its reports are signed')
  }

  elect(): never {
    throw new TypeError('a process in a robust backup elects no one')
  }

  flip(): never {
    throw new TypeError('a process in a robust backup flips no coin: others could not follow it')
  }

  write(): never {
    throw new TypeError(NO_MEMORIES)
  }

  read(): never {
    throw new TypeError(NO_MEMORIES)
  }

  claim(): never {
    throw new TypeError(NO_MEMORIES)
  }

  permit(): never {
    throw new TypeError(NO_MEMORIES)
  }
}
