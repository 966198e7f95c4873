import { ATTRIBUTE_WORDS, AttributeWord, VectorWord } from '../../native/index.ts'
import type { AddressVector } from '../address.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { type AttributeName, attributeNames, type QueuePairState } from '../queue-pair-state.ts'
import { attributeMask } from '../soft/queue-pair-attributes.ts'
import type { IbverbsPort } from './port.ts'

type NumberAttribute = Exclude<AttributeName, 'addressVector' | 'alternatePath' | 'sqdNotify'>

/** RoCE packets are routed: this is the internet's usual default. */
const DEFAULT_HOP_LIMIT = 64
const DEFAULT_ALTERNATE_TIMEOUT = 14

/** Attributes of queue pairs as words for the addon, and the reverse. */
export class AttributeWords {
  readonly words: Float64Array = new Float64Array(ATTRIBUTE_WORDS)
  readonly #port: IbverbsPort

  constructor(port: IbverbsPort) {
    this.#port = port
  }

  /** Write `attributes`, and return the mask of those present. EINVAL for a name that is not an attribute. */
  encode(attributes: QueuePairAttributes): number {
    const mask = attributeMask(attributes)
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined) continue
      if (typeof value === 'object') this.#encodePath(name, value as AddressVector, attributes)
      else this.words[AttributeWord[name as NumberAttribute]] = Number(value)
    }
    return mask
  }

  /** The attributes of `mask`, read from the words. */
  decode(mask: number): QueuePairAttributes {
    return decodeAttributes(this.words, mask)
  }

  get state(): QueuePairState {
    return this.words[AttributeWord.state] as QueuePairState
  }

  /** After a query: true in SQD if the send queue has not drained yet. */
  get isDraining(): boolean {
    return this.words[AttributeWord.sendQueueDraining] === 1
  }

  #encodePath(name: string, vector: AddressVector, attributes: QueuePairAttributes): void {
    const { words } = this
    if (name === 'alternatePath') {
      words[AttributeWord.alternatePort] = attributes.port ?? this.#port.number
      words[AttributeWord.alternateTimeout] = attributes.timeout ?? DEFAULT_ALTERNATE_TIMEOUT
      words[AttributeWord.alternatePartitionKeyIndex] = attributes.partitionKeyIndex ?? 0
    }
    const at = name === 'alternatePath' ? AttributeWord.alternatePath : AttributeWord.addressVector
    encodeVector(words, at, vector, this.#port, attributes.port ?? this.#port.number)
  }
}

/**
 * Write an address vector from word `at` on. On Ethernet the address is the gid, on InfiniBand the local identifier.
 * InfiniBand adds the gid (a global route header) if there is no local identifier or the peer is on another subnet.
 */
export function encodeVector(
  words: Float64Array,
  at: number,
  vector: AddressVector,
  port: IbverbsPort,
  portNumber: number,
): void {
  const localIdentifier = vector.localIdentifier ?? 0
  putGid(words, at, vector.gid)
  words[at + VectorWord.localIdentifier] = localIdentifier
  words[at + VectorWord.sourceGidIndex] = vector.sourceGidIndex ?? port.gidIndex
  words[at + VectorWord.hopLimit] = vector.hopLimit ?? DEFAULT_HOP_LIMIT
  words[at + VectorWord.serviceLevel] = vector.serviceLevel ?? 0
  words[at + VectorWord.isGlobal] = (vector.global ?? port.needsGlobalRoute(vector.gid, localIdentifier)) ? 1 : 0
  words[at + VectorWord.flowLabel] = vector.flowLabel ?? 0
  words[at + VectorWord.trafficClass] = vector.trafficClass ?? 0
  words[at + VectorWord.port] = vector.port ?? portNumber
  words[at + VectorWord.sourcePathBits] = vector.sourcePathBits ?? 0
  words[at + VectorWord.staticRate] = vector.staticRate ?? 0
}

export function putGid(words: Float64Array, at: number, gid: Gid): void {
  if (typeof gid !== 'bigint' || gid < 0n || gid >> 128n !== 0n)
    throw new VerbsError('ibv_modify_qp', Errno.EINVAL, `a gid is a bigint of 128 bits, not ${String(gid)}`)
  for (let word = 0; word < 4; word += 1) words[at + word] = Number((gid >> BigInt(96 - 32 * word)) & 0xffffffffn)
}

function takeGid(words: Float64Array, at: number): Gid {
  let gid = 0n
  for (let word = 0; word < 4; word += 1) gid = (gid << 32n) | BigInt(words[at + word]!)
  return gid
}

/** The attributes of `mask`, read from the addon's words. */
export function decodeAttributes(words: Float64Array, mask: number): QueuePairAttributes {
  const attributes: Record<string, unknown> = {}
  for (const name of attributeNames(mask)) {
    if (name === 'addressVector' || name === 'alternatePath')
      attributes[name] = decodeAddressVector(words, AttributeWord[name])
    else if (name === 'sqdNotify') attributes[name] = words[AttributeWord.sqdNotify] === 1
    else attributes[name] = words[AttributeWord[name]]
  }
  return attributes as QueuePairAttributes
}

/** The address vector whose words start at `at`. */
export function decodeAddressVector(words: Float64Array, at: number): AddressVector {
  return {
    gid: takeGid(words, at + VectorWord.gid),
    global: words[at + VectorWord.isGlobal] === 1,
    localIdentifier: words[at + VectorWord.localIdentifier]!,
    sourceGidIndex: words[at + VectorWord.sourceGidIndex]!,
    hopLimit: words[at + VectorWord.hopLimit]!,
    serviceLevel: words[at + VectorWord.serviceLevel]!,
    flowLabel: words[at + VectorWord.flowLabel]!,
    trafficClass: words[at + VectorWord.trafficClass]!,
    sourcePathBits: words[at + VectorWord.sourcePathBits]!,
    staticRate: words[at + VectorWord.staticRate]!,
    port: words[at + VectorWord.port]!,
  }
}
