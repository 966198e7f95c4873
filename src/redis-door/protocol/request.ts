/** What a client asks: the name of a command, as it was written, and its arguments. */
export interface Request {
  readonly name: string
  readonly args: readonly Uint8Array[]
  /** An argument was longer than the index takes. It was read past, and the request cannot be done. */
  readonly isTooLong?: true
}

/** What a client sent is no request; the connection cannot go on. The message is Redis'. */
export class ProtocolFault extends Error {}
