import type { VerbsAddon, VerbsToken } from '../../native/index.ts'
import type { DeviceAttributes } from '../contract.ts'
import type { IbverbsPort } from './port.ts'

/** An open device, as its objects need it: struct ibv_context. */
export interface IbverbsContext {
  readonly verbs: VerbsAddon
  readonly handle: VerbsToken
  readonly attributes: DeviceAttributes
  readonly port: IbverbsPort
}

/** A protection domain, as its objects need it. */
export interface IbverbsDomain {
  readonly device: IbverbsContext
  readonly handle: VerbsToken
}
