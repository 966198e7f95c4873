import { AetherError, checkOptions, mustBe, type OptionNames } from '../../native/index.ts'
import { formatSize } from '../size.ts'
import type { AllocationOutcome, AllocationRecord, AllocationRequest } from './allocations.ts'

/** Options of `alloc`. */
export interface AllocOptions {
  /**
   * The offset is a multiple of it: a power of two, default 8. Give data that several ranks write pages of its own:
   * `align: region.pageSize`.
   */
  readonly align?: number
  /** All callers that ask for this name get the same part of the region; the first one makes it. */
  readonly name?: string
}

/** Memory of a region could not be allocated or freed; `code` says why. */
export class AllocationError extends AetherError {
  override readonly name = 'AllocationError'
  readonly region: string
  /** The longest free stretch in bytes, if it was too short. */
  readonly largestBytes: number | undefined

  constructor(
    code: 'ERR_AETHER_REGION_EXHAUSTED' | 'ERR_AETHER_NOT_ALLOCATED' | 'ERR_AETHER_ALLOCATION_MISMATCH',
    region: string,
    message: string,
    largestBytes?: number,
  ) {
    super(code, message)
    this.region = region
    this.largestBytes = largestBytes
  }
}

/** The keeper of a region's allocations. */
export interface Allocator {
  allocate(request: AllocationRequest): Promise<AllocationOutcome>
  free(id: number): Promise<AllocationOutcome>
}

/**
 * A part of a region that is reserved until it is freed by `free()`, or at the end of its `await using` block. It
 * outlives the process that asked for it, as the bytes of the region do.
 */
export class Allocation implements AsyncDisposable {
  readonly region: string
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly name: string | null
  /** Whether this call made it; false if a caller had asked for its name before. */
  readonly created: boolean
  readonly #id: number
  readonly #allocator: Allocator

  /** @internal Made by `region.alloc`. */
  constructor(region: string, record: AllocationRecord, created: boolean, allocator: Allocator) {
    this.region = region
    this.offsetBytes = record.offsetBytes
    this.lengthBytes = record.lengthBytes
    this.name = record.name
    this.created = created
    this.#id = record.id
    this.#allocator = allocator
  }

  /** Free it, for all processes. @throws AllocationError if it has been freed before, by any process. */
  async free(): Promise<void> {
    const outcome = await this.#allocator.free(this.#id)
    if (outcome.kind === 'freed') return
    const what = `the ${this.lengthBytes} bytes at offset ${this.offsetBytes} of region '${this.region}'`
    throw new AllocationError(
      'ERR_AETHER_NOT_ALLOCATED',
      this.region,
      `${what} have been freed before; free an allocation once`,
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.free()
  }
}

const NAME_BYTES_MAX = 128
const ALIGN_MAX = 2 ** 30

/** Ask `allocator` for a part of `region`. @throws AllocationError, ArgumentError */
export async function allocateFrom(
  allocator: Allocator,
  region: string,
  lengthBytes: number,
  options: AllocOptions,
): Promise<Allocation> {
  const request = checkRequest(lengthBytes, options)
  const outcome = await allocator.allocate(request)
  if (outcome.kind === 'allocated') return new Allocation(region, outcome.record, outcome.created, allocator)
  if (outcome.kind === 'other') {
    const { lengthBytes: present, offsetBytes } = outcome.record
    const message = `'${request.name}' of region '${region}' has ${present} bytes at offset ${offsetBytes}; requested were ${lengthBytes} bytes, aligned to ${request.alignBytes}; use another name or the same length`
    throw new AllocationError('ERR_AETHER_ALLOCATION_MISMATCH', region, message)
  }
  const largest = outcome.kind === 'exhausted' ? outcome.largestBytes : 0
  const message = `region '${region}' has no ${formatSize(lengthBytes)} left in one piece: the longest free stretch is ${formatSize(largest)}; free some, or use a larger region`
  throw new AllocationError('ERR_AETHER_REGION_EXHAUSTED', region, message, largest)
}

const names: OptionNames<AllocOptions> = { align: true, name: true }

function checkRequest(lengthBytes: number, options: AllocOptions): AllocationRequest {
  checkOptions('alloc', options, names)
  const { align = 8, name } = options
  if (!(Number.isSafeInteger(lengthBytes) && lengthBytes > 0))
    throw mustBe('lengthBytes', 'a whole number above 0', lengthBytes)
  if (!(Number.isSafeInteger(align) && align > 0 && align <= ALIGN_MAX && Number.isInteger(Math.log2(align))))
    throw mustBe('options.align', 'a power of two up to 2^30', align)
  const nameBytes = name === undefined ? 1 : typeof name === 'string' ? Buffer.byteLength(name) : 0
  if (nameBytes < 1 || nameBytes > NAME_BYTES_MAX)
    throw mustBe('options.name', `a string of 1 to ${NAME_BYTES_MAX} bytes`, name)
  return { lengthBytes, alignBytes: align, name: name ?? null }
}
