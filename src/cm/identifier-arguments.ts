import { checkBoolean, checkBytes, checkOptions, checkWhole, mustBe, type OptionNames } from '../native/index.ts'
import { type Gid, QueuePairState } from '../verbs/index.ts'
import type { ConnectionParameters, LocalEndpoint, PortSpace } from './carrier.ts'
import { checkedPrivateData, type PrivateDataUse } from './private-data.ts'

/** What the int of rdma_listen(3) holds. */
const BACKLOG_MAX = 2 ** 31 - 1
/** Numbers of queue pairs and of packets have 24 bits. */
const NUMBER_MAX = 0xffffff

const parameterNames: OptionNames<ConnectionParameters> = {
  privateData: true,
  responderResources: true,
  initiatorDepth: true,
  flowControl: true,
  retryCount: true,
  rnrRetryCount: true,
  sharedReceive: true,
  endpoint: true,
}

export function checkBacklog(backlog: number): void {
  checkWhole('backlog', backlog, 1, BACKLOG_MAX)
}

/** Return a checked copy of what one end announces about itself: the caller may go on writing its private data. */
export function checkedParameters(
  parameters: ConnectionParameters,
  portSpace: PortSpace,
  use: PrivateDataUse,
): ConnectionParameters {
  if (parameters === undefined) throw mustBe('parameters', 'an object such as { privateData, endpoint }', parameters)
  checkOptions(use, parameters, parameterNames, 'parameters')
  checkBytes('parameters.privateData', parameters.privateData)
  const privateData = checkedPrivateData(parameters.privateData, portSpace, use)
  checkWhole('parameters.responderResources', parameters.responderResources, 0, 0xff)
  checkWhole('parameters.initiatorDepth', parameters.initiatorDepth, 0, 0xff)
  checkBoolean('parameters.flowControl', parameters.flowControl)
  checkWhole('parameters.retryCount', parameters.retryCount, 0, 7)
  checkWhole('parameters.rnrRetryCount', parameters.rnrRetryCount, 0, 7)
  checkBoolean('parameters.sharedReceive', parameters.sharedReceive)
  checkEndpoint('parameters.endpoint', parameters.endpoint)
  return { ...parameters, privateData }
}

function checkEndpoint(argument: string, endpoint: LocalEndpoint): void {
  checkEndpointKind(argument, endpoint)
  checkGid(`${argument}.gid`, endpoint.gid)
  checkWhole(`${argument}.queuePairNumber`, endpoint.queuePairNumber, 0, NUMBER_MAX)
  checkWhole(`${argument}.psn`, endpoint.psn, 0, NUMBER_MAX)
}

/** @throws ArgumentError unless it is a bigint of 128 bits. */
export function checkGid(argument: string, gid: Gid): void {
  if (typeof gid !== 'bigint' || gid < 0n || gid >> 128n !== 0n)
    throw mustBe(argument, 'a bigint of 128 bits, such as pair.gid', gid)
}

/** Check a transition that the connection manager has attributes for. What the endpoint holds, `modify` checks. */
export function checkTransition(state: QueuePairState, endpoint: LocalEndpoint): void {
  const { Init, ReadyToReceive, ReadyToSend } = QueuePairState
  if (state !== Init && state !== ReadyToReceive && state !== ReadyToSend)
    throw mustBe('state', 'QueuePairState.Init, ReadyToReceive or ReadyToSend', state)
  checkEndpointKind('endpoint', endpoint)
  if (!Number.isInteger(endpoint.psn)) throw mustBe('endpoint.psn', 'that of the queue pair', endpoint.psn)
}

function checkEndpointKind(argument: string, endpoint: LocalEndpoint): void {
  if (typeof endpoint !== 'object' || endpoint === null)
    throw mustBe(argument, 'an object such as { gid, queuePairNumber, psn }', endpoint)
}
