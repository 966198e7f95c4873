import { native, SystemError } from '../../native/index.ts'
import { type ControlPlace, type EndNotice, EndNotices } from '../hosts/index.ts'

/** How long a peer that cannot be connected to may take to end; after that it is another failure. */
const ENDING_MS = 1000

/** What is known of the ends of peers' processes, beside what their connections show. */
export interface PeerEnds {
  /** For poll(2): readable when there is something new. */
  readonly descriptors: readonly number[]
  /** `peer` is process `processId` of this machine. False where that has ended. */
  watch(peer: number, processId: number): boolean
  /** Whether `peer`, which cannot be connected to, has ended or does so now. */
  isEnding(peer: number): boolean
  /** End the process of `peer` at once. False where it cannot be, or does not end in bounded time. */
  kill(peer: number): boolean
  /** Take in what is new; {@link look} then tells of it. */
  refresh(): void
  /** What is known against `peer`; undefined if nothing is. */
  look(peer: number): EndNotice | undefined
  /** The peer is out: nothing is asked of it any more. */
  forget(peer: number): void
  close(): void
}

const ENDED: EndNotice = { why: 'its process ended', certain: true }

/**
 * Processes of this machine are watched by their descriptors (pidfd_open(2)). Of processes elsewhere the notices of a
 * control line tell.
 */
export class ProcessEnds implements PeerEnds {
  /** By rank; -1 for none. */
  readonly #processes: Int32Array
  readonly #ended: Int32Array
  readonly #notices: EndNotices | undefined
  readonly #bell: number | undefined
  #anyEnded = false

  constructor(size: number, control: ControlPlace | undefined) {
    this.#processes = new Int32Array(size).fill(-1)
    this.#ended = new Int32Array(size)
    this.#notices = control && new EndNotices(size, control.notices)
    this.#bell = control?.bell
  }

  get descriptors(): readonly number[] {
    return this.#bell === undefined ? [...this.#processes] : [...this.#processes, this.#bell]
  }

  watch(peer: number, processId: number): boolean {
    try {
      this.#processes[peer] = native.openProcess(processId)
      return true
    } catch (error) {
      if (error instanceof SystemError && error.errnoName === 'ESRCH') return false
      throw error
    }
  }

  /** Waits a little: a killed process closes its device before it counts as ended. */
  isEnding(peer: number): boolean {
    return native.poll(this.#processes.subarray(peer, peer + 1), this.#ended, 1, ENDING_MS) > 0
  }

  kill(peer: number): boolean {
    const process = this.#processes[peer]!
    if (process < 0) return false
    native.killProcess(process)
    return this.isEnding(peer)
  }

  refresh(): void {
    this.#anyEnded = native.poll(this.#processes, this.#ended, this.#processes.length, 0) > 0
    if (this.#bell !== undefined) native.drainPipe(this.#bell)
  }

  look(peer: number): EndNotice | undefined {
    return this.#anyEnded && this.#ended[peer] !== 0 ? ENDED : this.#notices?.look(peer)
  }

  forget(peer: number): void {
    const process = this.#processes[peer]!
    if (process >= 0) native.closeDescriptor(process)
    this.#processes[peer] = -1
  }

  close(): void {
    for (const process of this.#processes) if (process >= 0) native.closeDescriptor(process)
  }
}
