import { type BroadcastOptions, type ClusterMessage, MessageType } from 'socket.io-adapter'

/** Of socket.io-parser: a packet that carries an event. */
const EVENT_PACKET = 2

/** An offset, as clients keep it: the log that a message was in, and its index there. */
export function offsetOf(generation: string, index: number): string {
  return `${generation}.${index}`
}

/** The index; undefined if the offset is from another log. Offsets come from clients. */
export function indexOf(generation: string, offset: string): number | undefined {
  const index = Number(offset.slice(generation.length + 1))
  return Number.isSafeInteger(index) && offset === offsetOf(generation, index) ? index : undefined
}

/** The event that a client in `rooms` would have got by a message, if it would and the client may get it later. */
export function missedEvent(message: ClusterMessage, rooms: readonly string[]): readonly unknown[] | undefined {
  if (message.type !== MessageType.BROADCAST || message.data.requestId !== undefined) return undefined
  const { packet, opts } = message.data
  const { type, id, data } = packet as { type: number; id?: number; data: readonly unknown[] }
  if (type !== EVENT_PACKET || id !== undefined || opts.flags?.volatile !== undefined) return undefined
  const isMeant = opts.rooms.length === 0 || opts.rooms.some((room) => rooms.includes(room))
  return isMeant && !opts.except.some((room) => rooms.includes(room)) ? data : undefined
}

/** Options of a broadcast as JSON has them. */
export function plainOptions({ rooms, except, flags }: BroadcastOptions): {
  rooms: string[]
  except: string[]
  flags: NonNullable<BroadcastOptions['flags']>
} {
  return { rooms: [...rooms], except: [...(except ?? [])], flags: flags ?? {} }
}
