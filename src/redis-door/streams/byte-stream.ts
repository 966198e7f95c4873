import type { Buffer } from 'node:buffer'

/** What a stream tells its owner. */
export interface StreamOwner {
  /** Bytes have come. False if they are used up; else they stay as they are for as long as they are kept. */
  received(piece: Buffer): boolean
  /** All that was written is sent. */
  drained(): void
  /** It has ended, on either side. Nothing follows. */
  closed(): void
}

/** The stream of a client. */
export interface ByteStream {
  /** Such as 127.0.0.1:6379. */
  readonly address: string
  readonly localAddress: string
  /** It was not ended yet. */
  readonly isWritable: boolean
  /** Bytes that the client has not taken. */
  readonly unsentBytes: number
  /** It tells `owner` what comes. Called once, at once. */
  begin(owner: StreamOwner, keepAliveSeconds: number): void
  /** `bytes` may be used again afterwards. */
  write(bytes: Uint8Array): void
  /** Take nothing from the client, or go on. */
  setReading(isReading: boolean): void
  /** End when everything is sent. */
  end(): void
  /** End at once. */
  destroy(): void
}

/** Takes clients at an address. */
export interface Front {
  readonly port: number
  /** No one is taken any more. It resolves when all streams have ended; the caller ends them. */
  close(): Promise<void>
}

/** What a front calls with the stream of each client. */
export type TakeStream = (stream: ByteStream) => void
