/**
 * Builds the page of `aether dashboard` into dist/web: TypeScript without its types, as modules that a browser loads as
 * they are, and the files beside them.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')

mkdirSync(`${root}/dist/web`, { recursive: true })
execFileSync(process.execPath, [compiler, '-p', 'web/tsconfig.json'], { cwd: root, stdio: 'inherit' })
for (const file of ['index.html', 'style.css']) cpSync(`${root}/web/${file}`, `${root}/dist/web/${file}`)
