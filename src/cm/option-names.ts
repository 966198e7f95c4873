import type { OptionNames } from '../native/index.ts'
import type { DeviceChoice } from './carriers.ts'
import type { PairOptions } from './connection-pair.ts'
import { waitNames } from './deadline.ts'
import type { ConnectionOptions } from './terms.ts'

/** The names of options that several calls of this room share. */
export const deviceNames: OptionNames<DeviceChoice> = { device: true, domain: true, iwarpPeer: true }

export const pairNames: OptionNames<PairOptions> = {
  domain: true,
  pair: true,
  access: true,
  prepare: true,
  sendQueue: true,
  receiveQueue: true,
  sharedReceiveQueue: true,
  xrcDomain: true,
  dcAccessKey: true,
  maxSendRequests: true,
  maxReceiveRequests: true,
  maxSendSegments: true,
  maxReceiveSegments: true,
  maxInlineBytes: true,
  signalAll: true,
}

export const connectionNames: OptionNames<ConnectionOptions> = {
  ...pairNames,
  ...waitNames,
  privateData: true,
  maxReadAtomic: true,
  maxDestinationReadAtomic: true,
  rnrRetry: true,
  ackTimeout: true,
  minRnrTimer: true,
  serviceLevel: true,
  trafficClass: true,
  flowControl: true,
}
