import { ArgumentError } from '../native/index.ts'
import type { Endpoint } from './endpoint.ts'
import type { LinkError } from './errors.ts'

/**
 * The callbacks of an endpoint. All are called from the event loop, or from `poll` and the calls that block. If one
 * throws, the connection ends; an error in `disconnected` or `error` becomes a warning of the process.
 */
export interface EndpointHandlers {
  /**
   * A message has come. `data` lies in the ring and is valid until the call returns. `immediate` is undefined if the
   * sender gave none.
   */
  readonly receive?: (data: Uint8Array, immediate: number | undefined, endpoint: Endpoint) => void
  /** The peer's `writeWithImmediate` has written `length` bytes at `address` of this end's memory. */
  readonly written?: (immediate: number, address: number, length: number, endpoint: Endpoint) => void
  /** The WRITE posted with this id is done, or failed. */
  readonly writeDone?: (id: number, error: unknown, endpoint: Endpoint) => void
  /** The READ posted with this id is done, or failed. */
  readonly readDone?: (id: number, error: unknown, endpoint: Endpoint) => void
  /** The connection was closed gracefully by either end. */
  readonly disconnected?: (endpoint: Endpoint) => void
  /** The connection ended without being closed. */
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
 * Check handlers; none if nothing is given. Done here, not when the first message arrives.
 * @throws ArgumentError if one of them is not a function.
 */
export function checkedHandlers(handlers: EndpointHandlers | undefined): EndpointHandlers {
  if (handlers === undefined || handlers === null) return {}
  if (typeof handlers !== 'object' && typeof handlers !== 'function')
    throw new ArgumentError('handlers', `handlers must be an object of functions: ${HANDLERS.join(', ')}`)
  for (const name of HANDLERS)
    if (handlers[name] !== undefined && typeof handlers[name] !== 'function')
      throw new ArgumentError(`handlers.${name}`, `handlers.${name} must be a function, not ${typeof handlers[name]}`)
  return handlers
}
