import assert from 'node:assert/strict'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import type { IQueueBackend } from 'bullmq'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { programs } from './programs.ts'
import { assertSame, compare, noRedis, TestRedis } from './sides.ts'

const skip = process.platform === 'linux' ? noRedis : 'shared memory needs Linux'

/** Each method of a backend, and the program that covers it. The compiler misses no method. */
const covered: Readonly<Record<keyof IQueueBackend, keyof typeof programs>> = {
  addFlow: 'flows over queues',
  addJob: 'first in, first out; at the front; by priority; when due',
  addJobs: 'first in, first out; at the front; by priority; when due',
  addJobScheduler: 'job schedulers',
  addLog: 'data, progress and logs',
  changeDelay: 'retries, delays and second attempts',
  changePriority: 'retries, delays and second attempts',
  cleanJobsByState: 'paused, drained, cleaned and obliterated',
  clearLogs: 'data, progress and logs',
  clientName: 'first in, first out; at the front; by priority; when due',
  close: 'waiting for jobs',
  closing: 'waiting for jobs',
  deleteDeduplicationKey: 'deduplication',
  disconnect: 'waiting for jobs',
  disconnectBlocking: 'waiting for jobs',
  drain: 'paused, drained, cleaned and obliterated',
  extendLock: 'locks, and jobs whose workers are silent',
  extendLocks: 'locks, and jobs whose workers are silent',
  forQueue: 'waiting for jobs',
  getClientList: 'counts, ranges and pages',
  getCounts: 'counts, ranges and pages',
  getCountsPerPriority: 'counts, ranges and pages',
  getDeduplicationJobId: 'deduplication',
  getDependencies: 'children, and what their failure means',
  getDependencyCounts: 'children, and what their failure means',
  getIgnoredChildrenFailures: 'children, and what their failure means',
  getJobData: 'first in, first out; at the front; by priority; when due',
  getJobLogs: 'data, progress and logs',
  getJobScheduler: 'job schedulers',
  getJobSchedulerData: 'job schedulers',
  getJobSchedulersCount: 'job schedulers',
  getJobSchedulersRange: 'job schedulers',
  getMetrics: 'metadata, limits and metrics',
  getProcessedChildrenValues: 'children, and what their failure means',
  getQueueMeta: 'metadata, limits and metrics',
  getQueueMetaField: 'metadata, limits and metrics',
  getQueueMetaFields: 'metadata, limits and metrics',
  getRanges: 'counts, ranges and pages',
  getRateLimitTtl: 'metadata, limits and metrics',
  getState: 'counts, ranges and pages',
  hasQueueMetaField: 'paused, drained, cleaned and obliterated',
  isFinished: 'completed, failed, kept and removed',
  isJobInState: 'counts, ranges and pages',
  isJobScheduler: 'job schedulers',
  isMaxed: 'metadata, limits and metrics',
  keys: 'first in, first out; at the front; by priority; when due',
  maximumBlockTimeout: 'first in, first out; at the front; by priority; when due',
  minimumBlockTimeout: 'first in, first out; at the front; by priority; when due',
  moveJobFromActiveToWait: 'retries, delays and second attempts',
  moveStalledJobsToWait: 'locks, and jobs whose workers are silent',
  moveToActive: 'first in, first out; at the front; by priority; when due',
  moveToCompleted: 'completed, failed, kept and removed',
  moveToDelayed: 'retries, delays and second attempts',
  moveToFailed: 'completed, failed, kept and removed',
  moveToWaitingChildren: 'parents that wait, and children that go',
  obliterate: 'paused, drained, cleaned and obliterated',
  on: 'waiting for jobs',
  once: 'waiting for jobs',
  paginate: 'children, and what their failure means',
  parseNodeKey: 'first in, first out; at the front; by priority; when due',
  pause: 'paused, drained, cleaned and obliterated',
  promote: 'retries, delays and second attempts',
  promoteJobs: 'retries, delays and second attempts',
  publishEvent: 'events, and waiting for them',
  qualifiedName: 'first in, first out; at the front; by priority; when due',
  readEvents: 'events, and waiting for them',
  reconnectBlocking: 'waiting for jobs',
  remove: 'locks, and jobs whose workers are silent',
  removeChildDependency: 'parents that wait, and children that go',
  removeDeduplicationKey: 'deduplication',
  removeDeprecatedPriorityKey: 'metadata, limits and metrics',
  removeJobScheduler: 'job schedulers',
  removeListener: 'waiting for jobs',
  removeOrphanedJobs: 'paused, drained, cleaned and obliterated',
  removeQueueMetaFields: 'metadata, limits and metrics',
  removeRateLimitKey: 'metadata, limits and metrics',
  removeUnprocessedChildren: 'parents that wait, and children that go',
  retryFinishedJob: 'retries, delays and second attempts',
  retryFinishedJobs: 'retries, delays and second attempts',
  retryJob: 'retries, delays and second attempts',
  setName: 'first in, first out; at the front; by priority; when due',
  setQueueMeta: 'metadata, limits and metrics',
  setRateLimit: 'metadata, limits and metrics',
  toKey: 'first in, first out; at the front; by priority; when due',
  trimEvents: 'events, and waiting for them',
  updateData: 'data, progress and logs',
  updateJobSchedulerNextMillis: 'job schedulers',
  updateProgress: 'data, progress and logs',
  waitForJob: 'waiting for jobs',
  waitUntilReady: 'first in, first out; at the front; by priority; when due',
}

describe('BullMQ in shared memory does what BullMQ on Redis does', { skip }, async () => {
  if (skip !== false) return
  useRuntimeDirectory()
  const redis = await TestRedis.start()
  after(async () => await redis[Symbol.asyncDispose]())

  for (const [name, program] of Object.entries(programs)) {
    it(name, async () => {
      const seen = await compare(redis, 'same-as-redis', program)
      assertSame(seen.aether, seen.redis)
      const mine = Object.entries(covered).filter(([, by]) => by === name)
      for (const [method] of mine) assert.ok(seen.called.has(method), `${method} was not called`)
    })
  }
})
