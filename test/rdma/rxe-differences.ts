/**
 * What soft-RoCE does otherwise than the rules of the conformance suite, found by running it (kernel 6.12, rdma-core
 * 44). Where a timeout is excused, or rxe says something else, the function of drivers/infiniband/sw/rxe (Linux 6.12)
 * that does so is named: each was read there, and none is a mistake of the addon.
 */
import { addressSpaceCases } from '../../src/testing/conformance/cases/address-spaces.ts'
import { deviceMemoryCases } from '../../src/testing/conformance/cases/device-memory.ts'
import { dynamicCases } from '../../src/testing/conformance/cases/dynamic.ts'
import { indirectKeyCases } from '../../src/testing/conformance/cases/indirect-keys.ts'
import { maskedAtomicCases } from '../../src/testing/conformance/cases/masked-atomics.ts'
import { parentDomainCases } from '../../src/testing/conformance/cases/parent-domains.ts'
import { rateLimitCases } from '../../src/testing/conformance/cases/rate-limits.ts'
import { reregisterCases } from '../../src/testing/conformance/cases/reregister.ts'
import { xrcCases } from '../../src/testing/conformance/cases/xrc.ts'
import { type ConformanceCase, conformanceCases, type Difference } from '../../src/testing/index.ts'

// send_data_in: whatever copy_data refuses but a list that is too short is RESPST_ERR_MALFORMED_WQE, which rxe_receiver
// completes with IB_WC_LOC_QP_OP_ERR.
const receiveFault: Difference = {
  behaviour:
    'rxe reports the unusable memory of a receive as LocalQueuePairOperationError (2); the sender is told RemoteOperationError, as it should',
  failure: /LocalQueuePairOperationError \(2\)/,
}
// rxe_requester: what fails before a packet is sent goes to its label err, where rxe_qp_error comes before the
// completer, which then flushes.
const requesterFault: Difference = {
  behaviour:
    'rxe finds the bad local segment before it sends, moves to ERR, and reports the request itself as WorkRequestFlushed (5)',
  failure: /WorkRequestFlushed \(5\)/,
}
const earlySlot: Difference = {
  behaviour: 'rxe gives a send slot free when the request has completed, not when its completion was polled',
  failure: /should have failed with ENOMEM; it succeeded/,
}

const noBounds: Difference = {
  behaviour: 'rxe checks an access through a memory window against the region under it, not against the window',
  failure: /'Success \(0\)'[\s\S]*'RemoteAccessError \(10\)'/,
}
// rxe_qp_sqd sets sq_draining and schedules the send task; until that has run req_check_sq_drain_done, __qp_chk_state
// refuses every way out but ERR. It looks for a posted element at the head of an empty queue, so that in a ring that
// has gone round once the answer comes with the next post. And nothing is scheduled on the way back: rxe_qp_from_attr
// does nothing for RTS, so that what was posted in SQD is sent when something else wakes the requester.
const draining: Difference = {
  behaviour:
    'rxe refuses to leave SQD (EINVAL) until its requester has run and found the send queue drained, and on the way to RTS does not wake it for what was posted meanwhile',
  failure: /ibv_modify_qp: EINVAL|did not happen within/,
}
// req_retry makes a request that is to be sent once more (here after a receiver-not-ready answer) one that is merely
// posted, at the head of the queue: so req_check_sq_drain_done takes the queue for drained, and req_next_wqe keeps the
// request back. Where the timer has not run yet it is as above.
const retriedIsPosted: Difference = {
  behaviour:
    'rxe says that the send queue is drained, and keeps a request back that has begun, where that is to be sent once more; or it refuses to leave SQD',
  failure: /name: 'SendQueueDrained'|ibv_modify_qp: EINVAL|did not happen within/,
}
const silent = (behaviour: string): Difference => ({ behaviour, failure: /did not happen within/ })
// copy_data: a length beyond the rest of the receive is EINVAL and not ENOSPC, so send_data_in takes it for a malformed
// request (AETH_NAK_REM_OP_ERR).
const tooLong: Difference = {
  behaviour: 'rxe tells the sender RemoteOperationError (11) instead of RemoteInvalidRequest (9)',
  failure: /RemoteOperationError \(11\)/,
}

