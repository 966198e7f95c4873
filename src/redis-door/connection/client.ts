import type { Watched } from '../../index-service/index.ts'
import type { DoorUser } from '../access/user.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { ProtocolVersion } from '../protocol/reply-writer.ts'
import type { Request } from '../protocol/request.ts'
import type { OutputClass } from '../settings/output-limits.ts'
import type { ClientTracking } from '../tracking/client-tracking.ts'

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
  /** It ends when everything is sent that was answered. */
  readonly isEnding: boolean
  /** Bytes that the client has not taken yet. */
  readonly unsentBytes: number
  /** Bytes of a request that is not complete. */
  readonly heldBytes: number
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal
  /** As clients see it, such as 127.0.0.1:6379. */
  readonly address: string
  readonly localAddress: string
}

/** What a request and an argument of it take besides their bytes. */
const REQUEST_BYTES = 64
const ARGUMENT_BYTES = 96

/** Commands that are kept until EXEC. */
export class Transaction {
  readonly requests: Request[] = []
  /** What they take, about. */
  bytes = 0
  /** One of them was refused, so EXEC does nothing. */
  isBroken = false

  add(request: Request): void {
    this.requests.push(request)
    this.bytes += REQUEST_BYTES
    for (const argument of request.args) this.bytes += ARGUMENT_BYTES + argument.length
  }
}

/** How commands are answered: `skip` leaves out the next reply. */
type ReplyMode = 'on' | 'off' | 'skip'

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
  user: DoorUser
  isAuthenticated = false
  /** In a cluster, it may be answered by a node that holds the key and does not lead. */
  isReadOnly = false
  transaction: Transaction | undefined
  /** How many channels and patterns it listens to. */
  subscriptions = 0
  readonly watched: Watched[] = []
  replyMode: ReplyMode = 'on'
  /** When something was received from it last. */
  lastMs: number = this.sinceMs
  lastCommand = ''
  /** Ends the call with which it waits. The reason is a reply. */
  blocked: AbortController | undefined
  isMonitor = false
  /** It keeps what it has read; undefined: it does not. */
  tracking: ClientTracking | undefined
  /** It has said so. There is nothing for which it would be ended. */
  isNotEvicted = false
  /** Since when it takes too little of what it is sent. */
  slowSinceMs: number | undefined

  constructor(id: number, line: ClientLine, user: DoorUser) {
    this.id = id
    this.user = user
    this.line = line
  }

  get outputClass(): OutputClass {
    return this.subscriptions > 0 ? 'pubsub' : 'normal'
  }

  /** As a connection that is new. What it is subscribed to, and tracks, is not known here. */
  reset(user: DoorUser, isAuthenticated: boolean): void {
    this.name = ''
    this.protocol = 2
    this.db = 0
    this.user = user
    this.isAuthenticated = isAuthenticated
    this.isReadOnly = false
    this.transaction = undefined
    this.watched.length = 0
    this.replyMode = 'on'
    this.isMonitor = false
    this.isNotEvicted = false
  }
}
