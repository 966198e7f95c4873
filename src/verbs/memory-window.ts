import { ArgumentError } from '../native/index.ts'
import {
  Access,
  type EncodedRequest,
  type MemoryWindowType,
  Opcode,
  type ProviderMemoryWindow,
  RequestSlot,
} from '../providers/index.ts'
import { Closable } from './lifetime.ts'
import type { MemoryRegion, RegionToken } from './memory-region.ts'
import { PreparedRequest } from './prepared-request.ts'
import type { ProtectionDomain } from './protection-domain.ts'
import type { QueuePair } from './queue-pair.ts'

/** What a window shall show. */
export interface BindFields {
  readonly window: MemoryWindow
  /** Registered with MemoryWindowBind. Left out to bind a window of type 1 to nothing. */
  readonly memory?: MemoryRegion
  /** In bytes, from the start of the region; default 0. */
  readonly offset?: number
  /** Default: to the end of the region; 0 without a region. */
  readonly length?: number
  /**
   * Of RemoteRead, RemoteWrite and RemoteAtomic, which the region itself need not have given; with type 2 also
   * ZeroBased. Default none.
   */
  readonly access?: number
  /**
   * Type 2: the low eight bits of the new key, 0 to 255. Default: those of the last key plus one, as ibv_inc_rkey(3)
   * does.
   */
  readonly keyTag?: number
  readonly signaled?: boolean
  readonly fence?: boolean
}

/**
 * A part of a region under a key of its own, which is given and taken back by work requests, without the cost of
 * registering: ibv_alloc_mw(3). Type 1 may be used through every queue pair of the domain, type 2 only through the one
 * that bound it.
 */
export class MemoryWindow extends Closable {
  readonly label = 'memory window'
  readonly domain: ProtectionDomain
  readonly type: MemoryWindowType
  /** @internal */
  readonly provider: ProviderMemoryWindow

  /** @internal Made by {@link ProtectionDomain.createMemoryWindow}. */
  constructor(domain: ProtectionDomain, provider: ProviderMemoryWindow) {
    super()
    this.domain = domain
    this.provider = provider
    this.type = provider.type
  }

  /**
   * The key of the last bind that was posted. A message on the pair that binds may carry it at once; tell it by other
   * ways only after the bind's completion.
   */
  get remoteKey(): number {
    return this.provider.remoteKey
  }

  /**
   * Type 1: post a bind to `pair` with `id` (ibv_bind_mw(3)); returns the new key. A bind of length 0 takes the window
   * back.
   */
  bind(pair: QueuePair, id: number, fields: Omit<BindFields, 'window' | 'keyTag'>): number {
    this.assertOpen()
    if (this.type !== 1)
      throw new ArgumentError('window', 'a window of type 2 is bound by a work request: use pair.prepareBind')
    pair.prepareBind({ ...fields, window: this }).post(id)
    return this.remoteKey
  }

  protected release(): void {
    this.provider.destroy()
    this.domain.windows.remove(this)
  }
}

/** A bind, ready to be posted again and again: with type 2 invalidate the window in between. */
export class PreparedBind extends PreparedRequest {
  readonly window: MemoryWindow
  readonly #range: { readonly address: number; readonly length: number }
  readonly #tag: number | undefined

  /** @internal Made by {@link QueuePair.prepareBind}. */
  constructor(pair: QueuePair, fields: BindFields) {
    const { window, memory, access = 0, keyTag, signaled = true, fence = false } = fields
    super(pair, Opcode.BindMemoryWindow, { local: [], signaled, fence })
    window.assertOpen()
    memory?.assertOpen()
    if (keyTag !== undefined && !(window.type === 2 && Number.isInteger(keyTag) && keyTag >= 0 && keyTag <= 255))
      throw new ArgumentError('keyTag', 'is the low byte of a key of type 2, from 0 to 255')
    const { offset, length } = rangeOf(fields)
    const start = memory === undefined ? 0 : memory.address + offset
    this.window = window
    this.#tag = keyTag
    this.#range = { address: (access & Access.ZeroBased) === 0 ? start : 0, length }
    const { words } = this.encoded
    words[RequestSlot.RemoteAddress] = start
    words[RequestSlot.Window] = window.provider.token
    words[RequestSlot.Memory] = memory === undefined ? 0 : memory.provider.token
    words[RequestSlot.Length] = length
    words[RequestSlot.Access] = access
  }

  /** What the peer needs, once it is posted. */
  get token(): RegionToken {
    return { ...this.#range, key: this.window.remoteKey }
  }

  /** @internal */
  override submit(): void {
    this.window.assertOpen()
    const { provider, type } = this.window
    if (type === 1) {
      this.pair.postBy(this.encoded, (pair) => provider.bind(pair, this.encoded))
      return
    }
    const last = provider.remoteKey
    this.encoded.words[RequestSlot.RemoteKey] = ((last & 0xffffff00) | (this.#tag ?? (last + 1) & 0xff)) >>> 0
    super.submit()
  }
}

function rangeOf(fields: BindFields): { readonly offset: number; readonly length: number } {
  const { memory, offset = 0 } = fields
  const length = fields.length ?? (memory === undefined ? 0 : memory.length - offset)
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0)
    throw new ArgumentError('offset, length', `must be exact and not negative, not ${offset} and ${length}`)
  if (memory === undefined && offset + length > 0)
    throw new ArgumentError('memory', 'is missing: only a bind of length 0 goes without')
  return { offset, length }
}

/** @internal LOCAL_INV or SEND_WITH_INV: which key. */
export function encodeInvalidate(encoded: EncodedRequest, key: number): void {
  if (!Number.isInteger(key) || key < 0 || key > 0xffffffff)
    throw new ArgumentError('key', `a key has 32 bits, not ${key}`)
  encoded.words[RequestSlot.Immediate] = key
}