function forEach(names: readonly string[], difference: Difference): Record<string, Difference> {
  return Object.fromEntries(names.map((name) => [name, difference]))
}

const leavesDrained: readonly string[] = conformanceCases
  .map(({ name }) => name)
  .filter((name) => /SQD -> (RESET|RTS|SQD) is carried out$/.test(name))

export const rxeDifferences: Readonly<Record<string, Difference>> = {
  'a slot is free again after its completion was polled, not before': earlySlot,
  'a later signaled completion frees the slots of unsignaled requests': earlySlot,
  ...forEach(leavesDrained, draining),
  'SQD holds what is posted until RTS': draining,
  'what is posted in SQD waits for RTS': draining,
  'a request that has begun is finished in SQD, and only then the queue is drained': retriedIsPosted,
  'attributes change in SQD and hold afterwards': draining,
  'a bad local key fails at the requester and leaves the responder alone': requesterFault,
  'a local segment past the end fails at the requester': requesterFault,
  'a local segment of another protection domain fails at the requester': requesterFault,
  'a message longer than the receive fails on both sides': tooLong,
  'a message longer than a shared receive fails on both sides, for that queue pair only': tooLong,
  'a receive request whose memory is not writable fails on both sides': receiveFault,
  'a receive request with a bad local key fails on both sides': receiveFault,
  'a receive request in memory of another domain fails on both sides': receiveFault,
  'a receive request in memory that was closed meanwhile fails on both sides': receiveFault,
  'an address that is not a multiple of eight is refused by the responder': {
    behaviour: "rxe's library refuses the post (EINVAL) before anything is sent",
    failure: /ibv_post_send: EINVAL/,
  },
  // flush_recv_wqe posts with solicited 0, and rxe_cq_post does not look at the status.
  'armed for solicited messages, a failure makes an event': {
    behaviour: 'rxe makes no event for flushed receives when only solicited ones are asked for',
    failure: /did not happen within/,
  },
  // The library's rxe_post_recv writes into the ring and does not enter the kernel, whose flush_recv_queue runs in
  // rxe_receiver: when rxe_qp_error schedules it, or a packet comes. (rxe_post_recv of the kernel would schedule it,
  // but serves kernel users only.)
  ...forEach(
    [
      'posts in ERR are taken and flushed',
      'a receive that is posted in ERR after others were flushed is flushed, once, and nothing is received twice',
    ],
    {
      behaviour: 'rxe flushes a receive that is posted in ERR only when something else wakes its responder',
      failure: /did not happen within/,
    },
  ),
  ...forEach(
    [
      'one byte behind the window is refused, though the region goes on',
      'one byte before the window is refused, though the region begins earlier',
      'what a peer has used is gone after a bind elsewhere',
      'one byte behind a window of type 2 is refused',
      'a zero-based window of type 2 is addressed from 0',
      'the same key shows what it was bound to last',
    ],
    noBounds,
  ),
  ...forEach(
    [
      'memory without MemoryWindowBind cannot be bound to',
      'a writable window on memory without LocalWrite is refused',
      'a window with atomics on memory without LocalWrite is refused',
      'a window that ends one byte behind its region is refused',
      'after a failed bind the requests behind it are flushed',
      'a bound window of type 2 cannot be bound again',
      'a queue pair of another domain cannot bind a window of type 2',
      'LOCAL_INV of a window of type 1 fails',
      'LOCAL_INV of a key with other low bits fails',
      'LOCAL_INV of an ordinary region fails',
      "a window's key is not a local key",
      'uc: a bad local key fails the request and flushes what follows',
      'uc: a failed send queue goes on after SQE -> RTS, or after ERR -> RESET',
    ],
    requesterFault,
  ),
  'a bind of length zero does not revoke type 2': {
    behaviour:
      'the addon refuses the post (EINVAL): drivers read the region of a bind without asking whether there is one',
    failure: /ibv_post_send: EINVAL/,
  },
  'SEND with invalidate delivers its message, names the key and takes it back': {
    behaviour: 'rxe invalidates, but does not set WithInvalidate in the completion nor name the key',
    failure: /0 !== 8/,
  },
  'uc: a message longer than the receive is lost, and the receive waits for the next': {
    behaviour: 'rxe completes the receive with LocalQueuePairOperationError (2)',
    failure: /LocalQueuePairOperationError \(2\)/,
  },
  // init_req_packet puts remote_qkey into the header, whatever its high bit; check_keys at the other end drops the
  // packet.
  'ud: a queue key with the high bit set sends that of the queue pair': silent(
    'rxe sends the key of the request as it is, and the datagram is dropped',
  ),
  // Its last receive is posted in ERR: as above.
  'ud: ERR flushes receives in the order of their posts': silent(
    'rxe flushes a receive that is posted in ERR only when something else wakes its responder',
  ),
  // rxe_prepare sets RXE_LOOPBACK_MASK only where the packet's address is the interface's own; a group's goes out by
  // ip_local_out, and does not come back, since rxe_mcast_add joins at the link (dev_mc_add) and not in IP.
  'ud: what is sent to a group reaches every attached queue pair': silent(
    'in a guest with one host, rxe does not hand a multicast datagram back to the host that sent it',
  ),
  // IB_EVENT_COMM_EST is raised nowhere in the driver: its event_handler is called for drained send queues, the last
  // request of a shared queue, limits and overruns.
  'the first message to a queue pair in RTR says that communication is established': silent(
    'rxe does not raise CommunicationEstablished',
  ),
}

