import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the checkout, seen from dist/test/repository/. */
export const root: string = fileURLToPath(new URL('../../..', import.meta.url))

/** The entry script of a command of a development dependency, to be run with this Node. */
export function toolScript(name: 'dependency-cruiser' | 'biome' | 'oxlint' | 'typescript'): string {
  const scripts = {
    'dependency-cruiser': 'dependency-cruiser/bin/dependency-cruise.mjs',
    biome: '@biomejs/biome/bin/biome',
    oxlint: 'oxlint/bin/oxlint',
    typescript: 'typescript-7/bin/tsc',
  } as const
  return join(root, 'node_modules', scripts[name])
}

/** A temporary tree with this project's settings and the given files; removed on dispose. */
export class SeededTree implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'aether-seeded-'))

  constructor(files: Readonly<Record<string, string>>) {
    for (const name of ['package.json', 'tsconfig.json', 'biome.json', '.oxlintrc.json', '.dependency-cruiser.cjs'])
      cpSync(join(root, name), join(this.path, name))
    symlinkSync(join(root, 'node_modules'), join(this.path, 'node_modules'))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true })
      writeFileSync(join(this.path, name), text)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
