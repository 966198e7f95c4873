/**
 * What the two ends of the embedded rendezvous tell each other: the messages of the InfiniBand communication manager
 * (IBA specification volume 1, 12.6), in a layout of our own. Both ends are processes of one user and one machine, so
 * numbers are in host order.
 *
 * ```
 *  0 u32 magic    4 u8 version   5 u8 kind      6 u8 port space   7 u8 bytes of private data
 *  8 u8 responder resources   9 u8 initiator depth  10 u8 retry count  11 u8 RNR retry count
 * 12 u8 flags (1 flow control, 2 shared receive)   13 u8 -   14 u16 reject status
 * 16 u32 queue pair number   20 u32 psn   24 u64 gid, high half   32 u64 gid, low half
 * 40 source address, 64 bytes of text filled up with zeros   104 destination address
 * 168 u16 source port   170 u16 destination port   172 private data, 196 bytes
 * ```
 */
import { endianness } from 'node:os'
import { type ConnectionAddress, connectionAddress } from '../address.ts'
import type { ConnectionParameters, PortSpace } from '../carrier.ts'

export const MESSAGE_BYTES = 368

export type MessageKind = 'request' | 'reply' | 'reject' | 'ready' | 'disconnect' | 'disconnect-reply'

export interface Message {
  readonly kind: MessageKind
  readonly portSpace: PortSpace
  /** As the sender sees them. */
  readonly parameters: ConnectionParameters
  readonly rejectStatus: number
  readonly source: ConnectionAddress
  readonly destination: ConnectionAddress
}

const MAGIC = 0x6d634541
const VERSION = 1
const LITTLE = endianness() === 'LE'
const PRIVATE_DATA_OFFSET = 172
const PRIVATE_DATA_ROOM = MESSAGE_BYTES - PRIVATE_DATA_OFFSET
const ADDRESS_BYTES = 64
const kinds: readonly MessageKind[] = ['request', 'reply', 'reject', 'ready', 'disconnect', 'disconnect-reply']
const portSpaces: readonly PortSpace[] = ['tcp', 'udp']

export function encodeMessage(message: Message): Uint8Array {
  const bytes = new Uint8Array(MESSAGE_BYTES)
  const view = new DataView(bytes.buffer)
  const { parameters, source, destination } = message
  view.setUint32(0, MAGIC, LITTLE)
  bytes.set([VERSION, kinds.indexOf(message.kind), portSpaces.indexOf(message.portSpace)], 4)
  bytes.set([parameters.privateData.byteLength, parameters.responderResources, parameters.initiatorDepth], 7)
  bytes.set([parameters.retryCount, parameters.rnrRetryCount], 10)
  bytes[12] = (parameters.flowControl ? 1 : 0) | (parameters.sharedReceive ? 2 : 0)
  view.setUint16(14, message.rejectStatus, LITTLE)
  view.setUint32(16, parameters.endpoint.queuePairNumber, LITTLE)
  view.setUint32(20, parameters.endpoint.psn, LITTLE)
  view.setBigUint64(24, parameters.endpoint.gid >> 64n, LITTLE)
  view.setBigUint64(32, parameters.endpoint.gid & 0xffff_ffff_ffff_ffffn, LITTLE)
  bytes.set(new TextEncoder().encode(source.address).subarray(0, ADDRESS_BYTES), 40)
  bytes.set(new TextEncoder().encode(destination.address).subarray(0, ADDRESS_BYTES), 104)
  view.setUint16(168, source.port, LITTLE)
  view.setUint16(170, destination.port, LITTLE)
  bytes.set(parameters.privateData, PRIVATE_DATA_OFFSET)
  return bytes
}

/** Decode a message; undefined for bytes that no version of this program sends. */
export function decodeMessage(bytes: Uint8Array): Message | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const byte = (offset: number): number => view.getUint8(offset)
  const kind = kinds[byte(5)]
  const portSpace = portSpaces[byte(6)]
  const length = byte(7)
  if (view.getUint32(0, LITTLE) !== MAGIC || byte(4) !== VERSION || kind === undefined || portSpace === undefined)
    return undefined
  if (length > PRIVATE_DATA_ROOM || byte(10) > 7 || byte(11) > 7) return undefined
  const source = decodeAddress(bytes.subarray(40, 104), view.getUint16(168, LITTLE))
  const destination = decodeAddress(bytes.subarray(104, 168), view.getUint16(170, LITTLE))
  if (source === undefined || destination === undefined) return undefined
  const parameters = {
    privateData: bytes.slice(PRIVATE_DATA_OFFSET, PRIVATE_DATA_OFFSET + length),
    responderResources: byte(8),
    initiatorDepth: byte(9),
    retryCount: byte(10),
    rnrRetryCount: byte(11),
    flowControl: (byte(12) & 1) !== 0,
    sharedReceive: (byte(12) & 2) !== 0,
    endpoint: {
      queuePairNumber: view.getUint32(16, LITTLE),
      psn: view.getUint32(20, LITTLE),
      gid: (view.getBigUint64(24, LITTLE) << 64n) | view.getBigUint64(32, LITTLE),
    },
  }
  return { kind, portSpace, parameters, rejectStatus: view.getUint16(14, LITTLE), source, destination }
}

function decodeAddress(field: Uint8Array, port: number): ConnectionAddress | undefined {
  const end = field.indexOf(0)
  const text = String.fromCharCode(...field.subarray(0, end < 0 ? field.length : end))
  try {
    return connectionAddress(text, port)
  } catch {
    return undefined
  }
}
