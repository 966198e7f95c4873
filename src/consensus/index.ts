/** The door of this room for other rooms: replicated state machines. Users import `src/public/consensus.ts`. */
export type { Entry } from './replica/cell.ts'
export { type Configuration, foundingConfiguration } from './replica/configuration.ts'
export { Replica, type ReplicaCard, type ReplicaEvents, type ReplicaOptions } from './replica/replica.ts'
export { defaultSettings, type ReplicaSettings } from './replica/settings.ts'
