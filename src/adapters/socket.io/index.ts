/**
 * An adapter for [Socket.IO](https://socket.io/docs/v4/adapter/) over memory that all processes of the machine share.
 *
 * ```ts
 * import { createAdapter } from 'aether-dsm/adapters/socket.io'
 * import { Server } from 'socket.io'
 *
 * const io = new Server({ adapter: createAdapter('shop') })
 * ```
 *
 * @module aether-dsm/adapters/socket.io
 */
export type { AetherAdapter } from './aether-adapter.ts'
export { createAdapter } from './create-adapter.ts'
