/** One end of a way for messages between two processes, both in their event loops. */
export interface Pipe {
  /** In order. A promise where its room is used up, until there is some. */
  send(data: Uint8Array): void | Promise<void>
  /** Called with each message that comes. */
  onMessage: () => void
  /** How long messages that come are: a socket is a stream of bytes, and counts them. */
  messageBytes: number
  close(): void | Promise<void>
}

/** Where the two ends meet. */
export interface PipeMeeting {
  readonly device: string
  readonly address: string
  /** For sockets. */
  readonly directory: string
}

/** The far end before it is connected: a number for the near one, and the pipe when it is there. */
export interface FarEnd {
  readonly told: number
  readonly pipe: Promise<Pipe>
}
