import {
  Access,
  type CompletionChannel,
  type CompletionQueue,
  type MemoryRegion,
  type PreparedReceive,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairOptions,
} from '../verbs/index.ts'
import { encodeHello } from './hello.ts'
import type { LinkSettings } from './link-options.ts'

/** Two counts that the peer writes: units that it took of what was sent, and receives that it posted again. */
export const CREDIT_BYTES = 8
/** Receives for one `want`, one `wake` and one `close`, and one to spare. */
const CONTROL_RECEIVES = 4
/** What is sent inline at most: beyond a few cache lines a device is no slower when it fetches the bytes itself. */
const INLINE_BYTES_MAX = 192

export interface LinkHost {
  readonly domain: ProtectionDomain
  readonly channel: CompletionChannel
}

/** What one end has ready before it knows its peer: its ring, its queue, its receives. */
export class LinkEnd {
  readonly domain: ProtectionDomain
  readonly queue: CompletionQueue
  readonly memory: MemoryRegion
  readonly settings: LinkSettings
  readonly #inlineBytes: number

  constructor(host: LinkHost, settings: LinkSettings) {
    this.domain = host.domain
    this.settings = settings
    const { device } = host.domain
    // Devices in software copy the bytes either way.
    this.#inlineBytes =
      device.attributes.provider === 'ibverbs' ? Math.min(INLINE_BYTES_MAX, device.attributes.maxInlineBytes) : 0
    const depth = settings.sends + settings.receives + CONTROL_RECEIVES
    this.queue = device.createCompletionQueue({ depth, channel: host.channel })
    try {
      this.memory = host.domain.allocate(settings.ringBytes + CREDIT_BYTES, Access.LocalWrite | Access.RemoteWrite)
    } catch (error) {
      this.queue.close()
      throw error
    }
  }

  /** What the peer needs to know. */
  get hello(): Uint8Array {
    const { memory, settings } = this
    return encodeHello({
      address: memory.address,
      key: memory.remoteKey,
      ringBytes: settings.ringBytes,
      receives: settings.receives,
    })
  }

  get pairOptions(): Required<
    Pick<QueuePairOptions, 'sendQueue' | 'receiveQueue' | 'maxSendRequests' | 'maxReceiveRequests' | 'maxInlineBytes'>
  > {
    const { queue, settings } = this
    return {
      sendQueue: queue,
      receiveQueue: queue,
      maxSendRequests: settings.sends,
      maxReceiveRequests: settings.receives + CONTROL_RECEIVES,
      maxInlineBytes: this.#inlineBytes,
    }
  }

  /** Post all receives: the queue pair is in INIT, and the peer cannot send yet. */
  prepare(pair: QueuePair): void {
    const receive = emptyReceive(pair)
    pair.postReceiveList(new Array<PreparedReceive>(this.settings.receives + CONTROL_RECEIVES).fill(receive))
  }

  /** The queue pair has gone before. */
  close(): void {
    this.queue.close()
    this.memory.close()
  }
}

/** A receive for a WRITE with an immediate, whose bytes lie elsewhere. */
export function emptyReceive(pair: QueuePair): PreparedReceive {
  const receive = pair.prepareReceive({ local: [] })
  receive.id = 0
  return receive
}
