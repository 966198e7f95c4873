import type {
  LocalRange,
  OperationDone,
  RegisteredBuffer,
  RemoteAddress,
  VerbsLink,
} from '../../../src/messaging/index.ts'
import { deferred } from '../support.ts'

/** What an end of a link has taken of its memory for bodies, and its READs, which a test may hold. */
export class LendingTally {
  /** Bytes that were taken and not given back, now and at most. */
  takenBytes = 0
  takenBytesMax = 0
  /** READs that were begun, as the session asked for them. */
  reads = 0
  /** Resolves with the first READ. */
  readonly begun: Promise<void>
  #gate: Promise<void> | undefined
  #open: () => void = () => undefined

  constructor(link: VerbsLink) {
    const { lending } = link
    const begun = deferred()
    this.begun = begun.promise
    const take = lending.take.bind(lending)
    lending.take = (length) => {
      const buffer = take(length)
      this.takenBytes += buffer.bytes.length
      this.takenBytesMax = Math.max(this.takenBytesMax, this.takenBytes)
      return buffer
    }
    const giveBack = lending.giveBack.bind(lending)
    lending.giveBack = (buffer: RegisteredBuffer) => {
      this.takenBytes -= buffer.bytes.length
      giveBack(buffer)
    }
    const read = lending.read.bind(lending)
    lending.read = (local: LocalRange, remote: RemoteAddress, done: OperationDone) => {
      this.reads += 1
      begun.resolve()
      if (this.#gate === undefined) read(local, remote, done)
      else void this.#gate.then(() => link.open && read(local, remote, done))
    }
  }

  /** READs wait from now on, until what it gives is called. */
  hold(): () => void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve
    })
    return () => {
      this.#gate = undefined
      this.#open()
    }
  }
}
