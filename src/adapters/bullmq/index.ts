/**
 * A backend for [BullMQ](https://docs.bullmq.io) in memory that all processes of the machine share, instead of a Redis.
 *
 * ```ts
 * import { aetherBackend } from 'aether-dsm/adapters/bullmq'
 * import { Queue, setDefaultBackendFactory, Worker } from 'bullmq'
 *
 * setDefaultBackendFactory(aetherBackend('shop'))
 * const queue = new Queue('mails')
 * await queue.add('welcome', { to: 'ada' })
 * const worker = new Worker('mails', async (job) => job.data.to.length, { connection: {} })
 * ```
 *
 * @module aether-dsm/adapters/bullmq
 */

export { aetherBackend } from './factory.ts'
