import { checkOptions, type OptionNames } from '../native/index.ts'
import type { ConnectionIdentifier, PortSpace } from './carrier.ts'
import { checkPortSpace, chooseCarrier, type DeviceChoice } from './carriers.ts'
import { deviceNames } from './option-names.ts'

export interface IdentifierOptions extends DeviceChoice {
  /** Default `tcp`. */
  readonly portSpace?: PortSpace
}

const identifierNames: OptionNames<IdentifierOptions> = { portSpace: true, ...deviceNames }

/**
 * Create an identifier for the connection manager step by step: rdma_create_id(3). `connect` and `listen` use it
 * internally. A program that uses it makes the queue pair itself, moves it on with `queuePairAttributes`, answers
 * events, and calls `destroy`. It does not keep the program alive.
 * @throws UnsupportedError if there is no librdmacm for an RDMA device.
 */
export function createIdentifier(options: IdentifierOptions = {}): ConnectionIdentifier {
  checkOptions('createIdentifier', options, identifierNames)
  const { portSpace = 'tcp' } = options
  checkPortSpace(portSpace)
  return chooseCarrier(options).carrier.createIdentifier(portSpace)
}
