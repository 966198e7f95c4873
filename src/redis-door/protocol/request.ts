/** What a client asks: the name of a command, as it was written, and its arguments. */
export interface Request {
  readonly name: string
  readonly args: readonly Uint8Array[]
}

/** What a client sent is no request; the connection cannot go on. The message is Redis'. */
export class ProtocolFault extends Error {}
