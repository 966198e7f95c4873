import { Buffer } from 'node:buffer'
import { bytesOf, type IndexNode, latin1Of } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import { type ProtocolVersion, ReplyWriter } from '../protocol/reply-writer.ts'
import { NodeCounts } from './node-counts.ts'
import { Subscriptions } from './subscriptions.ts'

/** In front of a message between nodes: whether it is for the channels of SSUBSCRIBE, and the channel's length. */
const HEAD_BYTES = 5

/**
 * Takes messages to those who listen: to clients of this door, and by the node to the doors of others. As in Redis,
 * a message comes once at most; those of one publisher come in order.
 */
export class Publisher {
  readonly subscriptions: Subscriptions = new Subscriptions()
  readonly counts: NodeCounts
  readonly #node: IndexNode
  readonly #writer = new ReplyWriter()

  /** `stop` is called when the door closes. */
  readonly stop: () => void

  constructor(node: IndexNode) {
    this.#node = node
    this.counts = new NodeCounts(node, this.subscriptions)
    const stopHearing = node.onTold((message) => this.#hear(message))
    this.stop = () => {
      stopHearing()
      this.counts.stop()
    }
  }

  /** How many clients of this door it comes to. Those of other nodes are not counted, as in a Redis Cluster. */
  publish(channel: Uint8Array, message: Uint8Array, isSharded: boolean): number {
    // A door alone has no one to tell.
    if (this.#node.nodes.length > 1) this.#node.tellNodes(packed(channel, message, isSharded))
    return this.deliver(channel, message, isSharded)
  }

  /** How many clients of this door a message would come to. */
  count(channel: Uint8Array, isSharded: boolean): number {
    const { subscriptions } = this
    const name = latin1Of(channel)
    let count = subscriptions.of(isSharded ? 'shardChannels' : 'channels', name)?.size ?? 0
    if (!isSharded) for (const [, clients] of subscriptions.patternsFor(name)) count += clients.size
    return count
  }

  /** To clients of this door alone. */
  deliver(channel: Uint8Array, message: Uint8Array, isSharded: boolean = false): number {
    const { subscriptions } = this
    if (subscriptions.isEmpty) return 0
    const name = latin1Of(channel)
    if (isSharded) return this.#send(subscriptions.of('shardChannels', name), [SMESSAGE, channel, message])
    let count = this.#send(subscriptions.of('channels', name), [MESSAGE, channel, message])
    for (const [pattern, clients] of subscriptions.patternsFor(name))
      count += this.#send(clients, [PMESSAGE, bytesOf(pattern), channel, message])
    return count
  }

  /** Encoded once in each version that one of them speaks. */
  #send(clients: ReadonlySet<DoorClient> | undefined, push: readonly Uint8Array[]): number {
    if (clients === undefined) return 0
    const encoded: Partial<Record<ProtocolVersion, Uint8Array>> = {}
    for (const client of clients) {
      encoded[client.protocol] ??= this.#encode(push, client.protocol)
      client.line.pushBytes(encoded[client.protocol]!)
    }
    return clients.size
  }

  #encode(push: readonly Uint8Array[], version: ProtocolVersion): Uint8Array {
    this.#writer.write({ push }, version)
    return this.#writer.take()
  }

  #hear(packedMessage: Uint8Array): void {
    // What begins otherwise is of `NodeCounts`.
    if (this.subscriptions.isEmpty || packedMessage[0]! > 1) return
    const view = Buffer.from(packedMessage.buffer, packedMessage.byteOffset, packedMessage.byteLength)
    const channelEnd = HEAD_BYTES + view.readUInt32LE(1)
    this.deliver(view.subarray(HEAD_BYTES, channelEnd), view.subarray(channelEnd), view[0] === 1)
  }
}

const [MESSAGE, PMESSAGE, SMESSAGE] = [bytesOf('message'), bytesOf('pmessage'), bytesOf('smessage')]

function packed(channel: Uint8Array, message: Uint8Array, isSharded: boolean): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = Number(isSharded)
  head.writeUInt32LE(channel.length, 1)
  return Buffer.concat([head, channel, message])
}
