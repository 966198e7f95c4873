import { catalogueCommands } from './catalogue.ts'
import { clientCommands } from './clients.ts'
import { cluster } from './cluster.ts'
import { configCommands } from './config.ts'
import { connections } from './connections.ts'
import { debugCommands } from './debug.ts'
import type { DoorCommand } from './door-command.ts'
import { functions } from './functions.ts'
import { logCommands } from './logs.ts'
import { memoryCommands } from './memory.ts'
import { publishing } from './publishing.ts'
import { scripting } from './scripting.ts'
import { serverCommands } from './server.ts'
import { transactions } from './transactions.ts'
import { userCommands } from './users.ts'

const byName = new Map<string, DoorCommand>()

const all = [
  ...[...cluster, ...connections, ...clientCommands, ...configCommands, ...logCommands, ...publishing],
  ...[...serverCommands, ...debugCommands, ...memoryCommands, ...functions, ...scripting],
  ...[...transactions(doorCommandNamed), ...catalogueCommands(doorCommandNamed), ...userCommands(doorCommandNamed)],
]

for (const command of all) {
  byName.set(command.name, command)
  byName.set(command.name.toUpperCase(), command)
}

/** In any case; undefined if the door has no such command. */
export function doorCommandNamed(name: string): DoorCommand | undefined {
  return byName.get(name) ?? byName.get(name.toLowerCase())
}

/** In lower case. */
export function doorCommandNames(): string[] {
  return all.map(({ name }) => name)
}
