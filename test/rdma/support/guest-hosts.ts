import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from './program.ts'

/**
 * Hosts that are runtime directories of this guest, so that ranks take each other for ranks of other machines and talk
 * over rxe0.
 */
const ssh = '/tmp/guest-hosts-ssh.sh'
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

/** `aether run` with a rank on each of these hosts. */
export function runOnHosts(hosts: readonly string[], ...words: readonly string[]): Program {
  writeFileSync(ssh, 'export AETHER_RUNTIME_DIRECTORY=/tmp/guest-hosts-"$1"; shift; exec /bin/sh -c "$*"\n')
  const onHosts = ['--hosts', hosts.join(','), '--ssh', `/bin/sh ${ssh}`, '--address', '127.0.0.1']
  return startProgram('env', 'AETHER_SILENCE_MS=20000', process.execPath, main, 'run', ...onHosts, ...words)
}

/** Queue pairs and memory regions of programs on the device, as the kernel counts them. */
export function resources(): { readonly pairs: number; readonly memories: number } {
  const text = execFileSync('rdma', ['resource', 'show'], { encoding: 'utf8' })
  const count = (name: string): number => Number(new RegExp(`\\b${name} (\\d+)`).exec(text)?.[1])
  return { pairs: count('qp'), memories: count('mr') }
}
