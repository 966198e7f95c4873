import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** What a command line did. */
export interface CommandLineResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Run `aether …args` as a process and wait for its end. */
export function aether(...args: readonly string[]): CommandLineResult {
  return aetherWith({}, ...args)
}

/** The same with variables beside those of this process. */
export function aetherWith(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): CommandLineResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, ...environment },
  })
  return { status, stdout, stderr }
}
