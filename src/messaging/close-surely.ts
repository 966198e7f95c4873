/**
 * Closes what belongs to a device. A peer may stay in the middle of an access (`shm`: its process was stopped there),
 * and then the first try is refused after a while, when the keys are gone; with the second it is not waited for.
 */
export function closeSurely(subject: { close(): void }): void {
  try {
    subject.close()
  } catch {
    subject.close()
  }
}
