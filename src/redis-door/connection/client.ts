import type { Watched } from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { ProtocolVersion } from '../protocol/reply-writer.ts'
import type { Request } from '../protocol/request.ts'

/** What a client's connection does for commands. */
export interface ClientLine {
  /** Send something that was not asked for, or one reply of several. */
  push(reply: DoorReply): void
  /** The same, already encoded: it is sent at the end of the turn. */
  pushBytes(bytes: Uint8Array): void
  /** End when everything is sent that was answered until now. */
  end(): void
  /** End at once. */
  destroy(): void
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal
  /** As clients see it, such as 127.0.0.1:6379. */
  readonly address: string
  readonly localAddress: string
}

/** Commands that are kept until EXEC. */
export class Transaction {
  readonly requests: Request[] = []
  /** One of them was refused, so EXEC does nothing. */
  isBroken = false
}

const DEFAULT_USER = 'default'

/** What is known of a client, and what it has said that holds for the commands to come. */
export class DoorClient {
  readonly id: number
  readonly line: ClientLine
  readonly sinceMs: number = Date.now()
  name = ''
  libraryName = ''
  libraryVersion = ''
  protocol: ProtocolVersion = 2
  /** Number of the database. */
  db = 0
  user: string = DEFAULT_USER
  isAuthenticated = false
  /** In a cluster, it may be answered by a node that holds the key and does not lead. */
  isReadOnly = false
  transaction: Transaction | undefined
  /** How many channels and patterns it listens to. */
  subscriptions = 0
  readonly watched: Watched[] = []

  constructor(id: number, line: ClientLine) {
    this.id = id
    this.line = line
  }

  /** As a connection that is new. What it is subscribed to is not known here. */
  reset(isAuthenticated: boolean): void {
    this.name = ''
    this.protocol = 2
    this.db = 0
    this.user = DEFAULT_USER
    this.isAuthenticated = isAuthenticated
    this.isReadOnly = false
    this.transaction = undefined
    this.watched.length = 0
  }
}
