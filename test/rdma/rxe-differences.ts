/** What soft-RoCE does otherwise than the rules of the conformance suite, found by running it (kernel 6.12, rdma-core 44). */
import type { Difference } from '../../src/testing/index.ts'

const receiveFault: Difference = {
  behaviour:
    'rxe reports the unusable memory of a receive as LocalQueuePairOperationError (2); the sender is told RemoteOperationError, as it should',
  failure: /LocalQueuePairOperationError \(2\)/,
}
const requesterFault: Difference = {
  behaviour:
    'rxe finds the bad local segment before it sends, moves to ERR, and reports the request itself as WorkRequestFlushed (5)',
  failure: /WorkRequestFlushed \(5\)/,
}
const earlySlot: Difference = {
  behaviour: 'rxe gives a send slot free when the request has completed, not when its completion was polled',
  failure: /should have failed with ENOMEM; it succeeded/,
}

export const rxeDifferences: Readonly<Record<string, Difference>> = {
  'a slot is free again after its completion was polled, not before': earlySlot,
  'a later signaled completion frees the slots of unsignaled requests': earlySlot,
  'SQD holds what is posted until RTS': {
    behaviour: 'rxe holds it, but does not look at it again at RTS: it goes out with the next post',
    failure: /did not happen within/,
  },
  'a bad local key fails at the requester and leaves the responder alone': requesterFault,
  'a local segment past the end fails at the requester': requesterFault,
  'a local segment of another protection domain fails at the requester': requesterFault,
  'a message longer than the receive fails on both sides': {
    behaviour: 'rxe tells the sender RemoteOperationError (11) instead of RemoteInvalidRequest (9)',
    failure: /RemoteOperationError \(11\)/,
  },
  'a receive request whose memory is not writable fails on both sides': receiveFault,
  'a receive request with a bad local key fails on both sides': receiveFault,
  'a receive request in memory of another domain fails on both sides': receiveFault,
  'a receive request in memory that was closed meanwhile fails on both sides': receiveFault,
  'an address that is no multiple of eight is refused by the responder': {
    behaviour: "rxe's library refuses the post (EINVAL) before anything is sent",
    failure: /ibv_post_send: EINVAL/,
  },
  'armed for solicited messages, a failure makes an event': {
    behaviour: 'rxe makes no event for flushed receives when only solicited ones are asked for',
    failure: /did not happen within/,
  },
  'posts in ERR are taken and flushed': {
    behaviour: 'rxe flushes a receive that is posted in ERR only when something else wakes its responder',
    failure: /did not happen within/,
  },
}

/** What rxe does not have. */
export const rxeUnsupported: Readonly<Record<string, string>> = {}
