import type { Command } from '../memory/command.ts'
import { BATCH_MAX } from '../memory/group-memory.ts'
import type { HomeWords } from './home-memory.ts'

/** Carry out any number of commands, in order. They go in as many batches as needed, all on their way at once. */
export async function runAll(home: HomeWords, commands: readonly Command[]): Promise<void> {
  const batches: Promise<void>[] = []
  for (let at = 0; at < commands.length; at += BATCH_MAX) batches.push(home.run(commands.slice(at, at + BATCH_MAX)))
  await Promise.all(batches)
}
