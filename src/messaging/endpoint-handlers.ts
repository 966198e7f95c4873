import { checkFunction, checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import type { Endpoint, EndpointOptions } from './endpoint.ts'
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

const handlerNames: OptionNames<EndpointHandlers> = {
  receive: true,
  written: true,
  writeDone: true,
  readDone: true,
  disconnected: true,
  error: true,
}
const HANDLERS = Object.keys(handlerNames) as readonly (keyof EndpointHandlers)[]

/**
 * Check handlers; none if nothing is given. Done here, not when the first message arrives.
 * @throws ArgumentError if one of them is not a function.
 */
export function checkedHandlers(handlers: EndpointHandlers | undefined): EndpointHandlers {
  if (handlers === undefined || handlers === null) return {}
  if (!isOfClass(handlers)) checkOptions('an endpoint', handlers, handlerNames, 'handlers')
  for (const name of HANDLERS)
    if (handlers[name] !== undefined) checkFunction(`handlers.${name}`, handlers[name], 'of the program')
  return handlers
}

/** Check the options of one end before there is one. @throws ArgumentError */
export function checkEndpointOptions({ handlers, messageBytesMax }: EndpointOptions): void {
  checkedHandlers(handlers)
  if (messageBytesMax !== undefined) checkWhole('messageBytesMax', messageBytesMax, 0, Number.MAX_SAFE_INTEGER)
}

/** An object of the program's own class has its handlers as methods, and fields of any name beside them. */
function isOfClass(handlers: EndpointHandlers): boolean {
  if (typeof handlers !== 'object') return false
  const prototype = Object.getPrototypeOf(handlers) as object | null
  return prototype !== null && HANDLERS.some((name) => name in prototype)
}
