/**
 * Close an object of a device. A peer may be stopped in the middle of an access (`shm`: its process was stopped). The
 * first try is then refused after a while, when the keys are gone; the second does not wait for the peer.
 */
export function closeSurely(subject: { close(): void }): void {
  try {
    subject.close()
  } catch {
    subject.close()
  }
}
