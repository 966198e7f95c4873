import type { ObservedMember } from '../cluster/index.ts'
import { JournalReader } from '../dsm/index.ts'
import { processStatus } from '../native/index.ts'
import { Profile } from '../profiling/index.ts'
import { histogramFrame } from './histogram-frame.ts'
import type { HistogramFrame, MemberFrame } from './wire.ts'

/** Where proc(5)'s stat says it, counted from field 3. */
const Field = { State: 0, UserTicks: 11, SystemTicks: 12, ResidentPages: 21 } as const
/** sysconf(_SC_CLK_TCK) has been 100 on Linux for ever; so are pages of 4 KiB on the machines that Aether knows. */
const TICKS_A_SECOND = 100
const PAGE_BYTES = 4096
const FAULTS = 'dsm.fault'

/** What was counted at a look. */
interface Counts {
  readonly atMs: number
  readonly ticks: number
  readonly waits: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** One member from look to look. */
export class MemberSight {
  readonly member: ObservedMember
  /** Undefined until the member shows one, and where it never does: it is in no group. */
  journal: JournalReader | undefined
  #last: Counts | undefined
  #profile: Profile | undefined

  constructor(member: ObservedMember) {
    this.member = member
  }

  /** Its rank, as far as is known. */
  get rank(): number | undefined {
    return this.member.group?.rank ?? this.journal?.rank
  }

  /** What stands for it where ranks are shown: its rank, else its slot. */
  get number(): number {
    return this.rank ?? this.member.slot
  }

  /** What it has counted since this was asked last; undefined the first time. */
  since(profile: Profile): Profile | undefined {
    const last = this.#profile
    this.#profile = profile
    return last === undefined ? undefined : profile.since(last)
  }

  /** What is told of it at a look, given what its threads have counted, and how many regions it has open. */
  look(
    profile: Profile,
    atMs: number,
    regions: number,
  ): { readonly frame: MemberFrame; readonly histograms: readonly HistogramFrame[] } {
    const readings = Profile.merge([profile]).histograms()
    return {
      frame: this.#frame(profile, atMs, regions),
      histograms: readings.filter(({ count }) => count > 0).map((reading) => histogramFrame(reading, this.member.slot)),
    }
  }

  #frame(profile: Profile, atMs: number, regions: number): MemberFrame {
    const status = processStatus(this.member.processId) ?? []
    const field = (index: number): number => Number(status[index] ?? 0)
    const waited = profile.histogram(FAULTS)
    const now: Counts = {
      atMs,
      ticks: field(Field.UserTicks) + field(Field.SystemTicks),
      waits: waited.count,
      bytesIn: profile.total('dsm.pages', 'bytesReceived'),
      bytesOut: profile.total('dsm.pages', 'bytesSent'),
    }
    const last = this.#last ?? now
    this.#last = now
    const rate = (name: keyof Counts): number => ratePerSecond(now[name] - last[name], now.atMs - last.atMs)
    return {
      slot: this.member.slot,
      epoch: this.member.epoch,
      processId: this.member.processId,
      rank: this.rank ?? null,
      state: status[Field.State]?.toUpperCase() === 'T' ? 'stopped' : 'running',
      residentBytes: field(Field.ResidentPages) * PAGE_BYTES,
      processors: rate('ticks') / TICKS_A_SECOND,
      waits: rate('waits'),
      bytesIn: rate('bytesIn'),
      bytesOut: rate('bytesOut'),
      waitP50Ns: waited.p50Ns,
      waitP99Ns: waited.p99Ns,
      regions,
    }
  }

  /** Take the journal that the member shows, given an open descriptor. */
  read(descriptor: number | undefined): void {
    if (descriptor !== undefined) this.journal = JournalReader.over(descriptor)
  }

  close(): void {
    this.journal?.close()
    this.journal = undefined
  }
}

/** Never negative: who began anew counts from zero. */
export function ratePerSecond(difference: number, elapsedMs: number): number {
  return elapsedMs > 0 && difference > 0 ? (difference * 1000) / elapsedMs : 0
}
