import { checkOptions, checkText, checkWhole, mustBe, type OptionNames } from '../../native/index.ts'
import type { Structures } from '../../structures/index.ts'
import { checkWhere } from '../lease.ts'
import type { AetherAdapter, ServedNamespace } from './aether-adapter.ts'
import { SpaceAdapter } from './space-adapter.ts'

/** Options of {@link createAdapter}. Servers that share a name must pass the same. */
export interface SocketIoAdapterOptions {
  /** Servers of one space that pass the same name broadcast to each other. Default `'socket.io'`; up to 40 bytes. */
  readonly name?: string
  /** How many messages are kept for workers that fall behind and for clients that come back. Default 10,000. */
  readonly capacity?: number
  /**
   * How many bytes of messages are kept, which is also the longest message that other workers receive. Default 16 MiB.
   * They are part of the size of the structures, which is 64 MiB unless you open them yourself.
   */
  readonly capacityBytes?: number
}

const names: OptionNames<SocketIoAdapterOptions> = { name: true, capacity: true, capacityBytes: true }

const NAME_BYTES_MAX = 40
const CAPACITY = 10_000
const CAPACITY_MIN = 16
const CAPACITY_MAX = 2 ** 26
const CAPACITY_BYTES = 2 ** 24
const CAPACITY_BYTES_MIN = 2 ** 16
const CAPACITY_BYTES_MAX = 2 ** 31

/**
 * What `io.adapter()` and `new Server({ adapter })` take: it makes an {@link AetherAdapter} for each namespace.
 *
 * @param where the name of a space, which this process enters; or open structures, which the caller has to close.
 * @throws ArgumentError
 */
export function createAdapter(
  where: string | Structures,
  options: SocketIoAdapterOptions = {},
): (nsp: ServedNamespace) => AetherAdapter {
  checkWhere('where', where)
  checkOptions('createAdapter', options, names)
  const { name = 'socket.io', capacity = CAPACITY, capacityBytes = CAPACITY_BYTES } = options
  checkName(name)
  checkWhole('options.capacity', capacity, CAPACITY_MIN, CAPACITY_MAX)
  checkWhole('options.capacityBytes', capacityBytes, CAPACITY_BYTES_MIN, CAPACITY_BYTES_MAX)
  // Socket.IO calls it with `new`, which arrow functions do not take.
  return function adapterOf(nsp) {
    return new SpaceAdapter(nsp, where, { name, capacity, capacityBytes })
  }
}

function checkName(name: string): void {
  checkText('options.name', name)
  if (Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw mustBe('options.name', `text of at most ${NAME_BYTES_MAX} bytes`, name)
}
