import { checkWhole } from '../native/index.ts'
/**
 * How a work request ended; the numbers of `enum ibv_wc_status`. A status is a value, never an exception. A provider
 * may report numbers that are not listed here; they are passed through.
 */
export const CompletionStatus = {
  Success: 0,
  LocalLengthError: 1,
  LocalQueuePairOperationError: 2,
  LocalEndToEndContextOperationError: 3,
  LocalProtectionError: 4,
  WorkRequestFlushed: 5,
  MemoryWindowBindError: 6,
  BadResponse: 7,
  LocalAccessError: 8,
  RemoteInvalidRequest: 9,
  RemoteAccessError: 10,
  RemoteOperationError: 11,
  RetryExceeded: 12,
  ReceiverNotReadyRetryExceeded: 13,
  RemoteAborted: 16,
  FatalError: 19,
  ResponseTimeout: 20,
  GeneralError: 21,
} as const
export type CompletionStatus = (typeof CompletionStatus)[keyof typeof CompletionStatus]

/** What each status means and where to look first. */
const explanations: Readonly<Record<number, string>> = {
  [CompletionStatus.Success]: 'the request was carried out',
  [CompletionStatus.LocalLengthError]:
    'the message is longer than a receive request has room for, or than a message may be: post longer receives',
  [CompletionStatus.LocalQueuePairOperationError]:
    'this queue pair cannot do that: look at its type and at maxReadAtomic (0 forbids READ and atomics)',
  [CompletionStatus.LocalProtectionError]:
    'a local segment is not covered by its key: wrong key, another protection domain, out of range, closed memory, or no LocalWrite',
  [CompletionStatus.WorkRequestFlushed]:
    'the queue pair was in the error state before this request ran; the first failed completion says why',
  [CompletionStatus.MemoryWindowBindError]:
    'the memory window could not be bound: look at access, range and protection domain',
  [CompletionStatus.BadResponse]: 'the peer answered something unexpected',
  [CompletionStatus.LocalAccessError]: 'the local buffer of an incoming WRITE with immediate may not be written',
  [CompletionStatus.RemoteInvalidRequest]:
    'the peer refused the request: access not enabled on its queue pair, unaligned atomic, message too long for its receive, or no READ resources',
  [CompletionStatus.RemoteAccessError]:
    'the peer protects that memory: wrong or revoked key, out of range, another protection domain, or the right is missing',
  [CompletionStatus.RemoteOperationError]:
    'the peer could not carry it out: the memory of its receive request is not usable',
  [CompletionStatus.RetryExceeded]:
    'the peer does not answer: it ended, its queue pair is not ready to receive or is connected elsewhere, or PSN and numbers do not match',
  [CompletionStatus.ReceiverNotReadyRetryExceeded]: 'the peer has no receive request posted, and rnrRetry is used up',
  [CompletionStatus.RemoteAborted]: 'the peer aborted the operation',
  [CompletionStatus.FatalError]: 'the device failed',
  [CompletionStatus.ResponseTimeout]: 'no response in time',
  [CompletionStatus.GeneralError]: 'the provider reports an error of its own; look at the vendor error',
}

const names = new Map<number, string>(Object.entries(CompletionStatus).map(([name, value]) => [value, name]))

/** For example `RemoteAccessError (10)`; an unknown number is printed as it is. */
export function statusName(status: number): string {
  checkWhole('status', status, 0, 0xffffffff)
  const name = names.get(status)
  return name === undefined ? `status ${status}` : `${name} (${status})`
}

/** A sentence for people: what the status means and what to check. */
export function explainStatus(status: number): string {
  checkWhole('status', status, 0, 0xffffffff)
  return explanations[status] ?? `the provider reported a status this version does not know (${status})`
}
