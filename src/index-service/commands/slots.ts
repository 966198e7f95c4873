import { SLOT_COUNT, slotOf } from '../keys/slot.ts'
import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf } from '../values/latin1.ts'
import { type CommandSpec, noKeys, reads } from './command.ts'
import { numberOf } from './numbers.ts'
import { CommandFault } from './reply.ts'

/** Goes over all keys. @throws CommandFault for what is no slot. */
function keysIn({ listing }: Keyspace, slot: number, fault: string): Uint8Array[] {
  if (slot < 0 || slot >= SLOT_COUNT) throw new CommandFault(fault)
  return listing
    .sorted()
    .map(bytesOf)
    .filter((key) => slotOf(key) === slot)
}

/**
 * What subcommands of CLUSTER tell of the keys of a slot. The names are our own, for the door of Redis' protocol: what
 * else there is about a cluster is not known to a shard.
 */
export const slots: readonly CommandSpec[] = [
  reads('countkeysinslot', 2, noKeys, (keyspace, args) => keysIn(keyspace, numberOf(args[0]!), 'Invalid slot').length),
  reads('getkeysinslot', 3, noKeys, (keyspace, args) => {
    const [slot, count] = [numberOf(args[0]!), numberOf(args[1]!)]
    const fault = 'Invalid slot or number of keys'
    if (count < 0) throw new CommandFault(fault)
    return keysIn(keyspace, slot, fault).slice(0, count)
  }),
]
