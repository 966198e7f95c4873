/**
 * Outcomes that do not complete the request: it stays at the head of the queue. PeerInside: a key is revoked, and a
 * peer may still be using it.
 */
export const Outcome = { NotReady: -1, NoReceive: -2, PeerInside: -3 } as const
