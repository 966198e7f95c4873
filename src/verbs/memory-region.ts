import { ArgumentError, checkOptions, type OptionNames, shown } from '../native/index.ts'
import type {
  AllocateOptions,
  BufferOrigin,
  ProviderMemoryRegion,
  ProviderProtectionDomain,
} from '../providers/index.ts'
import { checkOrigin, checkRights } from './field-checks.ts'
import { type Children, Closable, checkNoun } from './lifetime.ts'
import type { OpenedDevice } from './opened-device.ts'
import { bytesOf, type Registrable } from './registrable.ts'

/** A protection domain, as its memory knows it. */
export interface MemoryDomain extends Closable {
  readonly device: OpenedDevice
  /** @internal */
  readonly provider: ProviderProtectionDomain
  /** @internal */
  readonly memories: Children<MemoryRegion>
  allocate(lengthBytes: number, access: number, options?: AllocateOptions): MemoryRegion
  register(buffer: Registrable, access: number, origin?: BufferOrigin): MemoryRegion
}

/** What a peer needs to reach this memory. Send it over any channel. */
export interface RegionToken {
  readonly address: number
  readonly length: number
  readonly key: number
}

/** A segment of a request by numbers. `bytes` is needed if the request is inline. */
export interface Segment {
  readonly address: number
  readonly length: number
  readonly key: number
  readonly bytes?: Uint8Array
}

/** What {@link MemoryRegion.reregister} changes. Fields left out stay as they are. */
export interface Reregistration {
  readonly access?: number
  readonly domain?: MemoryDomain
  /** The memory that the region covers from now on. Memory that `allocate` took is freed. */
  readonly buffer?: Registrable
  /** The origin of `buffer`, as for {@link ProtectionDomain.register}. */
  readonly origin?: BufferOrigin
}

const changeNames: OptionNames<Reregistration> = { access: true, domain: true, buffer: true, origin: true }

/** Registered memory: ibv_reg_mr(3). */
export class MemoryRegion extends Closable {
  readonly label = 'memory region'
  /** @internal */
  readonly provider: ProviderMemoryRegion
  #domain: MemoryDomain
  readonly #registeredBytes: number

  /** @internal Made by {@link ProtectionDomain}. */
  constructor(domain: MemoryDomain, provider: ProviderMemoryRegion) {
    super()
    this.#domain = domain
    this.provider = provider
    this.#registeredBytes = provider.length
    this.#count(1)
  }

  get domain(): MemoryDomain {
    return this.#domain
  }

  /** The address of the first byte in requests; 0 if the region is zero-based. */
  get address(): number {
    return this.provider.address
  }

  get length(): number {
    return this.provider.length
  }

  get localKey(): number {
    return this.provider.localKey
  }

  /** The key for peers; 0 if no remote right was given. */
  get remoteKey(): number {
    return this.provider.remoteKey
  }

  get access(): number {
    return this.provider.access
  }

  /**
   * The bytes themselves. Peers may write into them at any time: read words that you wait for with Atomics, and copy
   * bytes before decoding text. Empty if the program cannot touch the memory: on a device, for a whole address space,
   * and physical memory of a real device. After `close()`, the array of allocated memory is private memory that no peer
   * reaches.
   */
  get bytes(): Uint8Array {
    this.assertOpen()
    return this.provider.bytes
  }

  /** @internal Where processes of this machine find the same memory; undefined on devices that do not share it. */
  get origin(): BufferOrigin | undefined {
    this.assertOpen()
    return this.provider.origin
  }

  get token(): RegionToken {
    return { address: this.address, length: this.length, key: this.remoteKey }
  }

  /**
   * Return a part of the region as a segment of a request, like TypedArray.subarray. Throws ArgumentError if out of
   * range.
   */
  subarray(begin = 0, end: number = this.length): MemorySlice {
    this.assertOpen()
    return new MemorySlice(this, begin, end)
  }

  /**
   * Change rights, protection domain or the memory itself: ibv_rereg_mr(3). Keys and address may change; requests and
   * peers that hold the old keys then reach nothing. Throws VerbsError EINVAL for rights that do not go together, EBUSY
   * while a memory window is bound to the region; then nothing has changed.
   */
  reregister(changes: Reregistration): void {
    this.assertOpen()
    checkOptions('reregister', changes, changeNames, 'changes')
    const { access, domain, buffer, origin } = changes ?? {}
    checkRights('changes.access', access)
    if (domain !== undefined)
      checkNoun('changes.domain', domain, 'protection domain', 'device.createProtectionDomain() makes')
    checkOrigin('reregister', 'changes.origin', origin)
    domain?.assertOpen()
    if (origin !== undefined && buffer === undefined)
      throw new ArgumentError('origin', 'changes.origin says where a buffer lies; pass changes.buffer, too')
    this.provider.reregister({
      ...(access === undefined ? {} : { access }),
      ...(domain === undefined ? {} : { domain: domain.provider }),
      ...(buffer === undefined ? {} : { buffer: bytesOf(buffer) }),
      ...(origin === undefined ? {} : { origin }),
    })
    if (domain === undefined || domain === this.#domain) return
    this.#domain.memories.remove(this)
    this.#domain = domain
    domain.memories.add(this)
  }

  protected release(): void {
    this.provider.destroy()
    this.#count(-1)
    this.#domain.memories.remove(this)
  }

  #count(by: 1 | -1): void {
    const { meter } = this.#domain.device
    meter?.change('memoryRegions', by)
    meter?.change('bytesRegistered', by * this.#registeredBytes)
  }
}

/** A part of a memory region, usable as a segment of a request. */
export class MemorySlice implements Segment {
  readonly memory: MemoryRegion
  readonly offset: number
  readonly length: number

  /** @internal Made by {@link MemoryRegion.subarray}. */
  constructor(memory: MemoryRegion, begin: number, end: number) {
    if (!Number.isSafeInteger(begin) || !Number.isSafeInteger(end) || begin < 0 || end < begin || end > memory.length) {
      throw new ArgumentError(
        'begin, end',
        `begin and end must be a range within the region's ${memory.length} bytes, not ${shown(begin)} and ${shown(end)}`,
      )
    }
    this.memory = memory
    this.offset = begin
    this.length = end - begin
  }

  get address(): number {
    return this.memory.address + this.offset
  }

  get key(): number {
    return this.memory.localKey
  }

  /** The remote target for a peer that reads or writes this part. */
  get token(): RegionToken {
    return { address: this.address, length: this.length, key: this.memory.remoteKey }
  }

  get bytes(): Uint8Array {
    return this.memory.bytes.subarray(this.offset, this.offset + this.length)
  }
}
