import {
  Access,
  type CompletionChannel,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairOptions,
} from '../verbs/index.ts'
import { CREDIT_BYTES } from './credit-words.ts'
import { encodeHello, type Hello } from './hello.ts'
import type { LinkSettings } from './link-options.ts'
import { type LinkReceives, OwnReceives } from './link-receives.ts'

/** What is sent inline at most: beyond a few cache lines a device is no slower when it fetches the bytes itself. */
const INLINE_BYTES_MAX = 192

export interface LinkHost {
  readonly domain: ProtectionDomain
  readonly channel: CompletionChannel
}

/** What one end prepares before it knows its peer: its ring, its queue, its receives. */
export class LinkEnd {
  readonly domain: ProtectionDomain
  readonly memory: MemoryRegion
  readonly settings: LinkSettings
  readonly receives: LinkReceives
  readonly #inlineBytes: number

  /** `receives`: its place among those of a shared queue; default: receives of its own. */
  constructor(host: LinkHost, settings: LinkSettings, receives?: LinkReceives) {
    this.domain = host.domain
    this.settings = settings
    const { device } = host.domain
    // Devices in software copy the bytes either way.
    this.#inlineBytes =
      device.attributes.provider === 'ibverbs' ? Math.min(INLINE_BYTES_MAX, device.attributes.maxInlineBytes) : 0
    this.receives = receives ?? new OwnReceives(device, host.channel, settings.sends, settings.receives)
    try {
      this.memory = host.domain.allocate(settings.ringBytes + CREDIT_BYTES, Access.LocalWrite | Access.RemoteWrite)
    } catch (error) {
      this.receives.close()
      throw error
    }
  }

  /** What the peer needs to know. */
  get hello(): Uint8Array {
    const { memory, settings, receives } = this
    return encodeHello({
      address: memory.address,
      key: memory.remoteKey,
      ringBytes: settings.ringBytes,
      mirrorBytesMax: settings.peerRingBytesMax,
      receives: receives.initial,
      receivesMax: receives.most,
    })
  }

  /** Bytes of this end's ring that are used, since the peer keeps a mirror of them. */
  incomingBytes(peer: Hello): number {
    return Math.min(this.settings.ringBytes, peer.mirrorBytesMax)
  }

  /** Bytes of the peer's ring that are used. */
  outgoingBytes(peer: Hello): number {
    return Math.min(peer.ringBytes, this.settings.peerRingBytesMax)
  }

  get pairOptions(): Omit<QueuePairOptions, 'type'> & { readonly maxInlineBytes: number } {
    return {
      ...this.receives.pairOptions,
      maxSendRequests: this.settings.sends,
      maxInlineBytes: this.#inlineBytes,
    }
  }

  /** Post all receives: the queue pair is in INIT, and the peer cannot send yet. */
  prepare(pair: QueuePair): void {
    this.receives.prepare(pair)
  }

  /** Call it after the queue pair is closed. */
  close(): void {
    this.receives.close()
    this.memory.close()
  }
}
