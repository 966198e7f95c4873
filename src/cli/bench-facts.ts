import { availableParallelism, cpus, release } from 'node:os'

/** What a report says first: the machine and its versions, then the command and when. */
export function benchFacts(args: readonly string[]): string[] {
  return [
    `${availableParallelism()} processors, ${cpus()[0]?.model ?? 'of unknown kind'}; Linux ${release()}, Node.js ${process.versions.node}`,
    `aether bench ${args.join(' ')}; ${new Date().toISOString()}`,
  ]
}
