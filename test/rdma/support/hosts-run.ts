/** `aether … --hosts here,there` from the first of two guests. */
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from './program.ts'
import type { RemoteHost } from './remote-host.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Starting a process with its threads takes a minute in an emulated guest. */
export const RUN_PATIENCE_MS = 380_000
/** Signs of life are late where a processor is emulated and shared. */
const SILENCE_MS = 20_000

/** Lets the other guest be logged in to, as sshd would. */
export async function openLogin(remote: RemoteHost): Promise<void> {
  await remote.start(process.execPath, at('./login-main.js')).until(/login is open/)
}

/** The command with the hosts, after {@link openLogin}. */
export function runOnHosts(command: string, ...words: readonly string[]): Program {
  const login = `${process.execPath} ${at('./login.js')}`
  const hosts = ['--hosts', 'here,there', '--ssh', login, '--address', '10.9.0.1']
  const aether = at('../../../src/cli/main.js')
  return startProgram('env', `AETHER_SILENCE_MS=${SILENCE_MS}`, process.execPath, aether, command, ...hosts, ...words)
}
