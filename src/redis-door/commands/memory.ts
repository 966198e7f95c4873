import process from 'node:process'
import { bytesOf, slotOf } from '../../index-service/index.ts'
import type { DoorFigures } from '../information/door-figures.ts'
import { figuresOf } from '../information/door-figures.ts'
import { shownBytes } from '../information/sections.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'

const stats: RunSubcommand = async (door): Promise<DoorReply> => {
  const figures = await figuresOf(door)
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  const keys = keysOf(figures)
  const fields: readonly (readonly [string, number])[] = [
    ['total.allocated', rss],
    ['keys.count', keys],
    ['keys.bytes-per-key', keys === 0 ? 0 : Math.floor(figures.usedBytes / keys)],
    ['dataset.bytes', figures.usedBytes],
    ['shared.bytes', figures.heldBytes],
    ['heap.bytes', heapUsed],
    ['buffers.bytes', arrayBuffers],
  ]
  return { table: fields.flatMap(([name, value]) => [bytesOf(name), value]) }
}

const doctor: RunSubcommand = async (door) => {
  const figures = await figuresOf(door)
  const { rss } = process.memoryUsage()
  const { usedBytes, heldBytes } = figures
  return {
    verbatim: `${keysOf(figures)} keys take ${shownBytes(usedBytes)}. ${shownBytes(heldBytes)} of shared memory are held for them, and the process takes ${shownBytes(rss)}. Writes are refused when all memory of aether serve --memory is used.`,
  }
}

function keysOf({ keys }: DoorFigures): number {
  return (keys ?? []).reduce((total, count) => total + count, 0)
}

/** The index knows what a key takes. */
const usage: RunSubcommand = async ({ router }, { db }, args) => {
  const call = { name: 'memory', args: [bytesOf('usage'), ...args], db }
  const [reply] = await router.lineOf(slotOf(args[0]!)).read([call])
  return reply!
}

const memory = withSubcommands({
  name: 'memory',
  subcommands: {
    doctor,
    stats,
    usage,
    purge: () => 'OK',
    'malloc-stats': () => ({ verbatim: 'The allocator is that of the C library, which keeps no statistics for this.' }),
  },
})

export const memoryCommands: readonly DoorCommand[] = [memory]
