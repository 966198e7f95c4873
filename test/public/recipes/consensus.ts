import * as module from 'aether-dsm/consensus'
import { join } from '../../../src/public/index.ts'
import type { Recipes } from '../recipe.ts'

/** It takes any command. */
class Anything {
  apply(command: unknown): string {
    return typeof command
  }

  snapshot(): Uint8Array[] {
    return []
  }

  restore(): void {}
}

/** A group of one rank, and a machine in it. */
export async function consensusRecipes(): Promise<Recipes> {
  const group = await join({ rank: 0, size: 1, rendezvous: 'local:bad-consensus-arguments' })
  const replicated = await module.replicate(group, { name: 'anything', machine: () => new Anything() })
  let opened = 0
  const waits = async (): Promise<void> => void (await replicated.propose('something'))
  return {
    module,
    objects: { Replicated: [replicated] },
    values: { command: () => 'something', read: () => () => 0, rank: () => 0 },
    calls: {
      replicate: {
        args: () => [group, { name: `machine-${++opened}`, machine: () => new Anything() }],
        valuesMax: 4,
      },
      'Replicated.changes': { args: () => [{ from: 1 }], waits },
      'Replicated.leadership': { args: () => [{}], waits },
      'Replicated.transferLeadership': { args: () => [0] },
    },
    close: async () => {
      await replicated.close()
      await group.close()
    },
  }
}
