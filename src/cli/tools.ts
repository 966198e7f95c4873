import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AetherError, packageRoot, packageVersion } from '../native/index.ts'
import type { Command } from './command.ts'
import type { CommandEntry } from './commands.ts'

/** What `aether-dsm-tools` exports. */
interface Tools {
  readonly commands: Readonly<Record<string, () => Promise<Command>>>
}

/** Every command of `aether-dsm-tools`, in the order of the help. */
export const toolTable: readonly CommandEntry[] = [
  toolEntry('demo', 'show what Aether is for: a shared counter, then PageRank in several processes'),
  toolEntry('bench', 'measure verbs, messages, collectives, calls, pages and structures, and compare alternatives'),
  toolEntry('agreement', 'play the algorithms of agreement that shared memory makes possible, and draw what happens'),
  toolEntry('litmus', 'run litmus tests of the shared memory with real processes'),
  toolEntry('modelcheck', 'explore every interleaving of the coherence protocols'),
  toolEntry('simulate', 'run clusters of coherent memory in virtual time, with faults and deaths'),
  toolEntry(
    'torture',
    'kill and stop real processes while they use shared pages or structures, and check what they saw',
  ),
]

function toolEntry(name: string, summary: string): CommandEntry {
  return { name, summary, load: () => loadTool(name) }
}

async function loadTool(name: string): Promise<Command> {
  const file = findTools()
  if (file === undefined) throw new AetherError('ERR_AETHER_TOOLS', missingText(name))
  const { commands } = (await import(pathToFileURL(file).href)) as Tools
  return await commands[name]!()
}

/** The tools of this checkout, else of the project in the working directory, else installed beside this package. */
function findTools(): string | undefined {
  const ofCheckout = join(packageRoot(), 'dist/tools/index.js')
  if (existsSync(ofCheckout)) return ofCheckout
  return resolveFrom(join(process.cwd(), 'package.json')) ?? resolveFrom(import.meta.url)
}

function resolveFrom(from: string | URL): string | undefined {
  try {
    return createRequire(from).resolve('aether-dsm-tools')
  } catch {
    return undefined
  }
}

function missingText(name: string): string {
  return `'${name}' is in the package aether-dsm-tools, which is not installed. Install it with:
  npm install --save-dev aether-dsm-tools@${packageVersion()}
If it is not in the registry, run 'npm pack ./tools' in a checkout and install the resulting file.`
}
