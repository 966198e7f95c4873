import type { BackendFactory, IQueueBackend } from 'bullmq'
import type { Size } from '../../dsm/index.ts'
import { checkOptions, checkText, type OptionNames } from '../../native/index.ts'
import { AetherBackend } from './aether-backend.ts'
import { checkSize } from './store/store.ts'
import { StoreHold } from './store-hold.ts'

/** Options of {@link aetherBackend}. */
export interface AetherBackendOptions {
  /**
   * Memory for all queues of the space together, fixed by the first process that opens them: 1 MiB to 2047 MiB. Default
   * 256 MiB.
   */
  readonly size?: Size
}

const names: OptionNames<AetherBackendOptions> = { size: true }

/**
 * The factory of backends for BullMQ: pass it to `setDefaultBackendFactory`, to `withBackend`, or as the last argument
 * of `Queue`, `Worker`, `QueueEvents` and `FlowProducer`. What they have as `connection` is not used.
 *
 * @param space the name of a space, which this process enters when the first queue is made, and leaves when the last
 *   is closed.
 * @throws ArgumentError
 */
export function aetherBackend(
  space: string,
  options: AetherBackendOptions = {},
): BackendFactory<IQueueBackend, unknown> {
  checkText('space', space)
  checkOptions('aetherBackend', options, names)
  if (options.size !== undefined) checkSize(options.size)
  return (name, opts) => new AetherBackend(new StoreHold(space, options.size), name, opts)
}
