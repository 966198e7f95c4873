import { type CoherenceMessage, type MessageKind, noFrame, type SavedNode } from '../coherence/index.ts'

/** What may happen to a node from outside: the calls of `CoherenceNode` that change it. */
export const stepCalls = [
  'demand',
  'evict',
  'receive',
  'retry',
  'absorb',
  'forget',
  'install',
  'installDirectory',
  'installLost',
] as const
export type StepCall = (typeof stepCalls)[number]

/** The first line of a recording: what the node is, and what it remembered when the file began. */
export interface RecordingHeader {
  readonly format: 'aether-recording'
  readonly version: 1
  readonly region: string
  readonly protocol: string
  readonly rank: number
  readonly ranks: number
  /** Which file of the run this is, from 0. */
  readonly part: number
  /** `now` of the agent when the file began, in nanoseconds of its monotonic clock; steps count from here. */
  readonly startNs: number
  readonly state: SavedNode
}

/** A message without addresses of frames and keys: addresses and keys decide nothing, and keys are secret. */
export type RecordedMessage = readonly [kind: number, page: number, from: number, requester: number, count: number]
export type RecordedArgument = number | boolean | string | readonly number[] | RecordedMessage

/** One input of a node, what the world answered to its questions meanwhile, and a hash of all that it said. */
export interface RecordedStep {
  /** Since the header's `startNs`. */
  readonly atNs: number
  readonly call: StepCall
  readonly arguments: readonly RecordedArgument[]
  readonly answers: readonly number[]
  readonly said: number
  /** The error that the call ended with. */
  readonly error?: string
}

/** The line of a step. An array, because there are millions of them. */
export function encodeStep({ atNs, call, arguments: args, answers, said, error }: RecordedStep): string {
  const line = [atNs, call, args, answers, said]
  return JSON.stringify(error === undefined ? line : [...line, error])
}

export function recordedMessage({ kind, page, from, requester, count }: CoherenceMessage): RecordedMessage {
  return [kind, page, from, requester, count]
}

export function messageOf([kind, page, from, requester, count]: RecordedMessage): CoherenceMessage {
  const known = kind as MessageKind
  return { kind: known, page, from, requester, count, requesterFrame: noFrame, homeFrame: noFrame }
}

/** The page that a step is about; undefined where it is about all. */
export function pageOf({ call, arguments: args }: RecordedStep): number | undefined {
  if (call === 'forget') return undefined
  return call === 'receive' || call === 'absorb' ? (args[0] as RecordedMessage)[1] : (args[0] as number)
}
