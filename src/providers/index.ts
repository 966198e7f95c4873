/**
 * Providers: what carries out verbs. `contract.ts` is the seam; `shm/` is the embedded device over shared memory.
 *
 * ```ts
 * const device = openProviderDevice('shm0')
 * const domain = device.createProtectionDomain()
 * ```
 */
export * from './access.ts'
export * from './address.ts'
export * from './async-event.ts'
export * from './completion-batch.ts'
export * from './completion-contract.ts'
export * from './contract.ts'
export * from './encoded-request.ts'
export * from './errors.ts'
export * from './gid.ts'
export { decodeAddressVector, decodeAttributes } from './ibverbs/attribute-words.ts'
export { ibverbsStatus } from './ibverbs/library.ts'
export * from './memory-contract.ts'
export * from './opcode.ts'
export type { PairCapabilities } from './pair-capabilities.ts'
export type { ProviderPending } from './pending.ts'
export * from './port.ts'
export * from './queue-pair-contract.ts'
export * from './queue-pair-state.ts'
export * from './registry.ts'
export * from './shared-receive-queue.ts'
export type { SimulatedCluster } from './sim/cluster.ts'
export type { SimulatedFault } from './sim/fault.ts'
export type { Host as SimulatedHost } from './sim/host.ts'
export type { AdapterOptions, NetworkOptions, SimulationOptions } from './sim/options.ts'
export type { Process as SimulatedProcess } from './sim/process.ts'
export { openSimulatedCluster } from './sim/provider.ts'
export { type Choose, Stream } from './sim/stream.ts'
export * from './status.ts'
export * from './xrc-domain.ts'
