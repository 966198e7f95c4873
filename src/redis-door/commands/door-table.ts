import { cluster } from './cluster.ts'
import { connections } from './connections.ts'
import type { DoorCommand } from './door-command.ts'
import { publishing } from './publishing.ts'
import { scripting } from './scripting.ts'
import { transactions } from './transactions.ts'

const byName = new Map<string, DoorCommand>()

for (const command of [...cluster, ...connections, ...publishing, ...scripting, ...transactions(doorCommandNamed)]) {
  byName.set(command.name, command)
  byName.set(command.name.toUpperCase(), command)
}

/** In any case; undefined if the door has no such command. */
export function doorCommandNamed(name: string): DoorCommand | undefined {
  return byName.get(name) ?? byName.get(name.toLowerCase())
}
