import { TimeSeries } from './time-series.ts'

/** The history of one link. */
export class LinkHistory {
  readonly from: number
  readonly to: number
  readonly bytes: TimeSeries
  readonly latencyUs: TimeSeries

  /** `look` is the number of the last look before the link appeared. */
  constructor(from: number, to: number, look: number) {
    this.from = from
    this.to = to
    this.bytes = new TimeSeries(look, 0)
    this.latencyUs = new TimeSeries(look, Number.NaN)
  }

  set(look: number, bytes: number, latencyNs: number): void {
    this.bytes.set(look, bytes)
    this.latencyUs.set(look, latencyNs < 0 ? Number.NaN : latencyNs / 1000)
  }

  /** Bytes in the last five seconds, which tell how busy the link is. */
  recent(look: number): number {
    return this.bytes.sum(look, 25)
  }
}
