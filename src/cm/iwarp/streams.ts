import { native, STREAM_EVENT_NUMBERS, StreamEvent, StreamInterest, type Watcher } from '../../native/index.ts'

const EVENTS_MAX = 64
const BYTES = 64 * 1024
/** If no descriptor is left, callers that wait are looked at again after this time. */
const ACCEPT_AGAIN_MS = 100

/** What happens to a stream. */
export interface StreamUser {
  /** It is connected. */
  writable?(): void
  /** The bytes are valid during the call. */
  received?(bytes: Uint8Array): void
  /** `errno` is 0 if the peer has ended it. It is watched no more. */
  ended?(errno: number): void
  /** Of a listener: a caller has come, whose stream this is. */
  accepted?(descriptor: number): void
}

/** The streams of this JavaScript environment whose ends are being introduced, or are watched for their end. */
export class Streams {
  readonly #set = native.createStreamSet()
  readonly #users = new Map<number, StreamUser>()
  readonly #events = new Int32Array(EVENTS_MAX * STREAM_EVENT_NUMBERS)
  readonly #bytes = new Uint8Array(BYTES)
  readonly #watcher: Watcher

  private constructor() {
    this.#watcher = native.createWatcher(() => {
      this.#watcher.rearm(0)
      this.#turn()
    })
    this.#watcher.add(0, this.#set)
  }

  /** Return the one of this environment; the first caller makes it. */
  static get(): Streams {
    streams ??= new Streams()
    return streams
  }

  listen(address: string, port: number, user: StreamUser): number {
    const descriptor = native.listenStream(address, port)
    this.#add(descriptor, StreamInterest.Listens | StreamInterest.Reads, user)
    return descriptor
  }

  connect(address: string, port: number, source: string, user: StreamUser): number {
    const descriptor = native.connectStream(address, port, source)
    this.#add(descriptor, StreamInterest.Writes, user)
    return descriptor
  }

  /** A stream that a listener has accepted has this user from now on. */
  use(descriptor: number, user: StreamUser): void {
    this.#users.set(descriptor, user)
  }

  /** Take what comes. */
  read(descriptor: number): void {
    native.changeStream(this.#set, descriptor, StreamInterest.Reads)
  }

  /** Leave what comes to others, and tell only of the end. */
  awaitEnd(descriptor: number): void {
    native.changeStream(this.#set, descriptor, StreamInterest.Ends)
  }

  close(descriptor: number): void {
    this.#forget(descriptor)
    native.closeDescriptor(descriptor)
  }

  #add(descriptor: number, interest: number, user: StreamUser): void {
    this.#users.set(descriptor, user)
    native.addStream(this.#set, descriptor, interest)
  }

  /** A queue pair may have a duplicate of the descriptor, so closing it would not end the watch. */
  #forget(descriptor: number): void {
    if (this.#users.delete(descriptor)) native.removeStream(this.#set, descriptor, 0)
  }

  #turn(): void {
    const count = native.pollStreams(this.#set, this.#events, this.#bytes, 0)
    const events = this.#events
    for (let at = 0; at < count * STREAM_EVENT_NUMBERS; at += STREAM_EVENT_NUMBERS)
      this.#tell(events[at]!, events[at + 1]!, events[at + 2]!, events[at + 3]!)
  }

  #tell(descriptor: number, kind: number, offset: number, value: number): void {
    const user = this.#users.get(descriptor)
    switch (kind) {
      case StreamEvent.Received:
        user?.received?.(this.#bytes.subarray(offset, offset + value))
        break
      case StreamEvent.Writable:
        user?.writable?.()
        break
      case StreamEvent.Ended:
        this.#forget(descriptor)
        user?.ended?.(value)
        break
      case StreamEvent.Accepted:
        this.#accepted(descriptor, value)
        break
      default:
        this.#pause(descriptor)
    }
  }

  #accepted(descriptor: number, listener: number): void {
    this.#users.set(descriptor, {})
    const user = this.#users.get(listener)
    if (user === undefined) this.close(descriptor)
    else user.accepted?.(descriptor)
  }

  #pause(listener: number): void {
    const user = this.#users.get(listener)
    if (user === undefined) return
    native.changeStream(this.#set, listener, StreamInterest.Listens)
    const again = (): void => {
      if (this.#users.get(listener) === user)
        native.changeStream(this.#set, listener, StreamInterest.Listens | StreamInterest.Reads)
    }
    setTimeout(again, ACCEPT_AGAIN_MS).unref()
  }
}

let streams: Streams | undefined
