import { ArgumentError } from '../native/index.ts'
import type { Endpoint } from './endpoint.ts'
import type { LinkError } from './errors.ts'

/**
 * What an endpoint calls. All are called from the event loop, or from `poll` and the calls that block. What one throws
 * ends the connection; what `disconnected` and `error` throw becomes a warning of the process.
 */
export interface EndpointHandlers {
  /**
   * A message. `data` lies in the ring: it is valid until the call returns. `immediate` is undefined where the sender
   * gave none.
   */
  readonly receive?: (data: Uint8Array, immediate: number | undefined, endpoint: Endpoint) => void
  /** The peer's `writeWithImmediate` has written `length` bytes at `address` of this end's memory. */
  readonly written?: (immediate: number, address: number, length: number, endpoint: Endpoint) => void
  /** A WRITE that was posted with this id is done, or failed. */
  readonly writeDone?: (id: number, error: unknown, endpoint: Endpoint) => void
  /** A READ that was posted with this id is done, or failed. */
  readonly readDone?: (id: number, error: unknown, endpoint: Endpoint) => void
  /** The connection is over, closed in order by either end. */
  readonly disconnected?: (endpoint: Endpoint) => void
  /** The connection is over, and was not closed. */
  readonly error?: (error: LinkError, endpoint: Endpoint) => void
}

const HANDLERS: readonly (keyof EndpointHandlers)[] = [
  'receive',
  'written',
  'writeDone',
  'readDone',
  'disconnected',
  'error',
]

/**
 * The same; none where nothing is given. Found out here, and not when the first message is there for it.
 * @throws ArgumentError where one of them is no function.
 */
export function checkedHandlers(handlers: EndpointHandlers | undefined): EndpointHandlers {
  if (handlers === undefined || handlers === null) return {}
  if (typeof handlers !== 'object' && typeof handlers !== 'function')
    throw new ArgumentError('handlers', `handlers are an object of functions: ${HANDLERS.join(', ')}`)
  for (const name of HANDLERS)
    if (handlers[name] !== undefined && typeof handlers[name] !== 'function')
      throw new ArgumentError(`handlers.${name}`, `'${name}' is a function, not ${typeof handlers[name]}`)
  return handlers
}
