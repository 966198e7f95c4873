/**
 * Builds the page of `aether dashboard` into dist/web: TypeScript without its types, as modules that a browser loads as
 * they are, without needless spaces and with short names for variables; and the files beside them.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { minify } from 'rolldown/experimental'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = 'node_modules/typescript-7/bin/tsc'

mkdirSync(`${root}/dist/web`, { recursive: true })
execFileSync(process.execPath, [compiler, '-p', 'web/tsconfig.json'], { cwd: root, stdio: 'inherit' })
for (const file of ['index.html', 'style.css']) cpSync(`${root}/web/${file}`, `${root}/dist/web/${file}`)
for (const name of readdirSync(`${root}/dist/web`).filter((each) => each.endsWith('.js'))) {
  const path = `${root}/dist/web/${name}`
  const { code } = await minify(name, readFileSync(path, 'utf8'), { mangle: { keepNames: true }, module: true })
  writeFileSync(path, code)
}
