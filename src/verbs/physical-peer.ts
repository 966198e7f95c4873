import { checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { exact } from './field-checks.ts'
import type { OperationResult } from './operation.ts'
import type { PairConveniences } from './pair-conveniences.ts'
import type { Segments } from './prepared-request.ts'

export interface PhysicalFields {
  readonly local: Segments
  /** A physical address in the peer's memory. On shm: an offset in the memory that the peer opened its device with. */
  readonly physicalAddress: number
}

const names: OptionNames<PhysicalFields> = { local: true, physicalAddress: true }

/**
 * Access to the peer's physical memory through one queue pair. The key is that of a region the peer made with {@link
 * ProtectionDomain.registerPhysical}. Two methods post a signaled request, two also wait for it.
 */
export class PhysicalPeer {
  readonly pair: PairConveniences
  readonly key: number

  /** @internal Made by {@link QueuePair.physicalPeer}. */
  constructor(pair: PairConveniences, key: number) {
    this.pair = pair
    this.key = key
  }

  /** Post a WRITE; its completion carries `id`. */
  writeSignaled(id: number, fields: PhysicalFields): void {
    this.pair.prepareWrite({ ...this.#remote(fields), signaled: true }).post(id)
  }

  /** Post a READ; its completion carries `id`. */
  readSignaled(id: number, fields: PhysicalFields): void {
    this.pair.prepareRead({ ...this.#remote(fields), signaled: true }).post(id)
  }

  /** WRITE and poll until it is done. Throws CompletionError when it failed, TimeoutError after 10 s or `timeoutMs`. */
  writeSync(fields: PhysicalFields, options: { readonly timeoutMs?: number } = {}): OperationResult {
    return this.pair.writeSync(this.#remote(fields), options)
  }

  /** READ and poll until it is done. */
  readSync(fields: PhysicalFields, options: { readonly timeoutMs?: number } = {}): OperationResult {
    return this.pair.readSync(this.#remote(fields), options)
  }

  #remote(fields: PhysicalFields): { readonly local: Segments; readonly remote: { address: number; key: number } } {
    checkOptions('physicalPeer', fields, names, 'fields')
    if (typeof fields !== 'object' || fields === null)
      throw mustBe('fields', 'an object such as { local, physicalAddress }', fields)
    exact('physicalAddress', fields.physicalAddress)
    return { local: fields.local, remote: { address: fields.physicalAddress, key: this.key } }
  }
}
