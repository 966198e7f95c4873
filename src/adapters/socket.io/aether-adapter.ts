import type { ClusterAdapter } from 'socket.io-adapter'

/** The namespace that an adapter is made for: Socket.IO's `Namespace`. */
export interface ServedNamespace {
  readonly name: string
}

/**
 * The adapter of one server in one namespace. Beside the events of every adapter it emits two:
 *
 * - `missed`, with the number of messages, of any namespace, that were dropped before this process could read them.
 * - `not-sent`, with an error: a message of this server did not reach the other workers.
 */
export interface AetherAdapter extends ClusterAdapter {
  /**
   * Resolves when this server and the others know each other. What is sent before waits until then. Rejects if the
   * space cannot be opened, which is tried again every second; until then only clients of this server are reached.
   */
  ready(): Promise<void>
  /** Leave the others, and release the space if it was named. Called by `io.close()`. Idempotent. */
  close(): Promise<void>
}
