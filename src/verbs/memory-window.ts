import { ArgumentError, mustBe, shown } from '../native/index.ts'
import {
  Access,
  type EncodedRequest,
  type MemoryWindowType,
  Opcode,
  type ProviderMemoryWindow,
  RequestSlot,
} from '../providers/index.ts'
import { checkRights, exact } from './field-checks.ts'
import { type Children, Closable, checkNoun } from './lifetime.ts'
import type { MemoryDomain, MemoryRegion, RegionToken } from './memory-region.ts'
import { PreparedRequest, type SendTarget } from './prepared-request.ts'

/** What a window gives access to. */
export interface BindFields {
  readonly window: MemoryWindow
  /** A region registered with MemoryWindowBind. Leave it out to bind a window of type 1 to nothing. */
  readonly memory?: MemoryRegion
  /** In bytes, from the start of the region; default 0. */
  readonly offset?: number
  /** In bytes. Default: to the end of the region; 0 without a region. */
  readonly length?: number
  /**
   * RemoteRead, RemoteWrite and RemoteAtomic, which the region itself need not have; with type 2 also ZeroBased.
   * Default: none.
   */
  readonly access?: number
  /**
   * Type 2: the low eight bits of the new key, 0 to 255. Default: those of the last key plus one, as with
   * ibv_inc_rkey(3).
   */
  readonly keyTag?: number
  readonly signaled?: boolean
  readonly fence?: boolean
}

/** A protection domain, as its memory windows know it. */
export interface WindowDomain extends MemoryDomain {
  /** @internal */
  readonly windows: Children<MemoryWindow>
  createMemoryWindow(type: MemoryWindowType): MemoryWindow
}

/**
 * A part of a region under its own key: ibv_alloc_mw(3). Work requests grant and revoke the key, without the cost of
 * registering. Type 1 works through every queue pair of the domain, type 2 only through the queue pair that bound it.
 */
export class MemoryWindow extends Closable {
  readonly label = 'memory window'
  readonly domain: WindowDomain
  readonly type: MemoryWindowType
  /** @internal */
  readonly provider: ProviderMemoryWindow

  /** @internal Made by {@link ProtectionDomain.createMemoryWindow}. */
  constructor(domain: WindowDomain, provider: ProviderMemoryWindow) {
    super()
    this.domain = domain
    this.provider = provider
    this.type = provider.type
  }

  /**
   * The key of the last bind that was posted. A message on the queue pair that binds may carry it at once. Send it over
   * another channel only after the bind has completed.
   */
  get remoteKey(): number {
    return this.provider.remoteKey
  }

  /**
   * Type 1: post a bind to `pair` with `id` (ibv_bind_mw(3)) and return the new key. A bind of length 0 revokes access.
   */
  bind(pair: BindingPair, id: number, fields: Omit<BindFields, 'window' | 'keyTag'>): number {
    this.assertOpen()
    if (this.type !== 1)
      throw new ArgumentError('window', 'a memory window of type 2 is bound by a work request; use pair.prepareBind')
    checkNoun('pair', pair, 'queue pair', 'domain.createQueuePair() makes')
    if (typeof fields !== 'object' || fields === null)
      throw mustBe('fields', 'an object such as { memory, access }', fields)
    pair.prepareBind({ ...fields, window: this }).post(id)
    return this.remoteKey
  }

  protected release(): void {
    this.provider.destroy()
    this.domain.windows.remove(this)
  }
}

/** A queue pair through which windows are bound. */
interface BindingPair {
  prepareBind(fields: BindFields): PreparedBind
}

/** A bind that can be posted repeatedly. With type 2, invalidate the window before each further post. */
export class PreparedBind extends PreparedRequest {
  readonly window: MemoryWindow
  readonly #range: { readonly address: number; readonly length: number }
  readonly #tag: number | undefined

  /** @internal Made by {@link QueuePair.prepareBind}. */
  constructor(pair: SendTarget, fields: BindFields) {
    checkNoun('window', fields.window, 'memory window', 'domain.createMemoryWindow() makes')
    if (fields.memory !== undefined) checkNoun('memory', fields.memory, 'memory region', 'domain.allocate() returns')
    checkRights('access', fields.access)
    const { window, memory, access = 0, keyTag, signaled = true, fence = false } = fields
    super(pair, Opcode.BindMemoryWindow, { local: [], signaled, fence })
    window.assertOpen()
    memory?.assertOpen()
    if (keyTag !== undefined && !(window.type === 2 && Number.isInteger(keyTag) && keyTag >= 0 && keyTag <= 255))
      throw new ArgumentError('keyTag', 'keyTag must be an integer from 0 to 255, the low byte of a key of type 2')
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

  /** The token to send to the peer, once the bind is posted. */
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
  exact('offset', offset)
  const length = fields.length ?? (memory === undefined ? 0 : memory.length - offset)
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0)
    throw new ArgumentError(
      'offset, length',
      `offset and length must be integers of at least 0, not ${shown(offset)} and ${shown(length)}`,
    )
  if (memory === undefined && offset + length > 0)
    throw new ArgumentError('memory', 'memory is missing: pass a region; only a bind of length 0 may leave it out')
  return { offset, length }
}

/** @internal LOCAL_INV or SEND_WITH_INV: which key. */
export function encodeInvalidate(encoded: EncodedRequest, key: number): void {
  if (!Number.isInteger(key) || key < 0 || key > 0xffffffff) throw mustBe('key', 'an integer of 32 bits', key)
  encoded.words[RequestSlot.Immediate] = key
}
