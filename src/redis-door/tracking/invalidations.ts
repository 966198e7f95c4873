import { bytesOf } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { Clients } from '../connection/clients.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { ReplyWriter } from '../protocol/reply-writer.ts'
import type { Invalidated } from './client-tracking.ts'

const INVALIDATE = bytesOf('invalidate')
const REDIRECT_BROKEN = bytesOf('tracking-redir-broken')
const [MESSAGE, CHANNEL] = [bytesOf('message'), bytesOf('__redis__:invalidate')]

/** Tells clients, or those to which they have redirected it, that keys have changed. */
export class Invalidations {
  readonly #clients: Clients
  readonly #writer = new ReplyWriter()

  constructor(clients: Clients) {
    this.#clients = clients
  }

  /** Of a client that tracks. */
  send(client: DoorClient, keys: Invalidated): void {
    const tracking = client.tracking!
    const { redirect } = tracking.options
    const names = keys === undefined ? null : keys.map(bytesOf)
    if (redirect === 0) {
      if (client.protocol === 3) this.#push(client, [INVALIDATE, names])
      return
    }
    const target = this.#clients.get(redirect)
    if (target === undefined || target.line.isEnding) {
      tracking.isRedirectBroken = true
      if (client.protocol === 3) this.#push(client, [REDIRECT_BROKEN, redirect])
    } else if (target.protocol === 3) this.#push(target, [INVALIDATE, names])
    // A client of RESP2 that listens to nothing would take it for an answer.
    else if (target.subscriptions > 0) this.#push(target, [MESSAGE, CHANNEL, names])
  }

  #push({ line, protocol }: DoorClient, push: readonly DoorReply[]): void {
    this.#writer.write({ push }, protocol)
    line.pushBytes(this.#writer.take())
  }
}
