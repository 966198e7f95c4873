import { MeshChannel } from '../../cluster/index.ts'
import { DefectError } from '../../native/index.ts'
import type { CoherenceMessage, FrameReference, MessageKind } from '../coherence/index.ts'

/**
 * How a coherence message travels on the mesh, in host order (all ranks run on machines of one byte order):
 *
 * ```
 * byte   0   Uint8     channel
 *        1   Uint8     kind
 *        2   Uint16    epoch
 *        4   Int32     region
 *        8   Int32     page
 *       12   Int32     requester
 *       16   Int32     count
 *       20   Uint32    requester's key
 *       24   Uint32    home's key
 *       32   Float64   requester's address
 *       40   Float64   home's address       48 bytes in all
 * ```
 */
export const COHERENCE_MESSAGE_BYTES = 48
const EPOCH_MAX = 0xffff

/** A message with the region and the epoch that it is of. */
export interface CoherenceDelivery {
  readonly region: number
  readonly epoch: number
  readonly message: CoherenceMessage
}

export class CoherenceCodec {
  readonly #bytes = new Uint8Array(COHERENCE_MESSAGE_BYTES)
  readonly #shorts = new Uint16Array(this.#bytes.buffer)
  readonly #ints = new Int32Array(this.#bytes.buffer)
  readonly #keys = new Uint32Array(this.#bytes.buffer)
  readonly #floats = new Float64Array(this.#bytes.buffer)

  /** The message as bytes, valid until the next call. */
  encode(region: number, message: CoherenceMessage, epoch: number): Uint8Array {
    if (epoch > EPOCH_MAX) throw new DefectError(`epoch ${epoch} does not fit into a message`)
    this.#bytes[0] = MeshChannel.Coherence
    this.#bytes[1] = message.kind
    this.#shorts[1] = epoch
    this.#ints[1] = region
    this.#ints[2] = message.page
    this.#ints[3] = message.requester
    this.#ints[4] = message.count
    this.#keys[5] = message.requesterFrame.key
    this.#keys[6] = message.homeFrame.key
    this.#floats[4] = message.requesterFrame.address
    this.#floats[5] = message.homeFrame.address
    return this.#bytes
  }

  /** The inverse. Undefined where the length is not that of a coherence message. */
  decode(from: number, bytes: Uint8Array): CoherenceDelivery | undefined {
    if (bytes.length !== COHERENCE_MESSAGE_BYTES) return undefined
    this.#bytes.set(bytes)
    const message: CoherenceMessage = {
      kind: this.#bytes[1] as MessageKind,
      page: this.#ints[2]!,
      from,
      requester: this.#ints[3]!,
      count: this.#ints[4]!,
      requesterFrame: this.#frame(4, 5),
      homeFrame: this.#frame(5, 6),
    }
    return { region: this.#ints[1]!, epoch: this.#shorts[1]!, message }
  }

  #frame(address: number, key: number): FrameReference {
    return { address: this.#floats[address]!, key: this.#keys[key]! }
  }
}
