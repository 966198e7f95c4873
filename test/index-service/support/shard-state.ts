import { Buffer } from 'node:buffer'
import type { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'

/** Everything that a shard has, in an order that does not depend on its table. */
export function stateOf(machine: ShardMachine, timeMs: number): readonly unknown[] {
  const state: unknown[] = [machine.databases, machine.usedBytes, machine.nextExpiryMs]
  for (const { db } of machine.databases) {
    const [keys] = machine.read([{ name: 'KEYS', args: [Buffer.from('*')], db }], timeMs) as [Uint8Array[]]
    for (const key of keys.map((each) => Buffer.from(each)).sort(Buffer.compare)) {
      const answer = (name: string) => machine.read([{ name, args: [key], db }], timeMs)[0]
      state.push([db, key.toString('latin1'), answer('DUMP'), answer('PTTL'), machine.versionOf(key, timeMs, db)])
    }
  }
  return state
}
