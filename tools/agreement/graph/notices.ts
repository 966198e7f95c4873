import type { RegionRule } from '../model/memory.ts'
import type { Acts, AgreementEvent, Data } from '../model/process.ts'

/** What a process tells another in an election: that it contends for leadership, or that the other seems to be slow. */
export type NoticeKind = 'contend' | 'accuse'

export interface Notice {
  readonly kind: NoticeKind
  readonly from: number
}

/** How notices travel (PODC'18, section 5: the notification mechanism). None may be lost. */
export interface Notices {
  begin(acts: Acts): void
  send(kind: NoticeKind, to: number, acts: Acts): void
  /** What an event brings. */
  hear(event: AgreementEvent, acts: Acts): Notice[]
}

/** Notices as messages, for reliable links. */
export class MessageNotices implements Notices {
  begin(): void {}

  send(kind: NoticeKind, to: number, acts: Acts): void {
    acts.send(to, { notice: kind })
  }

  hear(event: AgreementEvent): Notice[] {
    if (event.type !== 'message') return []
    const { notice } = event.message as { readonly notice: NoticeKind }
    return [{ kind: notice, from: event.from }]
  }
}

/** How many notices of each kind a process has written for another. */
type NoticeCounts = Readonly<Record<NoticeKind, number>>

const NONE: NoticeCounts = { contend: 0, accuse: 0 }
const POLL = 'notices/poll'
const HINTED = 'notices/hinted'
/** How long until a process looks for notices again, in delays. */
const POLL_DELAYS = 4

const registerFor = (to: number, from: number): { region: string; index: number } => ({
  region: `notices/${to}/${from}`,
  index: 0,
})

/** A register for each pair: in the memory of the one that is told, written by the one that tells. */
export function noticeRegions(processes: number): RegionRule[] {
  const all = Array.from({ length: processes }, (_, process) => process)
  return all.flatMap((to) =>
    all
      .filter((from) => from !== to)
      .map((from): RegionRule => {
        const { region } = registerFor(to, from)
        return { name: region, registers: 1, writers: [from], readers: [to], changes: 'none', at: [to] }
      }),
  )
}

/**
 * Notices as counters in registers of the memory of the one that is told, for links that lose messages. It looks at
 * them for ever. A message, which may be lost, only makes it look at once.
 *
 * A counter tells of all notices so far. So one that is overwritten is not lost, and none is taken twice.
 */
export class RegisterNotices implements Notices {
  /** What has been written for each process. */
  written: NoticeCounts[]
  /** What has been read of each process. */
  read: NoticeCounts[]
  readonly me: number
  readonly others: readonly number[]

  constructor(me: number, processes: number) {
    this.me = me
    this.others = Array.from({ length: processes }, (_, process) => process).filter((process) => process !== me)
    this.written = new Array<NoticeCounts>(processes).fill(NONE)
    this.read = new Array<NoticeCounts>(processes).fill(NONE)
  }

  begin(acts: Acts): void {
    if (this.others.length > 0) this.look(POLL, acts)
  }

  send(kind: NoticeKind, to: number, acts: Acts): void {
    const counts = { ...this.written[to]!, [kind]: this.written[to]![kind] + 1 }
    this.written[to] = counts
    acts.write(to, registerFor(to, this.me), counts, 'notices/write')
    acts.send(to, { look: true })
  }

  hear(event: AgreementEvent, acts: Acts): Notice[] {
    if (event.type === 'message') this.look(HINTED, acts)
    if (event.type === 'timer' && event.tag === POLL) this.look(POLL, acts)
    if (event.type !== 'answer' || (event.tag !== POLL && event.tag !== HINTED)) return []
    if (event.tag === POLL) acts.wake(POLL_DELAYS, POLL)
    return this.others.flatMap((from, index) => this.newOf(from, event.values[index] ?? null))
  }

  look(tag: string, acts: Acts): void {
    acts.read(
      this.me,
      this.others.map((from) => registerFor(this.me, from)),
      tag,
    )
  }

  newOf(from: number, value: Data): Notice[] {
    const counts = (value as unknown as NoticeCounts | null) ?? NONE
    const before = this.read[from]!
    this.read[from] = counts
    return (['accuse', 'contend'] as const)
      .filter((kind) => counts[kind] > before[kind])
      .map((kind) => ({ kind, from }))
  }
}
