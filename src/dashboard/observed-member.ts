import type { ObservedMember } from '../cluster/index.ts'
import { JournalReader } from '../dsm/index.ts'
import { processStatus } from '../native/index.ts'
import { Profile } from '../profiling/index.ts'
import { histogramFrame } from './histogram-frame.ts'
import type { HistogramFrame, MemberFrame } from './wire.ts'

/** Fields of /proc/PID/stat, counted from field 3; see proc(5). */
const Field = { State: 0, UserTicks: 11, SystemTicks: 12, ResidentPages: 21 } as const
/** sysconf(_SC_CLK_TCK) is always 100 on Linux, and pages have 4 KiB on all machines that Aether supports. */
const TICKS_A_SECOND = 100
const PAGE_BYTES = 4096
const FAULTS = 'dsm.fault'

/** Counters at a look. */
interface Counts {
  readonly atMs: number
  readonly ticks: number
  readonly waits: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** One member over successive looks. */
export class MemberSight {
  readonly member: ObservedMember
  /** Undefined until the member shows one. A member that is not in a group never does. */
  journal: JournalReader | undefined
  #last: Counts | undefined
  #profile: Profile | undefined

  constructor(member: ObservedMember) {
    this.member = member
  }

  /** Its rank, if known. */
  get rank(): number | undefined {
    return this.member.group?.rank ?? this.journal?.rank
  }

  /** Its number where ranks are shown: its rank, otherwise its slot. */
  get number(): number {
    return this.rank ?? this.member.slot
  }

  /** Its counters since the last call; undefined the first time. */
  since(profile: Profile): Profile | undefined {
    const last = this.#profile
    this.#profile = profile
    return last === undefined ? undefined : profile.since(last)
  }

  /** What a look reports of it, given the counters of its threads and the number of regions that it has open. */
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
    const { slot, epoch, processId, foreign } = this.member
    const status = foreign === true ? [] : (processStatus(processId) ?? [])
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
      slot,
      epoch,
      processId,
      ...(foreign === true ? { foreign } : {}),
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

  /** Read the member's journal from an open descriptor. */
  read(descriptor: number | undefined): void {
    if (descriptor !== undefined) this.journal = JournalReader.over(descriptor)
  }

  close(): void {
    this.journal?.close()
    this.journal = undefined
  }
}

/** Never negative: a counter that was restarted counts from zero. */
export function ratePerSecond(difference: number, elapsedMs: number): number {
  return elapsedMs > 0 && difference > 0 ? (difference * 1000) / elapsedMs : 0
}
