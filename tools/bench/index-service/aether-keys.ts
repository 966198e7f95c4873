import { connectIndex, type Index } from 'aether-dsm/index-service'
import type { KeyStore, KeysPlace } from './key-store.ts'

/** The first part of tuples. */
const ORDERED = 'ordered'

/** A client of an index. */
export async function openAetherKeys({ name }: KeysPlace): Promise<KeyStore> {
  return aetherKeys(await connectIndex(name))
}

/** The same of one that is there, and is closed with it. */
export function aetherKeys(index: Index): KeyStore {
  return {
    waits: true,
    get: (key) => index.get(key),
    set: (key, value) => index.set(key, value),
    async setAll(keys, value) {
      const replies = await index.atomic(keys.map((key) => ['SET', key, value]))
      const failed = replies?.find((reply) => reply instanceof Error)
      if (failed !== undefined) throw failed
    },
    increment: (key) => index.increment(key),
    field: (key, field) => index.hashAt(key).get(field),
    record: (key) => index.hashAt(key).entries(),
    setFields: (key, fields) => index.hashAt(key).set(fields),
    insert: (place, value) => index.set([ORDERED, place], value),
    async range(from, limit) {
      let count = 0
      for await (const _pair of index.range({ from: [ORDERED, from], limit })) count += 1
      return count
    },
    close: () => index.close(),
  }
}
