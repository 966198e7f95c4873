import { type Call, commandNamed, latin1Of } from '../../index-service/index.ts'
import { readKeys } from '../catalogue/read-keys.ts'
import { keysOf } from '../routing/router.ts'

/** What the calls of a transaction read, one after the other. */
export interface TransactionReads {
  readonly keys: readonly Uint8Array[]
  /** Those that are read behind the last change of its own, and whether they are read before the first one, too. */
  readonly rereads: ReadonlyMap<string, boolean>
}

export function readsOf(calls: readonly Call[]): TransactionReads {
  const keys: Uint8Array[] = []
  const [read, written] = [new Set<string>(), new Set<string>()]
  const rereads = new Map<string, boolean>()
  for (const { name, args } of calls) {
    const spec = commandNamed(name)!
    for (const key of readKeys(spec.name, args, spec)) {
      const text = latin1Of(key)
      keys.push(key)
      if (written.has(text)) rereads.set(text, read.has(text))
      else read.add(text)
    }
    if (!spec.isWrite) continue
    for (const key of keysOf(spec, args)) {
      written.add(latin1Of(key))
      rereads.delete(latin1Of(key))
    }
  }
  return { keys, rereads }
}
