import type { RecordSampler } from '../memory/records.ts'
import { bytesOf } from '../values/latin1.ts'
import type { Databases } from './databases.ts'
import type { Keyspace } from './keyspace.ts'
import { isOfKey, keyOfRecord, spaceOfRecord } from './record-format.ts'
import type { Watched } from './shard-command.ts'

/** Which keys may go, and which of them go first. */
export interface EvictionRule {
  /** `volatile`: only keys that expire. */
  readonly of: 'all' | 'volatile'
  readonly by: EvictionOrder
  /** Keys that are looked at for one that goes; more than 64 are taken for 64. */
  readonly samples: number
}

/**
 * - `recency`: those that were not used for the longest time.
 * - `frequency`: those that are used least.
 * - `random`: any.
 * - `expiry`: those that expire first.
 */
type EvictionOrder = 'recency' | 'frequency' | 'random' | 'expiry'

interface Candidate {
  readonly keyspace: Keyspace
  readonly key: Uint8Array
  /** The lowest goes first. */
  readonly score: number
}

const SAMPLES_MAX = 64
/** Records that are looked at in vain, fields of large hashes for instance. */
const RECORDS_MAX = 4096

/** What is to be known of a key for each order; a long time and a low count go first. */
const SCORES = { recency: 'idle', frequency: 'frequency', random: undefined, expiry: undefined } as const

/**
 * Up to `count` keys that go first. Among all keys the order is approximate: the first ones of a random sample. Of two
 * keys of equal score, any may be first.
 */
export function chooseVictims(
  databases: Databases,
  sampler: RecordSampler,
  rule: EvictionRule,
  limits: { readonly count: number; readonly nowMs: number },
): Watched[] {
  const { count } = limits
  if (rule.of === 'all') {
    const victims = sampled(databases, sampler, rule, limits)
    if (victims.length > 0) return victims
  }
  const candidates = candidatesOf(databases, rule, limits)
  candidates.sort((one, other) => one.score - other.score)
  return candidates.slice(0, count).map(({ keyspace: { db }, key }) => victim(databases, db, key))
}

function candidatesOf(databases: Databases, rule: EvictionRule, limits: { readonly count: number }): Candidate[] {
  if (rule.of === 'all') return collections(databases, rule)
  return rule.by === 'expiry' ? expiringFirst(databases, limits.count) : expiring(databases, rule, limits)
}

function victim(databases: Databases, db: number, key: Uint8Array): Watched {
  return { key, version: databases.versionOf(db, key), db }
}

function samplesOf({ by, samples }: EvictionRule): number {
  return by === 'random' ? 1 : Math.min(samples, SAMPLES_MAX)
}

/** Keys from a random place of the table on. */
function sampled(
  databases: Databases,
  sampler: RecordSampler,
  rule: EvictionRule,
  { count, nowMs }: { readonly count: number; readonly nowMs: number },
): Watched[] {
  const wanted = count * samplesOf(rule)
  const options = { accepts: isOfKey, score: SCORES[rule.by], recordsMax: RECORDS_MAX + wanted, nowMs }
  const samples = [...sampler.sample(Math.floor(Math.random() * 2 ** 32), wanted, options)]
  const sign = rule.by === 'recency' ? -1 : 1
  samples.sort((one, other) => sign * (one.score - other.score))
  return samples.slice(0, count).map(({ place }) => {
    const record = sampler.keyAt(place)
    return victim(databases, databases.dbOf(spaceOfRecord(record)!), keyOfRecord(record))
  })
}

/** Keys that are not strings. Where almost all records are fields of hashes, a sample has none of their keys. */
function collections(databases: Databases, rule: EvictionRule): Candidate[] {
  const candidates: Candidate[] = []
  for (const keyspace of databases.held)
    for (const name of keyspace.collectionNames) {
      if (candidates.length === RECORDS_MAX) return candidates
      const key = bytesOf(name)
      candidates.push({ keyspace, key, score: scoreOf(keyspace, key, rule) })
    }
  return candidates
}

/** Any keys that expire. */
function expiring(databases: Databases, rule: EvictionRule, { count }: { readonly count: number }): Candidate[] {
  const wanted = count * samplesOf(rule)
  const chosen = new Map<string, Candidate>()
  for (let left = databases.expiring === 0 ? 0 : wanted; left > 0; left -= 1) {
    let rank = Math.floor(Math.random() * databases.expiring)
    for (const keyspace of databases.held) {
      if (rank >= keyspace.expiring) {
        rank -= keyspace.expiring
        continue
      }
      const { key } = keyspace.expiringAt(rank)
      chosen.set(`${keyspace.db} ${rank}`, { keyspace, key, score: scoreOf(keyspace, key, rule) })
      break
    }
  }
  return [...chosen.values()]
}

/** The keys of each database that expire first. */
function expiringFirst(databases: Databases, count: number): Candidate[] {
  return databases.held.flatMap((keyspace) =>
    Array.from({ length: Math.min(count, keyspace.expiring) }, (_, rank) => {
      const { key, atMs } = keyspace.expiringAt(rank)
      return { keyspace, key, score: atMs }
    }),
  )
}

function scoreOf(keyspace: Keyspace, key: Uint8Array, { by }: EvictionRule): number {
  if (by === 'recency') return -(keyspace.idleMs(key) ?? 0)
  if (by === 'frequency') return keyspace.frequency(key) ?? 0
  return 0
}