const NO_BIND_TO_NOTHING = "binding a window to nothing: rxe's library would read a region that is not there"

function unsupported(cases: readonly ConformanceCase[], why: string): Record<string, string> {
  return Object.fromEntries(cases.map(({ name }) => [name, why]))
}

function ofType(...types: readonly string[]): readonly ConformanceCase[] {
  return conformanceCases.filter(({ name }) => types.some((type) => name.startsWith(`${type}:`)))
}

/** What rxe does not have. */
export const rxeUnsupported: Readonly<Record<string, string>> = {
  ...unsupported(maskedAtomicCases, 'masked atomics are of mlx5'),
  ...unsupported(indirectKeyCases, 'indirect keys are of mlx5'),
  ...unsupported(dynamicCases, 'dynamically connected queue pairs are of mlx5'),
  ...unsupported(ofType('dci', 'dct', 'dc'), 'dynamically connected queue pairs are of mlx5'),
  ...unsupported(xrcCases, 'rxe has no XRC'),
  ...unsupported(ofType('xrc', 'xrc-send', 'xrc-receive'), 'rxe has no XRC'),
  ...unsupported(reregisterCases, "rxe's library has no ibv_rereg_mr"),
  ...unsupported(deviceMemoryCases, 'rxe has no memory of its own'),
  ...unsupported(
    addressSpaceCases,
    'rxe has no on-demand paging on this kernel, and its library is not that of MLNX_OFED 4',
  ),
  ...unsupported(rateLimitCases, 'rxe does not pace'),
  ...unsupported(parentDomainCases, 'rxe has neither thread nor parent domains'),
  'a bind of length zero takes a window of type 1 back': NO_BIND_TO_NOTHING,
  'after a bind of length zero the former key reaches nothing': NO_BIND_TO_NOTHING,
  'memory can be closed once its window shows nothing': NO_BIND_TO_NOTHING,
}
