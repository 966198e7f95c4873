/**
 * The door of this room for other rooms: clients of Redis reach an index through it.
 *
 * - `protocol/`: RESP2 and RESP3, requests out of bytes and replies into them.
 * - `routing/`: which shard a command is for, and the commands of all connections that go there together.
 * - `connection/`: a client, what it has said before, and its requests in their order.
 * - `commands/`: what is about connections and the door. What is about keys is in `index-service/commands/`.
 * - `copying/`: a living Redis server into an index.
 */
export { type CopyProgress, ServerCopier } from './copying/server-copier.ts'
export { RedisDoor } from './door.ts'
export type { DoorSettings } from './settings/door-settings.ts'
